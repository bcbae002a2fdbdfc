SELECT * FROM f(input => TABLE t PARTITION BY (a, b) ORDER BY c DESC, on_time => DESCRIPTOR(ts), u => (SELECT 1))
