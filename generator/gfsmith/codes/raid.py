"""Parity matrices of disk arrays: OpenZFS RAID-Z, SnapRAID and Linux RAID-6."""

from __future__ import annotations

from gfsmith.codes import names
from gfsmith.codes.family import Family, powers
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix


def _raidz(field: Field, k: int, m: int) -> Matrix:
    """Return rows of powers in descending order: Q and R come from Horner's rule, so column 0 has the highest
    power."""
    return tuple(tuple(reversed(row)) for row in powers(field, k, m))


def _snapraid(field: Field, k: int, m: int) -> Matrix:
    """Return a row of 1 (the point at infinity) above the Cauchy matrix 1 / (x[j] + y[i]), x[j] = 2^-j, y[1]
    = 0, y[i] = 2^(i - 1), with rows scaled to a first column of 1."""
    x = [1]
    while len(x) < k:
        x.append(field.multiply(x[-1], field.inverse(2)))
    rows = [(1,) * k]
    for i in range(1, m):
        y = 0 if i == 1 else field.power(2, i - 1)
        rows.append(tuple(field.multiply(1 ^ y, field.inverse(point ^ y)) for point in x))
    return tuple(rows)


FAMILIES = (
    Family(names.RAID6, powers),
    Family(names.RAIDZ, _raidz),
    Family(names.SNAPRAID, _snapraid),
)
