"""Lowering of checksums: constants from the polynomial, and the programs of routines."""
