"""Of all ways to rebuild the same shards, one that reads the fewest others.

A way is a row of coefficients for each target. Adding multiples of spare equations (checks.py) to the rows
gives the same shards in another way. Let R be a smallest set to read. Its shards are independent, else one
could be left out; so R is part of a basis B of what is present, and the way is the only one that uses B
alone: it comes from the one at hand by clearing, in turn, the columns outside B with one spare equation each.
Of n - e present shards of a code of m parities, e missing, that would be C(n - e, m - e) bases; the search
goes through the columns from the last to the first, each is cleared or read, and gives up a branch that
reads more than the best known: it is short where little is read or little is spare.

runtime/src/search.c does the same, step by step, so that both find the very same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.plan.rows import Arithmetic, Row

#: Products in the field that a search may take (the runtime needs some 0.3 ms for them).
PRODUCTS = 1 << 18


def possible(width: int, spares: int, targets: int) -> bool:
    """Is one way down to a leaf of the search within PRODUCTS?"""
    return sum(left + targets for left in range(spares + 1)) * width <= PRODUCTS


def proves_least(arithmetic: Arithmetic, spares: Sequence[Row], target: int, row: Row) -> bool:
    """Whether it is proved that a single target's row reads as few as any, by Brouwer and Zimmermann's bound.

    An equation through the target is a word of the code that the spare equations and the target's own
    generate. In a set of columns that can hold the identity, a word is a multiple of one row, or has two
    non-zero elements at least. So if in s disjoint such sets no row through the target has fewer than w
    elements, no word through it has fewer than the least of w and 2 s."""
    rows = [*spares, row[:target] + b"\1" + row[target + 1 :]]
    reads = sum(e != 0 for e in row)
    sets, free = reads // 2 + 1, sorted(range(len(row)), key=_reversed)
    if sets * len(rows) ** 2 * len(row) > 2 * PRODUCTS:
        return False
    for _ in range(sets):
        chosen = _make_systematic(arithmetic, rows, free)
        if len(chosen) < len(rows):
            return False
        if any(r[target] and sum(e != 0 for e in r) <= reads for r in rows):
            return False
        free = [column for column in free if column not in chosen]
    return True


def _reversed(column: int) -> int:
    """The bits of a byte in reverse: columns in this order come from all over the width, so that the groups
    of a local code last equally long."""
    return sum((column >> bit & 1) << (7 - bit) for bit in range(8))


def _make_systematic(arithmetic: Arithmetic, rows: list[Row], free: Sequence[int]) -> set[int]:
    """Bring rows into the form in which some of the free columns hold the identity; say which."""
    chosen: set[int] = set()
    for column in free:
        rank = len(chosen)
        pivot = next((n for n in range(rank, len(rows)) if rows[n][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        by = rows[rank] = arithmetic.scale(rows[rank], arithmetic.field.inverse(rows[rank][column]))
        rows[:] = [r if n == rank else arithmetic.clear(r, by, column) for n, r in enumerate(rows)]
        chosen.add(column)
    return chosen


class Search:
    """Afterwards `best` has the rows, and `complete` says whether nothing reads fewer."""

    def __init__(self, arithmetic: Arithmetic, spares: Sequence[Row], rows: Sequence[Row]) -> None:
        self._arithmetic = arithmetic
        self.best = list(rows)
        self._width = len(rows[0])
        self._reads, nonzero = self._measure(rows)
        self._nonzero = nonzero + 1  # so that equals replace it
        self._products = 0
        self.complete = True
        self._descend(list(spares), list(rows), self._width, 0)

    def _measure(self, rows: Sequence[Row]) -> tuple[int, int]:
        """Shards that are read, and coefficients that are not zero."""
        reads = sum(any(column) for column in zip(*rows, strict=True))
        return reads, sum(e != 0 for row in rows for e in row)

    def _consider(self, rows: list[Row]) -> None:
        reads, nonzero = self._measure(rows)
        if (reads, nonzero) < (self._reads, self._nonzero):
            self._reads, self._nonzero, self.best = reads, nonzero, rows

    def _afford(self, rows: int) -> bool:
        products = rows * self._width
        self.complete = self.complete and products <= PRODUCTS - self._products
        if self.complete:
            self._products += products
        return self.complete

    def _descend(self, spares: list[Row], rows: list[Row], column: int, reads: int) -> None:
        """Columns from `column` on are decided; `reads` of them are read."""
        if not spares:
            self._consider(rows)
            return
        while column > 0:
            column -= 1
            by = next((spare for spare in spares if spare[column]), None)
            if by is not None:
                if not self._afford(len(spares) - 1 + len(rows)):
                    return
                clear = self._arithmetic.clear
                left = [clear(spare, by, column) for spare in spares if spare is not by]
                self._descend(left, [clear(row, by, column) for row in rows], column, reads)
            if by is not None or any(row[column] for row in rows):
                reads += 1
            if reads > self._reads or not self.complete:
                return
