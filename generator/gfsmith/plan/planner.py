"""A loss to a plan: what to read, and the matrix.

    target[t] = sum over n of matrix[t][n] * read[n],    byte by byte.

Fewest reads first; of equals the fewest non-zero coefficients, and of those the plan that leaves the last
shards alone. In an MDS code every equation has at least k + 1 shards (the dual code is MDS with distance
k + 1: MacWilliams and Sloane, chapter 11), so any repair of anything reads k shards, and the first k present
ones are as good as any; elsewhere search.py decides. runtime/src/plan.c makes the very same plans.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gfsmith.field import Field
from gfsmith.matrix import Matrix
from gfsmith.plan.checks import Checks
from gfsmith.plan.rows import Row
from gfsmith.plan.search import Search, possible, proves_least


class PlanError(ValueError):
    """A loss that cannot be repaired."""


@dataclass(frozen=True, slots=True)
class Plan:
    """matrix: a row for each target, an element for each read. least: it is proved that nothing reads
    fewer."""

    targets: tuple[int, ...]
    reads: tuple[int, ...]
    matrix: Matrix
    least: bool


def named(shards: Iterable[int]) -> str:
    listed = list(shards)
    return f"shard{'s' * (len(listed) != 1)} {', '.join(map(str, listed))}"


def undetermined(field: Field, parity: Matrix, missing: Iterable[int]) -> tuple[int, ...]:
    """The missing shards that do not follow from the present ones; any number may be missing."""
    checks = Checks(field, parity, missing)
    return tuple(shard for shard in sorted(checks.missing) if checks.express(shard) is None)


def plan(
    field: Field, parity: Matrix, missing: Iterable[int], wanted: Iterable[int] | None, *, mds: bool
) -> Plan:
    """The plan that rebuilds those of the missing shards that are wanted (None: all).

    parity: m x k; mds: whether the code is known to be MDS.
    Raises PlanError for more than m missing shards, and for a wanted one that is not determined.
    """
    checks = Checks(field, parity, missing)
    if len(checks.missing) > checks.m:
        raise PlanError(
            f"{len(checks.missing)} shards are lost; with {checks.m} parities, at most {checks.m} can be"
        )
    targets = sorted(checks.missing if wanted is None else checks.missing & set(wanted))
    found = {target: checks.express(target) for target in targets}
    rows = [row for row in found.values() if row is not None]
    if len(rows) < len(targets):
        lacking = named(target for target, row in found.items() if row is None)
        raise PlanError(
            f"{lacking} cannot be rebuilt from what is left: {named(sorted(checks.missing))} are lost, and "
            f"no combination of the {checks.k + checks.m - len(checks.missing)} present shards gives them"
        )
    rows, least = _fewest(checks, targets, rows, mds)
    reads = tuple(n for n, column in enumerate(zip(*rows, strict=True)) if any(column))
    matrix = tuple(tuple(row[n] for n in reads) for row in rows)
    return Plan(tuple(targets), reads, matrix, least)


def _fewest(checks: Checks, targets: list[int], rows: list[Row], mds: bool) -> tuple[list[Row], bool]:
    """The rows to take, and whether it is proved that no others read fewer shards."""
    if mds or not checks.spares or not rows:
        return rows, True
    least = False
    if possible(checks.k + checks.m, len(checks.spares), len(rows)):
        search = Search(checks.arithmetic, checks.spares, rows)
        rows, least = search.best, search.complete
    if not least and len(rows) == 1:
        least = proves_least(checks.arithmetic, checks.spares, targets[0], rows[0])
    return rows, least
