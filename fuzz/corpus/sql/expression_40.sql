N'x'
