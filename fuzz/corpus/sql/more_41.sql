CALL p(1)
