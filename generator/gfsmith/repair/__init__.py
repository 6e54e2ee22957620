"""Repair plans: the shards that a repair reads, as few as possible, and the matrix that it applies."""
