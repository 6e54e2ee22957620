"""One kernel as a person would want to see it: `gfsmith explain`."""
