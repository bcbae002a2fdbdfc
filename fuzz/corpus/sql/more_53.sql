SELECT t.*, a AS `x y`, b "z" FROM t GROUP BY ROLLUP (a, b), CUBE (c), ()
