"""Decoding matrices and the MDS property by definition."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.field import Field
from gfsmith.field.matrix import Matrix, Minor, generator_matrix, identity, minors, multiply


class SingularError(ValueError):
    """The matrix has no inverse."""


def invert(field: Field, matrix: Matrix) -> Matrix:
    """Return the inverse of a square matrix by Gauss-Jordan elimination. Raises SingularError."""
    size = len(matrix)
    work = [list(row) + list(unit) for row, unit in zip(matrix, identity(size), strict=True)]
    for column in range(size):
        pivot = next((r for r in range(column, size) if work[r][column]), None)
        if pivot is None:
            raise SingularError(f"column {column} depends on the ones before it")
        work[column], work[pivot] = work[pivot], work[column]
        scale = field.inverse(work[column][column])
        work[column] = [field.multiply(scale, x) for x in work[column]]
        for r in range(size):
            factor = work[r][column]
            if r != column and factor:
                pairs = zip(work[r], work[column], strict=True)
                work[r] = [x ^ field.multiply(factor, y) for x, y in pairs]
    return tuple(tuple(row[size:]) for row in work)


def decode_matrix(field: Field, parity: Matrix, present: Sequence[int], lost: Sequence[int]) -> Matrix:
    """Return rows that rebuild the shards `lost` from the k shards `present` (indices into k + m).

    Raises SingularError if those k shards do not determine the data.
    """
    full = generator_matrix(parity)
    inverse = invert(field, tuple(full[i] for i in present))
    return multiply(field, tuple(full[i] for i in lost), inverse)


def singular_minor(field: Field, parity: Matrix) -> Minor | None:
    """Return rows and columns of a singular square submatrix of P, or None if there is none.

    [I; P] is MDS (any k of the k + m shards determine the data) exactly if there is none (MacWilliams and
    Sloane, chapter 11, theorem 8). The search is exhaustive, over C(k + m, m) - 1 submatrices, so it suits
    small shapes. Of several singular submatrices it returns one whose last column is the least possible.
    """
    return next((minor for minor, determinant in minors(field, parity) if not determinant), None)
