"""gfsmith tune: variants of a kernel, proved, timed beside each other, and the best written down."""
