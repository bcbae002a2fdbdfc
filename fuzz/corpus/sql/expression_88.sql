CAST(NULL AS RAW('x', 'y'))
