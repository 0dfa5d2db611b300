bfdot v0.4s, v1.8h, v2.8h
