"""Parities of disk arrays: Linux RAID-6, OpenZFS RAID-Z and SnapRAID."""

from __future__ import annotations

from gfsmith.codes.family import Family, powers
from gfsmith.field import Field
from gfsmith.matrix import Matrix


def _raidz(field: Field, k: int, m: int) -> Matrix:
    """By Horner's rule Q and R of the first column get the highest power."""
    return tuple(tuple(reversed(row)) for row in powers(field, k, m))


def _snapraid(field: Field, k: int, m: int) -> Matrix:
    """A Cauchy matrix 1 / (x[j] + y[i]), x[j] = 2^-j, y[1] = 0, y[i] = 2^(i - 1), with rows scaled to a
    first column of 1, below a row of 1, which is the point at infinity."""
    x = [1]
    while len(x) < k:
        x.append(field.multiply(x[-1], field.inverse(2)))
    rows = [(1,) * k]
    for i in range(1, m):
        y = 0 if i == 1 else field.power(2, i - 1)
        rows.append(tuple(field.multiply(1 ^ y, field.inverse(point ^ y)) for point in x))
    return tuple(rows)


RAID6 = Family(
    "raid6",
    "P = sum d[j], Q = sum 2^j d[j]",
    "Linux md and btrfs RAID-6: H. P. Anvin, The mathematics of RAID-6",
    "always: two rows with distinct quotients 2^j, j < 255",
    powers,
    least_m=2,
    most_m=2,
)

RAIDZ = Family(
    "raidz",
    "P = sum d[j], Q = sum 2^(k-1-j) d[j], R = sum 4^(k-1-j) d[j]",
    "OpenZFS RAID-Z1, Z2 and Z3 (vdev_raidz)",
    "always: rows 1, t, t^2 with distinct t = 2^(k-1-j): a conic with its nucleus",
    _raidz,
    most_m=3,
)

SNAPRAID = Family(
    "snapraid",
    "row 1; 2^j; (1 + y) / (2^-j + y) for y = 2, 4, 8, 16",
    "SnapRAID, up to six parities",
    "always: a Cauchy matrix with scaled rows and a point at infinity",
    _snapraid,
    most_k=251,
    most_m=6,
)
