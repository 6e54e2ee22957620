"""What a loss leaves of a code's equations.

A parity p = k + i is the equation shard[p] + sum over j of c[i][j] * shard[j] = 0: a row of k + m
coefficients. Reduced by a loss, the equations of the present parities are of two kinds: one for each missing
data shard that they can be solved for (its pivot row, 0 at the other such shards), and those that say
something of present shards only, the spare ones. Lighter parities (fewer non-zero coefficients), of equals
the first, are solved before heavier ones, which so become spare. runtime/src/checks.c does the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from gfsmith.field import Field
from gfsmith.matrix import Matrix
from gfsmith.plan.rows import Arithmetic, Row


class Checks:
    """The reduced equations: `pivots` by missing data shard, `spares` the others."""

    def __init__(self, field: Field, parity: Matrix, missing: Iterable[int]) -> None:
        self.k, self.m = len(parity[0]), len(parity)
        self.arithmetic = Arithmetic(field)
        self._parity = parity
        self.missing = frozenset(missing)
        self.data = [shard for shard in sorted(self.missing) if shard < self.k]
        self.pivots: dict[int, Row] = {}
        self.spares: list[Row] = []
        present = [p for p in range(self.k, self.k + self.m) if p not in self.missing]
        for p in sorted(present, key=lambda p: sum(e != 0 for e in parity[p - self.k])):
            self._take(p)

    def equation(self, parity: int) -> Row:
        unit = bytes(int(i == parity) for i in range(self.k, self.k + self.m))
        return bytes(self._parity[parity - self.k]) + unit

    def _reduce(self, row: Row) -> Row:
        for shard, pivot in self.pivots.items():
            row = self.arithmetic.add_multiple(row, pivot, row[shard])
        return row

    def _take(self, parity: int) -> None:
        row = self._reduce(self.equation(parity))
        shard = next((shard for shard in self.data if row[shard]), None)
        if shard is None:
            self.spares.insert(0, row)
            return
        row = self.arithmetic.scale(row, self.arithmetic.field.inverse(row[shard]))
        for other, pivot in self.pivots.items():
            self.pivots[other] = self.arithmetic.add_multiple(pivot, row, pivot[shard])
        self.pivots[shard] = row

    def express(self, shard: int) -> Row | None:
        """A missing shard as a combination of present ones, or None if they do not determine it."""
        row = self.pivots.get(shard) if shard < self.k else self._reduce(self.equation(shard))
        if row is None:
            return None
        row = row[:shard] + b"\0" + row[shard + 1 :]
        return None if any(row[missing] for missing in self.missing) else row
