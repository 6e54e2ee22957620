"""The code of Cerasure: columns of a Vandermonde matrix, the lightest ones that keep the code MDS.

Source: T. Niu, M. Lyu, W. Wang, Q. Li, Y. Xu, "Cerasure: fast acceleration strategies for XOR-based erasure
codes", ICCD 2023, which replaces the Cauchy matrices of earlier searches by Vandermonde matrices with few
ones.

Column j is 1, a[j], a[j]^2, ...; the greedy search takes the elements a from the column with the fewest ones
on, and omits an element if its column and some earlier ones have a singular minor. An omitted element remains
impossible, so one pass over the elements suffices. With up to three rows no minor is singular: it is
Vandermonde's determinant times a product of the elements, or with rows 1 and a^2 the square of one.

With more rows few elements remain, 28 for m = 4 and 13 for m = 5, and the last ones are heavy. The matrix is
a greedy Cauchy matrix instead where that has fewer ones: rows belong to the points 0 .. m - 1, columns to the
points with the lightest columns, scaled as in Jerasure's cauchy_good. The paper's full text was not available
to us; this rule for wide shapes is ours.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from gfsmith.codes import jerasure, names
from gfsmith.codes.family import Family
from gfsmith.field import ORDER, Field
from gfsmith.field.matrix import Matrix, Minor, Row

MOST_ROWS = 5  #: of a Vandermonde matrix; with more rows hardly any elements remain
ALWAYS = 3  #: rows up to which no minor is singular


class _Columns:
    """Columns every square submatrix of which is regular, with the determinants of these submatrices."""

    def __init__(self, field: Field, rows: int) -> None:
        self.field, self.rows = field, rows
        self.columns: list[Row] = []
        self._minors: dict[Minor, int] = {((), ()): 1}
        self._places = [rest for size in range(1, rows + 1) for rest in combinations(range(rows), size)]

    def add(self, column: Row) -> bool:
        """Add the column unless it completes a singular minor; return True if it is added."""
        found: dict[Minor, int] = {}
        number = len(self.columns)
        for rows in self._places:
            for before in combinations(range(number), len(rows) - 1):
                determinant = 0
                for n, row in enumerate(rows):
                    rest = self._minors[rows[:n] + rows[n + 1 :], before]
                    determinant ^= self.field.multiply(column[row], rest)
                if not determinant:
                    return False
                found[rows, (*before, number)] = determinant
        self._minors |= found
        self.columns.append(column)
        return True


def _weight(field: Field, column: Row) -> int:
    return sum(jerasure.weights(field)[element] for element in column)


@lru_cache(maxsize=32)
def lightest_columns(field: Field, most: int, rows: int) -> tuple[Row, ...]:
    """Return up to `most` columns 1, a, a^2, ... that the greedy search selects, lightest first."""
    elements = range(1, ORDER)
    columns = [tuple(field.power(element, row) for row in range(rows)) for element in elements]
    columns.sort(key=lambda column: (_weight(field, column), column))
    if rows <= ALWAYS:
        return tuple(columns[:most])
    chosen = _Columns(field, rows)
    for column in columns:
        if len(chosen.columns) == most:
            break
        chosen.add(column)
    return tuple(chosen.columns)


def _wide(field: Field, k: int, m: int) -> Matrix:
    """Return the greedy Cauchy matrix, scaled."""
    columns = [
        tuple(field.multiply(point, field.inverse(point ^ row)) for row in range(m))
        for point in range(m, ORDER)
    ]
    chosen = sorted(columns, key=lambda column: (_weight(field, column), column))[:k]
    return jerasure.scaled(field, list(zip(*chosen, strict=True)))


def _cerasure(field: Field, k: int, m: int) -> Matrix:
    wide = _wide(field, k, m)
    columns = lightest_columns(field, k, m) if m <= MOST_ROWS else ()
    if len(columns) < k or sum(_weight(field, row) for row in wide) < sum(
        _weight(field, column) for column in columns
    ):
        return wide
    return tuple(zip(*columns, strict=True))


FAMILIES = (Family(names.CERASURE, _cerasure),)
