"""The searches of Zerasure and Cerasure: MDS matrices, the same in every process, never worse than before."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations

import pytest

from gfsmith import codes
from gfsmith.codes import cerasure, jerasure, mds, zerasure
from gfsmith.codes.names import CodeError
from gfsmith.field import Field
from gfsmith.field.derivation import Step, derived
from gfsmith.field.matrix import Matrix, minors

FIELD = Field(codes.POLYNOMIAL)
SHAPES = [(2, 2), (4, 2), (6, 3), (10, 4), (5, 6), (32, 4)]
NAMES = tuple(code.name for code in codes.SEARCHED)


def replayed(rows: Sequence[int], steps: Sequence[Step]) -> bool:
    """Return True if the steps compute every row once, from rows that come before, with the stated
    additions."""
    known: dict[int, int] = {}
    for step in steps:
        if step.row in known or step.parent not in {None, *known}:
            return False
        difference = rows[step.row] ^ (0 if step.parent is None else known[step.parent])
        if difference.bit_count() - (step.parent is None) != step.additions:
            return False
        known[step.row] = rows[step.row]
    return known == dict(enumerate(rows))


def least_tree(rows: Sequence[int]) -> int:
    """Return the additions of the cheapest derivation, by Kruskal's algorithm: -1 is the root."""
    edges = [(row.bit_count() - 1, n, -1) for n, row in enumerate(rows)]
    edges += [((rows[a] ^ rows[b]).bit_count(), a, b) for a, b in combinations(range(len(rows)), 2)]
    group = {n: n for n in range(-1, len(rows))}
    total = 0
    for additions, a, b in sorted(edges):
        if group[a] != group[b]:
            total += additions
            old = group[a]
            group = {n: group[b] if at == old else at for n, at in group.items()}
    return total


def test_derivations_are_least_trees() -> None:
    rng = random.Random(8)
    for _ in range(200):
        rows = [rng.randrange(1, 1 << 12) for _ in range(rng.randrange(1, 12))]
        steps = derived(rows)
        assert replayed(rows, steps)
        assert sum(step.additions for step in steps) == least_tree(rows)
        wrong = [Step(steps[0].row, steps[-1].row, steps[0].additions), *steps[1:]]
        assert not replayed(rows, wrong)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_every_shape_is_mds(name: str, k: int, m: int) -> None:
    matrix, answer = codes.decided(name, k, m)
    assert (len(matrix), {len(row) for row in matrix}) == (m, {k})
    assert not isinstance(answer, mds.Counterexample)
    if k + m <= 11:
        assert all(determinant for _, determinant in minors(FIELD, matrix))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("k", "m"), [(1, 1), (1, 3), (5, 1)])
def test_one_shard_or_one_parity(name: str, k: int, m: int) -> None:
    assert codes.parity_matrix(name, k, m) == ((1,) * k,) * m


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_results_are_the_same_in_every_process(hash_seed: str) -> None:
    program = (
        "from gfsmith import codes; print([codes.parity_matrix(n, 6, 3) for n in ('zerasure', 'cerasure')])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str([codes.parity_matrix(name, 6, 3) for name in NAMES])


def test_recorded_results() -> None:
    """Stored stripes depend on these elements."""
    assert codes.parity_matrix("zerasure", 4, 3) == ((1, 1, 1, 1), (143, 1, 2, 5), (3, 9, 143, 1))
    assert codes.parity_matrix("cerasure", 4, 3) == ((1, 1, 1, 1), (1, 2, 0x8E, 4), (1, 4, 0x47, 16))


def searched(k: int, m: int) -> tuple[int, int]:
    """Return the costs of the start and of the result."""
    start = jerasure.scaled(FIELD, jerasure.cauchy_good(FIELD, k, m))
    return zerasure.cost(FIELD, start), zerasure.cost(FIELD, codes.parity_matrix("zerasure", k, m))


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_zerasure_is_never_more_expensive_than_its_start(k: int, m: int) -> None:
    start, result = searched(k, m)
    assert result <= start
    if (k, m) in ((6, 3), (10, 4)):
        assert result < 0.85 * start


def test_a_search_for_the_most_expensive_matrix_is_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above can fail."""
    codes.decided.cache_clear()
    with monkeypatch.context() as changed:
        cost = zerasure.cost
        changed.setattr(zerasure, "cost", lambda field, matrix: -cost(field, matrix))
        worst = zerasure.FAMILIES[0].parity(FIELD, 6, 3)
    assert zerasure.cost(FIELD, worst) > searched(6, 3)[0]


def test_candidates_keep_distinct_points() -> None:
    search = zerasure._Search(FIELD, 5, 3)
    one, other = search.anything(), search.anything()
    for _ in range(300):
        one, other = search.mutated(search.crossed(one, other)), search.mutated(other)
        assert len(set(one)) == len(set(other)) == 8
        assert {*one, *other} <= set(range(256))


def weight(column: Sequence[int]) -> int:
    return sum(jerasure.ones(FIELD, element) for element in column)


def singular(columns: Sequence[Sequence[int]]) -> bool:
    matrix: Matrix = tuple(zip(*columns, strict=True))
    return any(not determinant for _, determinant in minors(FIELD, matrix))


def test_cerasure_omits_exactly_the_columns_that_complete_a_singular_minor() -> None:
    chosen = cerasure.lightest_columns(FIELD, 255, 5)
    assert len(chosen) == 13 and not singular(chosen)
    powers = [tuple(FIELD.power(a, i) for i in range(5)) for a in range(1, 256)]
    omitted = sorted(set(powers) - set(chosen), key=weight)[:25]
    for column in omitted:
        lighter = [other for other in chosen if (weight(other), other) < (weight(column), column)]
        assert singular([*lighter, column]), column


def test_cerasure_is_nested_and_light() -> None:
    long = cerasure.lightest_columns(FIELD, 255, 4)
    assert len(long) == 28
    assert codes.parity_matrix("cerasure", 10, 4) == tuple(zip(*long[:10], strict=True))
    assert [weight(column) for column in long] == sorted(weight(column) for column in long)
    for k, m in ((6, 3), (10, 4), (28, 4), (29, 4), (48, 4)):
        matrices = [codes.parity_matrix(name, k, m) for name in ("cerasure", "cauchy_good")]
        assert weight(sum(matrices[0], ())) < weight(sum(matrices[1], ()))


def test_wide_shapes_are_cauchy_matrices() -> None:
    for k, m, kind in ((24, 4, "minors"), (29, 4, "cauchy"), (12, 5, "minors"), (14, 5, "cauchy")):
        answer = codes.decided("cerasure", k, m)[1]
        assert not isinstance(answer, mds.Counterexample) and answer.kind == kind


@pytest.mark.parametrize(
    ("name", "k", "m", "allowed"),
    [("zerasure", 129, 2, "1 <= k <= 128, 1 <= m <= 16"), ("zerasure", 4, 17, "1 <= m <= 16"),
     ("cerasure", 250, 6, r"k \+ m <= 255")],
)  # fmt: skip
def test_other_shapes_are_refused(name: str, k: int, m: int, allowed: str) -> None:
    with pytest.raises(CodeError, match=allowed):
        codes.parity_matrix(name, k, m)
