"""The decision that a parity matrix is MDS or not, with a certificate or a counterexample.

[I; P] is MDS exactly if no square submatrix of P is singular. No theorem is applied without a check: its
premises are found in the given matrix, as a certificate that is verified by multiplication, in O(k m).

Line    P has one row or one column, and no element is 0.
Cauchy  1/P[i][j] = a[i] . b[j] with pairs a[i], b[j], no two a and no two b multiples of each other. The
        determinant of 1 / a[i] . b[j] is the product of all [a[i], a[l]] and [b[j], b[l]], i < l and j < l,
        over that of all a[i] . b[j] (Cauchy); [.,.] is the 2 x 2 determinant. A pair is a point of the
        projective line: (1, y) is the point y and (0, 1) infinity. Rows and columns may have any factors.
Conic   P[i][j] = r[i] c[j] t[j]^i, i < 3, with distinct t != 0 (or the transposed). Up to scaling the minors
        of rows 0, 1 and of rows 1, 2 are t + u and t u (t + u), those of rows 0, 2 are (t + u)^2 since 2 = 0,
        and those of all three are Vandermonde's. With the unit vectors the columns are the points of a conic
        and its nucleus.
Minors  All minors are computed, for small shapes.

A matrix that is not MDS has a singular minor. Its columns are data shards that cannot be rebuilt from the
parities of its rows and the other data.

Sources: MacWilliams and Sloane, The Theory of Error-Correcting Codes, chapter 11; for conics in fields of
characteristic 2 also chapter 11, section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gfsmith.field import Field
from gfsmith.field.cauchy import Pair, halves
from gfsmith.field.matrix import Matrix, Row, minors

#: Greatest number of minors to compute; 21+4 has 12649.
BUDGET = 1 << 15

_NAMED = 12  #: greatest number of lost shards that a message lists


class Undecided(ValueError):
    """No certificate fits, and there are too many minors. No family has such a shape."""


@dataclass(frozen=True, slots=True)
class Line:
    kind = "line"
    words = "a single row or column without 0"

    def holds(self, field: Field, matrix: Matrix) -> bool:
        return min(len(matrix), len(matrix[0])) == 1 and not any(0 in row for row in matrix)


@dataclass(frozen=True, slots=True)
class Cauchy:
    """The pairs a[i] of the rows and b[j] of the columns."""

    rows: tuple[Pair, ...]
    columns: tuple[Pair, ...]
    kind = "cauchy"
    words = "1/P[i][j] = rows[i] . columns[j], no two rows and no two columns multiples of each other"

    def holds(self, field: Field, matrix: Matrix) -> bool:
        if (len(self.rows), len(self.columns)) != (len(matrix), len(matrix[0])):
            return False
        for (s, t), row in zip(self.rows, matrix, strict=True):
            for (u, v), element in zip(self.columns, row, strict=True):
                if field.multiply(element, field.multiply(s, u) ^ field.multiply(t, v)) != 1:
                    return False
        return _distinct(field, self.rows) and _distinct(field, self.columns)


@dataclass(frozen=True, slots=True)
class Conic:
    """The points t[j] and the factors r[i] and c[j]; transposed: of the transposed matrix."""

    points: Row
    rows: Row
    columns: Row
    transposed: bool
    kind = "conic"
    words = "P[i][j] = rows[i] columns[j] points[j]^i, i < 3, points distinct"

    def holds(self, field: Field, matrix: Matrix) -> bool:
        turned = _transposed(matrix) if self.transposed else matrix
        if (len(turned), len(turned[0])) != (len(self.rows), len(self.points)) or len(turned) > 3:
            return False
        for i, row in enumerate(turned):
            for t, scale, element in zip(self.points, self.columns, row, strict=True):
                product = field.multiply(self.rows[i], field.multiply(scale, field.power(t, i)))
                if product != element or not element:
                    return False
        return 0 not in self.points and len(set(self.points)) == len(self.points)


@dataclass(frozen=True, slots=True)
class Minors:
    """The number of computed minors, none of which is 0."""

    checked: int
    kind = "minors"
    words = "every minor was computed"

    def holds(self, field: Field, matrix: Matrix) -> bool:
        found = [determinant for _, determinant in minors(field, matrix)]
        return len(found) == self.checked and 0 not in found


Certificate = Line | Cauchy | Conic | Minors


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A singular minor of an m x k matrix."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    k: int
    m: int

    @property
    def lost(self) -> tuple[int, ...]:
        """Indices of m shards whose loss cannot be repaired: the data shards of the minor's columns and all
        parities except those of its rows."""
        parities = [self.k + i for i in range(self.m) if i not in self.rows]
        return (*self.columns, *parities)

    @property
    def words(self) -> str:
        if len(self.lost) <= _NAMED:
            return f"losing shards {_listed(self.lost)} cannot be repaired"
        left = _listed([self.k + i for i in self.rows])
        return f"losing shards {_listed(self.columns)} and all parities but {left} cannot be repaired"


def decide(field: Field, matrix: Matrix) -> Certificate | Counterexample:
    """Return a certificate that holds, or a loss of m shards that cannot be repaired.

    Raises Undecided if no certificate fits and there are too many minors."""
    for candidate in (
        Line(),
        _cauchy(field, matrix),
        _conic(field, matrix, False),
        _conic(field, matrix, True),
    ):
        if candidate is not None and candidate.holds(field, matrix):
            return candidate
    return _by_minors(field, matrix)


def _cauchy(field: Field, matrix: Matrix) -> Cauchy | None:
    found = halves(field, matrix)
    return Cauchy(tuple(found[0]), tuple(found[1])) if found is not None else None


def _conic(field: Field, matrix: Matrix, transposed: bool) -> Conic | None:
    """Return the certificate with c[j] = P[0][j], r[0] = r[1] = 1 and t[j] = P[1][j] / P[0][j], or None if P
    does not have 3 rows or contains 0."""
    turned = _transposed(matrix) if transposed else matrix
    if len(turned) != 3 or any(0 in row for row in turned):
        return None
    columns = turned[0]
    points = tuple(field.multiply(y, field.inverse(c)) for y, c in zip(turned[1], columns, strict=True))
    square = field.multiply(field.power(points[0], 2), columns[0])
    return Conic(points, (1, 1, field.multiply(turned[2][0], field.inverse(square))), columns, transposed)


def _by_minors(field: Field, matrix: Matrix) -> Minors | Counterexample:
    """Return the result of computing minors.

    The search takes the first row, the first two rows, and so on, up to BUDGET, of the matrix or its
    transpose, which has no more rows than columns. Structured matrices often have a singular minor near the
    corner."""
    k, m = len(matrix[0]), len(matrix)
    turned = _transposed(matrix) if k < m else matrix
    for width in range(1, len(turned) + 1):
        for checked, ((rows, columns), determinant) in enumerate(minors(field, turned[:width])):
            if not determinant:
                if k < m:
                    rows, columns = columns, rows
                return Counterexample(rows, columns, k, m)
            if checked >= BUDGET:
                break
        else:
            if width == len(turned):
                return Minors(checked + 1)
    raise Undecided(f"a {m} x {k} matrix: neither a Cauchy matrix nor a conic, and too many minors")


def _distinct(field: Field, pairs: Sequence[Pair]) -> bool:
    """Return True if the pairs are distinct points of the projective line."""
    points = {field.multiply(t, field.inverse(s)) if s else -1 for s, t in pairs}
    return (0, 0) not in pairs and len(points) == len(pairs)


def _transposed(matrix: Matrix) -> Matrix:
    return tuple(zip(*matrix, strict=True))


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
