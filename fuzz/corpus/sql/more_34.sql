SET table.x = y
