"""Replacements for other packages: the same names, errors and bytes, computed by gfsmith.codec.

`zfec` replaces zfec (docs/migrate/zfec.md), `pyeclib` PyECLib (docs/migrate/pyeclib.md).
"""
