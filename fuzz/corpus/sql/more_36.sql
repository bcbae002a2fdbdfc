USE d
