"""Linear algebra over GF(2^8): products, bit matrices, generator matrices, minors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from gfsmith.field.gf256 import DEGREE, Field

Row = tuple[int, ...]
Matrix = tuple[Row, ...]


def identity(size: int) -> Matrix:
    return tuple(tuple(int(i == j) for j in range(size)) for i in range(size))


def multiply(field: Field, left: Matrix, right: Matrix) -> Matrix:
    """Return the product of an (a x b) and a (b x c) matrix."""
    columns = list(zip(*right, strict=True))
    return tuple(tuple(dot(field, row, column) for column in columns) for row in left)


def dot(field: Field, left: Sequence[int], right: Sequence[int]) -> int:
    total = 0
    for x, y in zip(left, right, strict=True):
        total ^= field.multiply(x, y)
    return total


def bit_matrix(field: Field, matrix: Matrix) -> Matrix:
    """Return the matrix over GF(2) that acts on bits, or on the packets of packet layout. Shape: 8 m x 8 k.

    An element e becomes the 8 x 8 block whose column x holds the bits of e * 2^x, the least significant on
    top, as in Jerasure's jerasure_matrix_to_bitmatrix with w = 8.
    """
    blocks = [[field.matrix(element) for element in row] for row in matrix]
    return tuple(
        tuple(block[bit] >> x & 1 for block in row for x in range(DEGREE))
        for row in blocks
        for bit in range(DEGREE)
    )


def generator_matrix(parity: Matrix) -> Matrix:
    """Return the (k + m) x k generator matrix [I; P] of a systematic code with the m x k parity matrix P."""
    return identity(len(parity[0])) + parity


Minor = tuple[tuple[int, ...], tuple[int, ...]]  #: the rows and the columns of a square submatrix


def minors(field: Field, parity: Matrix) -> Iterator[tuple[Minor, int]]:
    """Yield all square submatrices with their determinants, by Laplace expansion along the last column.

    The expansion uses earlier minors: first come those that end in column 0, then those that end in column 1,
    and so on."""
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
