"""Measurement of gfsmith against its peers: `python -m bench`, or `make bench` and `make bench-quick`."""
