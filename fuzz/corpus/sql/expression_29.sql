SELECT t.r.f
