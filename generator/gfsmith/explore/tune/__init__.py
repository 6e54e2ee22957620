"""`gfsmith tune`: variants of a kernel are proved and timed alternately, and the best is written to a
file."""
