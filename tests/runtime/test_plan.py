"""Plans: what the runtime chooses is what the generator's planner chooses, and nothing reads fewer."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from gfsmith import codes
from gfsmith.codes.lrc import Lrc
from gfsmith.field import Field
from gfsmith.matrix import Matrix, multiply
from gfsmith.plan import planner
from gfsmith.plan.checks import Checks
from gfsmith.plan.planner import PlanError
from gfsmith.plan.search import Search, proves_least

from .support import (
    EINVAL,
    ESINGULAR,
    ETOOMANY,
    OK,
    POLYNOMIAL,
    Api,
    Arena,
    Bytes,
    Codec,
    Plan,
    random_matrix,
    rank,
    shards_of,
)

FIELD = Field(POLYNOMIAL)


def patterns(n: int, most: int) -> Iterator[tuple[int, ...]]:
    for count in range(most + 1):
        yield from combinations(range(n), count)


def as_rows(matrix: Bytes) -> Matrix:
    return tuple(tuple(map(int, row)) for row in matrix)


def sparse(seed: int, k: int = 6, m: int = 5) -> Bytes:
    return random_matrix(k, m, seed) * np.random.default_rng(seed).integers(0, 2, (m, k), dtype=np.uint8)


def expect_same(
    codec: Codec, parity: Matrix, lost: tuple[int, ...], wanted: tuple[int, ...] | None, *, mds: bool
) -> Plan | None:
    """The runtime's plan equals the generator's; None if both refuse."""
    here = codec.plan(lost, wanted)
    try:
        there = planner.plan(FIELD, parity, lost, wanted, mds=mds)
    except PlanError:
        assert here == (ETOOMANY if len(lost) > codec.m else ESINGULAR)
        return None
    assert isinstance(here, Plan), (lost, here)
    assert (here.targets, here.reads, here.matrix) == (there.targets, there.reads, there.matrix), lost
    assert here.least == there.least
    return here


@pytest.mark.parametrize("shape", [(4, 2, 2), (6, 2, 2), (12, 2, 2), (7, 2, 3), (5, 5, 2)], ids=str)
def test_all_plans_of_local_codes(api: Api, shape: tuple[int, int, int]) -> None:
    lrc = Lrc(*shape)
    codec, parity = api.create_lrc(*shape), lrc.parity()
    for lost in patterns(codec.k + codec.m, codec.m + 1):
        plan = expect_same(codec, parity, lost, None, mds=False)
        assert plan is None or plan.least
        if len(lost) == 1 and plan is not None and lost[0] < lrc.k + lrc.l:
            group = next(g for g, data in enumerate(lrc.groups) if lost[0] in {*data, lrc.k + g})
            local = {*lrc.groups[group], lrc.k + group} - set(lost)
            assert set(plan.reads) == local or len(plan.reads) < len(local)


@pytest.mark.parametrize(("code", "k", "m"), [("cauchy", 6, 4), ("vandermonde", 10, 3), ("lch", 4, 6)])
def test_all_plans_of_mds_codes(api: Api, code: str, k: int, m: int) -> None:
    """Any repair reads the first k shards that are present, whether or not the code is known to be MDS."""
    parity = codes.parity_matrix(code, k, m)
    named, unnamed = api.create(code, k, m), api.create_matrix(np.array(parity, dtype=np.uint8))
    for lost in patterns(k + m, m):
        first = tuple(i for i in range(k + m) if i not in lost)[:k]
        for codec, mds in ((named, True), (unnamed, False)):
            plan = expect_same(codec, parity, lost, None, mds=mds)
            assert plan is not None and plan.least
            assert plan.reads == (first if lost else ())


@pytest.mark.parametrize("seed", range(6))
def test_plans_of_sparse_matrices(api: Api, seed: int) -> None:
    """Any loss, and one of the lost shards by itself."""
    matrix = sparse(seed)
    codec = api.create_matrix(matrix)
    for lost in patterns(11, 5):
        for wanted in (None, lost[seed % 5 : seed % 5 + 1]):
            expect_same(codec, as_rows(matrix), lost, wanted, mds=False)


def fewest(rows: Matrix, lost: tuple[int, ...]) -> int:
    """The least number of present rows whose span has the lost ones: by trying all sets."""
    present = [i for i in range(len(rows)) if i not in lost]
    for count in range(len(present) + 1):
        for chosen in combinations(present, count):
            basis = [rows[i] for i in chosen]
            if rank([*basis, *(rows[i] for i in lost)]) == rank(basis):
                return count
    raise AssertionError("not determined")


def reads_of(codec: Codec, lost: tuple[int, ...]) -> int:
    plan = codec.plan(lost)
    assert isinstance(plan, Plan) and plan.least
    return len(plan.reads)


CASES = [
    *(((4, 2, 2), lost) for lost in ((0,), (4,), (6,), (0, 1), (0, 2), (0, 4), (0, 6), (4, 5), (0, 1, 2))),
    *(((5, 2, 3), lost) for lost in ((3,), (0, 1), (0, 7), (5, 7))),
]


@pytest.mark.parametrize(("shape", "lost"), CASES, ids=str)
def test_nothing_reads_fewer(api: Api, shape: tuple[int, int, int], lost: tuple[int, ...]) -> None:
    rows = (*map(tuple, np.eye(shape[0], dtype=int).tolist()), *Lrc(*shape).parity())
    assert reads_of(api.create_lrc(*shape), lost) == fewest(rows, lost)


def test_a_planner_that_does_not_search_is_refuted(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking the lightest parities first reads more than the fewest for some losses, and that shows."""
    matrix = sparse(2)
    codec, worse = api.create_matrix(matrix), set()
    monkeypatch.setattr(planner, "possible", lambda width, spares, targets: False)
    for lost in combinations(range(11), 2):
        exact = codec.plan(lost)
        if isinstance(exact, Plan):
            lightest = planner.plan(FIELD, as_rows(matrix), lost, None, mds=False)
            worse.add(len(lightest.reads) > len(exact.reads))
    assert worse == {True, False}


