"""The code of zfec, which Tahoe-LAFS writes."""

from __future__ import annotations

from gfsmith.codes import lagrange, names
from gfsmith.codes.family import Family
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix


def _zfec(field: Field, k: int, m: int) -> Matrix:
    """Return the lower rows of V V[:k]^-1, m x k, V[i][j] = x[i]^j with x = 0, 1, 2, 4, 8, ...

    Data shard j is the value at x[j] of a polynomial of degree below k, and parity i is its value at
    x[k + i]. The points are 0 and the first k + m - 1 powers of 2, which differ.

    Source: L. Rizzo, "Effective erasure
    codes for reliable computer communication protocols", 1997."""
    points = [0]
    while len(points) < k + m:
        points.append(field.multiply(2, points[-1]) or 1)
    weight = lagrange.weights(field, points[:k])
    return tuple(lagrange.values(field, points[:k], weight, y) for y in points[k:])


FAMILIES = (Family(names.ZFEC, _zfec),)
