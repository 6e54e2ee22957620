"""The code of Backblaze's JavaReedSolomon, which klauspost/reedsolomon and MinIO took over."""

from __future__ import annotations

from gfsmith.codes.family import Family
from gfsmith.field import Field
from gfsmith.matrix import Matrix


def _backblaze(field: Field, k: int, m: int) -> Matrix:
    """V times the inverse of its top: by Lagrange's formula the values at k + i of the polynomials that
    are 1 at j and 0 at the other points below k."""

    def element(i: int, j: int) -> int:
        value = 1
        for other in range(k):
            if other != j:
                quotient = field.multiply((k + i) ^ other, field.inverse(j ^ other))
                value = field.multiply(value, quotient)
        return value

    return tuple(tuple(element(i, j) for j in range(k)) for i in range(m))


BACKBLAZE = Family(
    "backblaze",
    "rows k.. of V V[:k]^-1, V[i][j] = i^j",
    "Backblaze JavaReedSolomon, klauspost/reedsolomon, MinIO",
    "always: k + m distinct points",
    _backblaze,
    lambda k, m: True,
)