def test_a_plan_whose_search_was_cut_short_says_so(api: Api) -> None:
    """And is the same all the same. A single loss is repaired in its group, and that is proved least."""
    for shape in ((40, 5, 4), (96, 8, 4), (72, 4, 3)):
        codec, parity, groups = api.create_lrc(*shape), Lrc(*shape).parity(), Lrc(*shape).groups
        for lost in (0, shape[0] - 1, shape[0], shape[0] + shape[1]):
            plan = expect_same(codec, parity, (lost,), None, mds=False)
            assert plan is not None
            if lost < shape[0] + shape[1]:
                assert plan.least and len(plan.reads) == len(groups[0])
        plan = expect_same(codec, parity, (0, 1), None, mds=False)
        assert plan is not None and not plan.least


def test_where_no_search_is_possible_the_lightest_parities_are_taken(api: Api) -> None:
    """50 parities: single losses are repaired in their groups all the same."""
    lrc = Lrc(200, 20, 30)
    codec, parity = api.create_lrc(200, 20, 30), lrc.parity()
    for lost in ((0,), (77, 205)):
        plan = expect_same(codec, parity, lost, None, mds=False)
        assert plan is not None and not plan.least and len(plan.reads) == 10 * len(lost)


def test_the_bound_does_not_prove_what_is_not_so() -> None:
    """Ways that read more than the fewest are not proved least, of single losses in sparse codes."""
    outcomes = set()
    for seed in range(12):
        for lost in range(11):
            checks = Checks(FIELD, as_rows(sparse(seed)), (lost,))
            row = checks.express(lost)
            if row is None or not checks.spares:
                continue
            best = Search(checks.arithmetic, checks.spares, [row])
            assert best.complete
            fewest_reads = sum(map(bool, best.best[0]))
            for other in (row, *(bytes(a ^ b for a, b in zip(row, s, strict=True)) for s in checks.spares)):
                proved = proves_least(checks.arithmetic, checks.spares, lost, other)
                assert not proved or sum(map(bool, other)) == fewest_reads
                outcomes.add((proved, sum(map(bool, other)) == fewest_reads))
    assert outcomes == {(True, True), (False, True), (False, False)}


