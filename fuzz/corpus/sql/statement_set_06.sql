DESC c.d.t
