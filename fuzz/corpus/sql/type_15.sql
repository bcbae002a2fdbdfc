RAW('a', 'b')
