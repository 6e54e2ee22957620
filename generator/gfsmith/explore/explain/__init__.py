"""Explanation of one kernel for a reader: `gfsmith explain`."""
