RESET table.x
