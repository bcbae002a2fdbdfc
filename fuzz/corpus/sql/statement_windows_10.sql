SELECT window_start, window_end, COUNT(DISTINCT x) FILTER (WHERE y > 0) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end
