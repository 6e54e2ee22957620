"""Plans: their results are right, and no set of shards found by brute force is better."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from gfsmith import codes
from gfsmith.codes.lrc import Lrc
from gfsmith.field import Field
from gfsmith.field.matrix import multiply
from tests.oracle.repair import Oracle, generator, rebuilt
from tests.support.compiler import Compiler
from tests.support.library import (
    EINVAL,
    ESINGULAR,
    ETOOMANY,
    NATIVE,
    OK,
    POLYNOMIAL,
    Api,
    Arena,
    Bytes,
    Codec,
    Plan,
    random_matrix,
    shards_of,
)

FIELD = Field(POLYNOMIAL)


def patterns(n: int, most: int) -> Iterator[tuple[int, ...]]:
    for count in range(most + 1):
        yield from combinations(range(n), count)


def sparse(seed: int, k: int = 6, m: int = 5) -> Bytes:
    return random_matrix(k, m, seed) * np.random.default_rng(seed).integers(0, 2, (m, k), dtype=np.uint8)


def made(
    codec: Codec, rows: Bytes, lost: tuple[int, ...], wanted: tuple[int, ...] | None = None
) -> Plan | None:
    """Return the plan for a loss, or None if there is none. The test checks that it reads present shards and
    gives the wanted ones for all data. rows: the generator matrix.
    """
    plan = codec.plan(lost, wanted)
    if not isinstance(plan, Plan):
        assert plan == (ETOOMANY if len(lost) > codec.m else ESINGULAR)
        return None
    assert plan.targets == (lost if wanted is None else wanted)
    assert list(plan.reads) == sorted({*plan.reads} - {*lost})
    assert np.array_equal(rebuilt(plan.matrix, rows[list(plan.reads)]), rows[list(plan.targets)])
    return plan


def expect_best(
    codec: Codec, rows: Bytes, oracle: Oracle, lost: tuple[int, ...], wanted: tuple[int, ...] | None = None
) -> Plan | None:
    """Return the plan after checking that it is the best possible repair and reports that no other reads
    fewer shards.
    """
    plan = made(codec, rows, lost, wanted)
    best = oracle.best(lost, lost if wanted is None else wanted)
    if plan is None:
        assert len(lost) > codec.m or best is None, lost
        return None
    assert best is not None and plan.least, lost
    nonzero = sum(element != 0 for row in plan.matrix for element in row)
    assert (plan.reads, nonzero) == (best.reads, best.nonzero), lost
    return plan


@pytest.mark.parametrize("shape", [(4, 2, 2), (6, 2, 2), (12, 2, 2), (7, 2, 3), (5, 5, 2)], ids=str)
def test_all_plans_of_local_codes(api: Api, shape: tuple[int, int, int]) -> None:
    lrc = Lrc(*shape)
    codec, rows = api.create_lrc(*shape), generator(lrc.parity())
    oracle = Oracle(rows)
    for lost in patterns(codec.k + codec.m, codec.m + 1):
        plan = expect_best(codec, rows, oracle, lost)
        if len(lost) == 1 and plan is not None and lost[0] < lrc.k + lrc.l:
            group = next(g for g, data in enumerate(lrc.groups) if lost[0] in {*data, lrc.k + g})
            local = {*lrc.groups[group], lrc.k + group} - set(lost)
            assert set(plan.reads) == local or len(plan.reads) < len(local)


@pytest.mark.parametrize(("code", "k", "m"), [("cauchy", 6, 4), ("vandermonde", 10, 3), ("lch", 4, 6)])
def test_all_plans_of_mds_codes(api: Api, code: str, k: int, m: int) -> None:
    """Any repair reads the first k present shards, whether or not the code is known to be MDS."""
    parity = codes.parity_matrix(code, k, m)
    rows = generator(parity)
    oracle = Oracle(rows)
    named, unnamed = api.create(code, k, m), api.create_matrix(np.array(parity, dtype=np.uint8))
    for lost in patterns(k + m, m):
        first = tuple(i for i in range(k + m) if i not in lost)[:k]
        for codec in (named, unnamed):
            plan = expect_best(codec, rows, oracle, lost)
            assert plan is not None and plan.reads == (first if lost else ())


@pytest.mark.parametrize("seed", range(6))
def test_plans_of_sparse_matrices(api: Api, seed: int) -> None:
    """Any loss, and one of the lost shards alone."""
    matrix = sparse(seed)
    codec, rows = api.create_matrix(matrix), generator(matrix)
    oracle, made = Oracle(rows), 0
    for lost in patterns(11, 5):
        for wanted in (None, lost[seed % 5 : seed % 5 + 1]):
            made += expect_best(codec, rows, oracle, lost, wanted) is not None
    assert made > 1000


def test_a_planner_that_does_not_search_is_refuted(compiler: Compiler) -> None:
    """Choosing the lightest parities first gives right plans that read more than the minimum for some losses,
    and the test detects it.
    """
    library = compiler.output / "unsearched.so"
    whole = ("-Wl,--whole-archive", str(compiler.build / "libgfsmith.a"), "-Wl,--no-whole-archive")
    source = str(NATIVE / "unsearched.c")
    compiler.run(
        "gcc", "-shared", "-fPIC", source, *whole, "-Wl,--wrap=gfs_search_possible", "-o", str(library)
    )
    matrix = sparse(2)
    codec, rows, worse = Api(library).create_matrix(matrix), generator(matrix), set()
    oracle = Oracle(rows)
    for lost in combinations(range(11), 2):
        plan, best = made(codec, rows, lost), oracle.best(lost, lost)
        assert (plan is None) == (best is None)
        if plan is not None and best is not None:
            worse.add(len(plan.reads) > len(best.reads))
    assert worse == {True, False}


def test_a_plan_reports_an_incomplete_search(api: Api) -> None:
    """The plan is right nevertheless. A single loss is repaired in its group, and that is proved least."""
    for shape in ((40, 5, 4), (96, 8, 4), (72, 4, 3)):
        codec, rows, groups = api.create_lrc(*shape), generator(Lrc(*shape).parity()), Lrc(*shape).groups
        for lost in (0, shape[0] - 1, shape[0], shape[0] + shape[1]):
            plan = made(codec, rows, (lost,))
            assert plan is not None
            if lost < shape[0] + shape[1]:
                assert plan.least and len(plan.reads) == len(groups[0])
        plan = made(codec, rows, (0, 1))
        assert plan is not None and not plan.least


def test_where_no_search_is_possible_the_lightest_parities_are_taken(api: Api) -> None:
    """50 parities: single losses are still repaired in their groups."""
    codec, rows = api.create_lrc(200, 20, 30), generator(Lrc(200, 20, 30).parity())
    for lost in ((0,), (77, 205)):
        plan = made(codec, rows, lost)
        assert plan is not None and not plan.least and len(plan.reads) == 10 * len(lost)


def test_the_bound_proves_no_larger_plan(compiler: Compiler) -> None:
    """For single losses in sparse codes, ways that read more than the minimum are not proved least."""
    program, outcomes = compiler.link("bound"), set()
    for seed in range(12):
        matrix = sparse(seed)
        oracle = Oracle(generator(matrix))
        given = " ".join(map(str, [6, 5, *matrix.flatten().tolist()]))
        done = subprocess.run([program], input=given, capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            lost, reads, proved = map(int, line.split())
            best = oracle.best((lost,), (lost,))
            assert best is not None and reads >= len(best.reads)
            assert not proved or reads == len(best.reads)
            outcomes.add((proved == 1, reads == len(best.reads)))
    assert outcomes == {(True, True), (False, True), (False, False)}


def test_the_plan_applies_its_matrix(api: Api, isa: str) -> None:
    """The rows of the plan's matrix, applied to the shards that it reads, give the result; the others may be
    NULL.
    """
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
