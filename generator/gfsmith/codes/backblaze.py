"""The code of Backblaze's JavaReedSolomon, which klauspost/reedsolomon and MinIO adopted."""

from __future__ import annotations

from gfsmith.codes import lagrange, names
from gfsmith.codes.family import Family
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix


def _backblaze(field: Field, k: int, m: int) -> Matrix:
    """Return the lower rows of V V[:k]^-1, V[i][j] = i^j, m x k.

    Data shard j is the value at j of a polynomial of degree below k, and parity i is its value at k + i."""
    points = range(k)
    weight = lagrange.weights(field, points)
    return tuple(lagrange.values(field, points, weight, k + i) for i in range(m))


FAMILIES = (Family(names.BACKBLAZE, _backblaze),)
