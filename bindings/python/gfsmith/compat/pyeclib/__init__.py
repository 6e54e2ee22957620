"""PyECLib's interface: `from gfsmith.compat.pyeclib.ec_iface import ECDriver` (docs/migrate/pyeclib.md).

Fragments are those of liberasurecode 1.6, which is not needed. Errors are those of PyECLib; where PyECLib
does not check its arguments, calls raise.
"""
