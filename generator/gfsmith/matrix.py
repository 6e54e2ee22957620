"""Linear algebra over GF(2^8): parity and generator matrices, decoding, the MDS property."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from gfsmith.field import DEGREE, Field

Row = tuple[int, ...]
Matrix = tuple[Row, ...]


class SingularError(ValueError):
    """A matrix that has no inverse."""


def identity(size: int) -> Matrix:
    return tuple(tuple(int(i == j) for j in range(size)) for i in range(size))


def multiply(field: Field, left: Matrix, right: Matrix) -> Matrix:
    """The product of an (a x b) and a (b x c) matrix."""
    columns = list(zip(*right, strict=True))
    return tuple(tuple(dot(field, row, column) for column in columns) for row in left)


def dot(field: Field, left: Sequence[int], right: Sequence[int]) -> int:
    total = 0
    for x, y in zip(left, right, strict=True):
        total ^= field.multiply(x, y)
    return total


def bit_matrix(field: Field, matrix: Matrix) -> Matrix:
    """The matrix over GF(2) that acts on bits, or on the packets of packet layout: an element e becomes
    the 8 x 8 block whose column x holds the bits of e * 2^x, the least significant on top.

    As Jerasure's jerasure_matrix_to_bitmatrix with w = 8. Shape: 8 m x 8 k.
    """
    blocks = [[field.matrix(element) for element in row] for row in matrix]
    return tuple(
        tuple(block[bit] >> x & 1 for block in row for x in range(DEGREE))
        for row in blocks
        for bit in range(DEGREE)
    )


def invert(field: Field, matrix: Matrix) -> Matrix:
    """The inverse of a square matrix by Gauss-Jordan elimination. Raises SingularError."""
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


def generator_matrix(parity: Matrix) -> Matrix:
    """The (k + m) x k generator matrix [I; P] of a systematic code with the m x k parity matrix P."""
    return identity(len(parity[0])) + parity


def decode_matrix(field: Field, parity: Matrix, present: Sequence[int], lost: Sequence[int]) -> Matrix:
    """Rows that rebuild the shards `lost` from the k shards `present` (indices into k + m).

    Raises SingularError if those k shards do not determine the data.
    """
    full = generator_matrix(parity)
    inverse = invert(field, tuple(full[i] for i in present))
    return multiply(field, tuple(full[i] for i in lost), inverse)


Minor = tuple[tuple[int, ...], tuple[int, ...]]  #: the rows and the columns of a square submatrix


def singular_minor(field: Field, parity: Matrix) -> Minor | None:
    """Rows and columns of a singular square submatrix of P, or None if there is none.

    [I; P] is MDS (any k of the k + m shards determine the data) exactly if there is none
    (MacWilliams and Sloane, chapter 11, theorem 8). Exhaustive, for small shapes: there are C(k + m, m) - 1.
    Of several it is one whose last column is the least possible.
    """
    return next((minor for minor, determinant in minors(field, parity) if not determinant), None)


def minors(field: Field, parity: Matrix) -> Iterator[tuple[Minor, int]]:
    """All square submatrices with their determinants, by Laplace's formula along the last column from the
    minors before it: those that end in column 0, then those that end in column 1, and so on."""
    known: dict[Minor, int] = {((), ()): 1}
    by_size: list[list[tuple[int, ...]]] = [[()]]
    for last, column in enumerate(zip(*parity, strict=True)):
        found: dict[Minor, int] = {}
        for size in range(1, min(len(parity), last + 1) + 1):
            for rows in combinations(range(len(parity)), size):
                for before in by_size[size - 1]:
                    total = 0
                    for n, row in enumerate(rows):
                        rest = known[rows[:n] + rows[n + 1 :], before]
                        total ^= field.multiply(column[row], rest)
                    found[rows, (*before, last)] = total
                    yield (rows, (*before, last)), total
        known |= found
        by_size = [list(combinations(range(last + 1), size)) for size in range(min(len(parity), last + 2))]
