CEIL(x)
