SELECT NULLIF(a, b) <> COALESCE(c, d) AND a != b
