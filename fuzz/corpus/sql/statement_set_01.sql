RESET 'a.b'
