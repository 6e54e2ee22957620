"""Rows of a bit matrix derived from other rows: the smart schedule of XOR-based codes.

A row is computed from its own columns, or from a row that is computed before and the columns in which the two
differ. The rows are taken in the order of Prim's algorithm for the least spanning tree whose root is the zero
row, as in Jerasure's jerasure_smart_bitmatrix_to_schedule. Source: J. S. Plank, "The RAID-6 Liberation
codes", FAST 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A row, the row from which it is derived (None: computed from its own columns), and the number of
    additions."""

    row: int
    parent: int | None
    additions: int


def derived(rows: Sequence[int]) -> list[Step]:
    """Return the steps that compute all rows, each a set of columns as bits of an integer and not 0, in an
    order in which a parent precedes the rows that are derived from it.

    Among equally cheap rows the first comes first, and a row is derived only if that saves an addition."""
    best = {row: Step(row, None, columns.bit_count() - 1) for row, columns in enumerate(rows)}
    steps: list[Step] = []
    while best:
        step = min(best.values(), key=lambda each: each.additions)
        del best[step.row]
        steps.append(step)
        taken = rows[step.row]
        for row, other in best.items():
            additions = (taken ^ rows[row]).bit_count()
            if additions < other.additions:
                best[row] = Step(row, step.row, additions)
    return steps
