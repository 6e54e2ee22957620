"""The code of Backblaze's JavaReedSolomon, which klauspost/reedsolomon and MinIO took over."""

from __future__ import annotations

from gfsmith.codes import lagrange
from gfsmith.codes.family import Family
from gfsmith.field import Field
from gfsmith.matrix import Matrix


def _backblaze(field: Field, k: int, m: int) -> Matrix:
    """V times the inverse of its top: a data shard is the value at its number of a polynomial of degree
    below k, and parity i its value at k + i."""
    points = range(k)
    weight = lagrange.weights(field, points)
    return tuple(lagrange.values(field, points, weight, k + i) for i in range(m))


BACKBLAZE = Family(
    "backblaze",
    "rows k.. of V V[:k]^-1, V[i][j] = i^j",
    "Backblaze JavaReedSolomon, klauspost/reedsolomon, MinIO, crate reed-solomon-erasure",
    "always: the values of a polynomial at k + m distinct points, a Cauchy matrix up to scaling",
    _backblaze,
)
