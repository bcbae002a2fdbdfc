PERIOD (a, b) OVERLAPS (c, d)
