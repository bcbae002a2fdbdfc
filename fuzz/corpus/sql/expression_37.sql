SELECT _utf8'x'
