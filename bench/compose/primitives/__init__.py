"""The primitives of INEC one by one: counts of their work (Table I), and their latencies in the store."""
