ROW(1, 'a')
