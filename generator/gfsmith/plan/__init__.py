"""Decode plans: which shards a repair reads, fewest first, and what it computes of them."""