def test_the_matrix_is_what_runs(api: Api, isa: str) -> None:
    """The rows of the plan's matrix applied to the shards that it reads; the others may be NULL."""
    codec, parity = api.create_lrc(6, 2, 2), Lrc(6, 2, 2).parity()
    shards = shards_of(np.array(parity, dtype=np.uint8), 70, seed=3)
    for lost in ((0,), (0, 1, 4), (2, 6, 9), (8,)):
        plan = codec.plan(lost)
        assert isinstance(plan, Plan)
        before = shards.copy()
        before[list(lost)] = 0xEE
        arena = Arena(before)
        given = [i if i in {*plan.reads, *lost} else -1 for i in range(10)]
        assert plan.run(70, arena.pointers(given)) == OK
        arena.expect(shards)
        computed = multiply(FIELD, plan.matrix, tuple(tuple(map(int, shards[i])) for i in plan.reads))
        assert np.array_equal(np.array(computed), shards[list(plan.targets)])


def test_a_plan_outlives_its_codec_and_keeps_its_layout(api: Api) -> None:
    packet, lost = 8, (1, 7)
    codec = api.create("cauchy", 5, 3)
    assert codec.packets(packet) == OK
    arena = Arena(np.random.default_rng(1).integers(0, 256, (8, 128), dtype=np.uint8))
    assert codec.encode(128, arena.pointers(range(5)), arena.pointers(range(5, 8))) == OK
    expected = np.stack([arena.shard(i) for i in range(8)])
    plan = codec.plan(lost)
    assert isinstance(plan, Plan)
    del codec
    for shard in lost:
        arena.shard(shard)[:] = 0
    assert plan.run(127, arena.pointers()) == EINVAL
    assert plan.run(128, arena.pointers()) == OK
    arena.expect(expected)


def test_arguments(api: Api) -> None:
    codec, lib = api.create("cauchy", 4, 2), api.lib
    handle = ctypes.c_void_p(1)
    present = codec.present([1])
    assert lib.gfsmith_plan_create(None, codec.handle, present, None) == EINVAL
    for arguments in ((None, present), (codec.handle, None)):
        handle.value = 1
        assert lib.gfsmith_plan_create(ctypes.byref(handle), *arguments, None) == EINVAL
        assert handle.value is None
    assert codec.plan([0, 1, 2]) == ETOOMANY
    assert lib.gfsmith_plan_run(None, 0, None) == EINVAL
    plan, nothing = codec.plan([1]), codec.plan([1], [])
    assert isinstance(plan, Plan) and isinstance(nothing, Plan)
    assert plan.run(0, None) == OK and plan.run(10, None) == EINVAL
    arena = Arena(np.zeros((6, 10), dtype=np.uint8))
    for null in (0, 1, 4):
        assert plan.run(10, arena.pointers([-1 if i == null else i for i in range(6)])) == EINVAL
    assert plan.run(10, arena.pointers([-1 if i == 5 else i for i in range(6)])) == OK
    assert (nothing.reads, nothing.targets, nothing.least) == ((), (), True)
    assert nothing.run(10, arena.pointers([-1] * 6)) == OK
    assert lib.gfsmith_plan_reads(None, None) is None and lib.gfsmith_plan_matrix(None) is None
    assert not lib.gfsmith_plan_is_least(None)
    lib.gfsmith_plan_destroy(None)
    for arguments in ((None, present, present), (codec.handle, None, present), (codec.handle, present, None)):
        assert lib.gfsmith_determined(*arguments) == EINVAL
