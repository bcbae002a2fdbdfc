SELECT MAP['k', 1, 'l', 2]['k']
