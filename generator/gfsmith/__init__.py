"""gfsmith: a generator of proven erasure-coding kernels over GF(2^8)."""

__version__ = "0.1.0"
