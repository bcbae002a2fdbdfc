SELECT a NOT IN ('x')
