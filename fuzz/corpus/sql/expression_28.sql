(a).b.c
