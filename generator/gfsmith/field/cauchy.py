"""The points of matrices that are Cauchy matrices up to a factor of every row and column.

    P[i][j] = r[i] * c[j] / (y[i] + x[j])

Then 1/P has rank 2: 1/P[i][j] = a[i] . b[j] with a[i] = (y[i], 1)/r[i] and b[j] = (1, x[j])/c[j], up to an
invertible 2 x 2 matrix T between them. T moves all points by one Moebius transformation. Transformations that
differ by x -> s x + t give the same cosets, so one T for every choice of the point at infinity is enough.
Source: R. M. Roth, G. Seroussi, "On generator matrices of MDS codes", IEEE Trans. IT 31 (1985), for the
equivalence of such matrices with generalised Reed-Solomon codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gfsmith.field.gf256 import Field
from gfsmith.field.matrix import Matrix

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Points:
    """The points and factors of P[i][j] = rows[i] * columns[j] / (y[i] + x[j])."""

    y: tuple[int, ...]
    x: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]


def halves(field: Field, matrix: Matrix) -> tuple[list[Pair], list[Pair]] | None:
    """Return a and b with 1/P[i][j] = a[i] . b[j].

    The result is None if 1/P does not have rank 2, or if its first two columns are linearly dependent."""
    if len(matrix) < 2 or len(matrix[0]) < 2 or any(0 in row for row in matrix):
        return None
    inverse = [[field.inverse(x) for x in row] for row in matrix]
    first, second = inverse[0], inverse[1]
    b = list(zip(first, second, strict=True))
    (p, q), (s, t) = b[0], b[1]
    determinant = field.multiply(p, t) ^ field.multiply(q, s)
    if not determinant:
        return None
    scale = field.inverse(determinant)
    a = []
    for row in inverse:
        alpha = field.multiply(scale, field.multiply(row[0], t) ^ field.multiply(row[1], q))
        beta = field.multiply(scale, field.multiply(p, row[1]) ^ field.multiply(s, row[0]))
        for value, (u, v) in zip(row, b, strict=True):
            if field.multiply(alpha, u) ^ field.multiply(beta, v) != value:
                return None
        a.append((alpha, beta))
    return a, b


def points(field: Field, matrix: Matrix) -> Iterator[Points]:
    """Yield all choices of points, up to x -> s x + t, at which no point is infinite; none if P is not such a
    matrix."""
    found = halves(field, matrix)
    if found is None:
        return
    a, b = found
    for infinity in [(0, 1), *((1, n) for n in range(256))]:
        moved = _transformed(field, a, b, infinity)
        if moved is not None:
            yield moved


def _transformed(field: Field, a: list[Pair], b: list[Pair], row: Pair) -> Points | None:
    """Return the points for T = (other; row), from b' = T b = g (x, 1) and a' = a T^-1 = f (1, y)."""
    multiply = field.multiply
    other = (1, 0) if row[1] else (0, 1)
    determinant = multiply(other[0], row[1]) ^ multiply(other[1], row[0])
    scale = field.inverse(determinant)
    y, x, rows, columns = [], [], [], []
    for alpha, beta in a:
        left = multiply(scale, multiply(alpha, row[1]) ^ multiply(beta, row[0]))
        right = multiply(scale, multiply(alpha, other[1]) ^ multiply(beta, other[0]))
        if not left:
            return None
        rows.append(field.inverse(left))
        y.append(multiply(right, rows[-1]))
    for u, v in b:
        top = multiply(other[0], u) ^ multiply(other[1], v)
        bottom = multiply(row[0], u) ^ multiply(row[1], v)
        if not bottom:
            return None
        columns.append(field.inverse(bottom))
        x.append(multiply(top, columns[-1]))
    return Points(tuple(y), tuple(x), tuple(rows), tuple(columns))
