CREATE CATALOG c WITH ('type' = 'x')
