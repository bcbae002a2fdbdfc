SELECT `quoted ``name`.b = "double"
