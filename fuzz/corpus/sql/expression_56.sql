a LIKE '%x!%' ESCAPE '!'
