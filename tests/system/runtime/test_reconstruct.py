"""gfsmith_reconstruct: every loss at small shapes, seeded losses at large ones, local codes."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from tests.support.library import (
    EINVAL,
    ESINGULAR,
    ETOOMANY,
    OK,
    POLYNOMIAL,
    SHAPES,
    Api,
    Arena,
    Bytes,
    Codec,
    cauchy_shards,
    lengths,
    random_matrix,
    rank,
    shards_of,
)

JUNK = 0xEE


def losses(n: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield all sets of at most `most` of n shards."""
    for count in range(most + 1):
        yield from itertools.combinations(range(n), count)


def damaged(shards: Bytes, missing: tuple[int, ...]) -> Arena:
    before = shards.copy()
    before[list(missing)] = JUNK
    return Arena(before)


def repaired(shards: Bytes, missing: tuple[int, ...], rebuilt: tuple[int, ...]) -> Bytes:
    """Return the expected shards if only some of the missing ones are rebuilt."""
    after = shards.copy()
    after[[i for i in missing if i not in rebuilt]] = JUNK
    return after


def generator_rows(matrix: Bytes) -> Bytes:
    return np.concatenate([np.eye(matrix.shape[1], dtype=np.uint8), matrix])


def determined(
    matrix: Bytes, missing: tuple[int, ...], wanted: tuple[int, ...], polynomial: int = POLYNOMIAL
) -> bool:
    """Return True if the wanted shards' rows are in the span of the rows of the present shards."""
    rows = generator_rows(matrix)
    present = [list(rows[i]) for i in range(len(rows)) if i not in missing]
    targets = [list(rows[i]) for i in wanted]
    return rank(present + targets, polynomial) == rank(present, polynomial)


@pytest.mark.parametrize(("k", "m"), [(1, 1), (1, 3), (3, 1), (4, 2), (3, 4), (6, 3), (5, 5)])
@pytest.mark.parametrize("code", ["vandermonde", "cauchy"])
def test_every_loss(api: Api, isa: str, code: str, k: int, m: int) -> None:
    codec = api.create(code, k, m)
    shards = shards_by_codec(codec, 70, seed=k * 16 + m)
    for missing in losses(k + m, m):
        arena = damaged(shards, missing)
        assert codec.reconstruct(70, arena.pointers(), missing) == OK
        arena.expect(shards)


def shards_by_codec(codec: Codec, length: int, seed: int) -> Bytes:
    """Return random data and its parities, encoded by the codec (which test_encode.py tests)."""
    rng = np.random.default_rng(seed)
    contents = rng.integers(0, 256, (codec.k + codec.m, length), dtype=np.uint8)
    arena = Arena(contents)
    parity = arena.pointers(range(codec.k, codec.k + codec.m))
    assert codec.encode(length, arena.pointers(range(codec.k)), parity) == OK
    return np.stack([arena.shard(i) for i in range(codec.k + codec.m)])


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_random_losses(api: Api, isa: str, k: int, m: int) -> None:
    """Losses of m shards: data only if possible, parities only, and mixed."""
    codec = api.create("cauchy", k, m)
    rng = np.random.default_rng(k * 256 + m)
    mixed = [tuple(rng.permutation(k + m)[:m]) for _ in range(3)]
    for length in lengths(k, m)[1:7]:
        shards = cauchy_shards(k, m, length)
        data_first, parity_first = tuple(range(m)), tuple(range(k, k + m))
        for missing in (data_first, parity_first, *mixed):
            arena = damaged(shards, missing)
            assert codec.reconstruct(length, arena.pointers(), map(int, missing)) == OK
            arena.expect(shards)


def test_long_shards(api: Api, isa: str) -> None:
    k, m, length = 20, 12, 100000
    codec = api.create("cauchy", k, m)
    shards = cauchy_shards(k, m, length)
    missing = (0, 3, 4, 7, 8, 11, 13, 19, 20, 22, 30, 31)
    arena = damaged(shards, missing)
    assert codec.reconstruct(length, arena.pointers(), missing) == OK
    arena.expect(shards)


@pytest.mark.parametrize(("k", "m"), [(3, 3), (4, 2)])
def test_every_wanted_subset(api: Api, isa: str, k: int, m: int) -> None:
    """Wanted shards are rebuilt; missing shards that are not wanted may be NULL."""
    codec = api.create("cauchy", k, m)
    shards = cauchy_shards(k, m, 65)
    for missing in losses(k + m, m):
        for wanted in losses(k + m, k + m):
            rebuilt = tuple(i for i in missing if i in wanted)
            arena = damaged(shards, missing)
            given = [-1 if i in missing and i not in wanted else i for i in range(k + m)]
            assert codec.reconstruct(65, arena.pointers(given), missing, wanted) == OK
            arena.expect(repaired(shards, missing, rebuilt))


def test_unneeded_present_shards_may_be_null(api: Api) -> None:
    """One lost shard of 4 + 3 needs four others; two present parities are not read."""
    codec = api.create("cauchy", 4, 3)
    shards = cauchy_shards(4, 3, 100)
    arena = damaged(shards, (1,))
    assert codec.reconstruct(100, arena.pointers([0, 1, 2, 3, 4, -1, -1]), [1]) == OK
    arena.expect(shards)


def test_needed_null_is_refused(api: Api) -> None:
    codec = api.create("cauchy", 4, 3)
    shards = cauchy_shards(4, 3, 100)
    for null in range(5):
        arena = damaged(shards, (1,))
        given = [-1 if i == null else i for i in range(7)]
        assert codec.reconstruct(100, arena.pointers(given), [1]) == EINVAL
        arena.expect(repaired(shards, (1,), ()))


def test_too_many(api: Api) -> None:
    """With more than m shards missing, even if few of them are wanted, nothing is written."""
    codec = api.create("cauchy", 4, 2)
    shards = cauchy_shards(4, 2, 100)
    for missing in itertools.combinations(range(6), 3):
        for wanted in (None, (), missing[:1]):
            arena = damaged(shards, missing)
            assert codec.reconstruct(100, arena.pointers(), missing, wanted) == ETOOMANY
            arena.expect(repaired(shards, missing, ()))


def test_nothing_to_do(api: Api) -> None:
    codec = api.create("cauchy", 4, 2)
    shards = cauchy_shards(4, 2, 100)
    arena = Arena(shards)
    nothing = arena.pointers([-1] * 6)
    assert codec.reconstruct(100, nothing, []) == OK
    assert codec.reconstruct(100, nothing, [], range(6)) == OK
    assert codec.reconstruct(100, nothing, [0, 5], []) == OK
    assert codec.reconstruct(100, nothing, [0, 5], [1, 2]) == OK
    arena.expect(shards)


LOCAL = np.array(
    [
        [1, 1, 1, 0, 0, 0],  # XOR of group 0
        [0, 0, 0, 1, 1, 1],  # XOR of group 1
        [1, 2, 3, 4, 5, 6],
        [1, 4, 5, 16, 17, 20],
    ],
    dtype=np.uint8,
)
ODD = np.array(
    [
        [0, 0, 0, 0],  # a parity that is always zero
        [7, 7, 0, 0],
        [7, 7, 0, 0],  # the same twice
        [0, 9, 0, 1],
    ],
    dtype=np.uint8,
)


@pytest.mark.parametrize("matrix", [LOCAL, ODD], ids=["local", "odd"])
def test_every_loss_of_codes_that_are_not_mds(api: Api, isa: str, matrix: Bytes) -> None:
    """All shards that the present ones determine are rebuilt; the others, and only they, give ESINGULAR."""
    m, k = matrix.shape
    codec = api.create_matrix(matrix)
    shards = shards_of(matrix, 33, seed=21)
    outcomes = set()
    for missing in losses(k + m, m):
        for wanted in {missing, missing[:1], missing[1:]}:
            arena = damaged(shards, missing)
            status = codec.reconstruct(33, arena.pointers(), missing, wanted)
            expected = OK if determined(matrix, missing, wanted) else ESINGULAR
            assert status == expected, (missing, wanted)
            arena.expect(repaired(shards, missing, wanted if status == OK else ()))
            outcomes.add(status)
    assert outcomes == {OK, ESINGULAR}


@pytest.mark.parametrize("seed", range(12))
def test_random_sparse_matrices(api: Api, seed: int) -> None:
    """Random matrices, half zeros, over other fields; every loss, each missing shard alone."""
    rng = np.random.default_rng(seed)
    polynomial = (0x11B, 0x12D, 0x187)[seed % 3]
    matrix = random_matrix(4, 4, seed) * rng.integers(0, 2, (4, 4), dtype=np.uint8)
    codec = api.create_matrix(matrix, polynomial)
    shards = shards_of(matrix, 17, seed, polynomial)
    for missing in losses(8, 4):
        for wanted in [missing, *((i,) for i in missing)]:
            arena = damaged(shards, missing)
            status = codec.reconstruct(17, arena.pointers(), missing, wanted)
            solvable = determined(matrix, missing, wanted, polynomial)
            assert status == (OK if solvable else ESINGULAR), (missing, wanted)
            arena.expect(repaired(shards, missing, wanted if solvable else ()))


def test_local_repair_reads_the_local_group_only(api: Api) -> None:
    """All shards outside the group may be NULL, so the repair does not read them."""
    codec = api.create_matrix(LOCAL)
    shards = shards_of(LOCAL, 500, seed=4)
    for lost in range(6):
        group = lost // 3
        needed = {3 * group, 3 * group + 1, 3 * group + 2, 6 + group}
        arena = damaged(shards, (lost,))
        given = [i if i in needed else -1 for i in range(10)]
        assert codec.reconstruct(500, arena.pointers(given), [lost]) == OK
        arena.expect(shards)
    # One in each group: two local repairs at once, again without the global parities.
    arena = damaged(shards, (1, 5))
    given = [i if i < 8 else -1 for i in range(10)]
    assert codec.reconstruct(500, arena.pointers(given), [1, 5]) == OK
    arena.expect(shards)


def test_local_parities_are_preferred_wherever_they_stand(api: Api) -> None:
    """With the dense rows first, a single loss is still repaired within its group."""
    matrix = LOCAL[[2, 0, 3, 1]]
    codec = api.create_matrix(matrix)
    shards = shards_of(matrix, 500, seed=5)
    for lost in range(6):
        group = lost // 3
        needed = {3 * group, 3 * group + 1, 3 * group + 2, 6 + 1 + 2 * group}
        arena = damaged(shards, (lost,))
        given = [i if i in needed else -1 for i in range(10)]
        assert codec.reconstruct(500, arena.pointers(given), [lost]) == OK
        arena.expect(shards)


def test_other_unsolvable_losses_do_not_matter(api: Api) -> None:
    """Data 0 and 1 occur only as 7 * (d0 + d1), so they cannot be repaired together; data 3 can."""
    codec = api.create_matrix(ODD[:3])
    shards = shards_of(ODD[:3], 40, seed=6)
    arena = damaged(shards, (0, 1, 4))
    assert codec.reconstruct(40, arena.pointers(), [0, 1, 4]) == ESINGULAR
    assert codec.reconstruct(40, arena.pointers(), [0, 1, 4], [4]) == OK
    arena.expect(repaired(shards, (0, 1, 4), (4,)))


def test_zero_parity_from_nothing(api: Api, isa: str) -> None:
    """A parity without coefficients is rebuilt as zeros without reading any shard."""
    codec = api.create_matrix(np.zeros((2, 3), dtype=np.uint8))
    arena = Arena(np.full((2, 100), JUNK, dtype=np.uint8))
    given = arena.pointers([-1, -1, -1, 0, 1])
    assert codec.reconstruct(100, given, [3, 4]) == OK
    arena.expect(np.zeros((2, 100), dtype=np.uint8))


def test_flags_as_bool_arrays_of_c(api: Api) -> None:
    """present NULL is refused; wanted NULL means all."""
    codec = api.create("cauchy", 4, 2)
    shards = cauchy_shards(4, 2, 100)
    arena = damaged(shards, (2, 4))
    call = api.lib.gfsmith_reconstruct
    assert call(codec.handle, 100, arena.pointers(), None, None) == EINVAL
    present = (ctypes.c_bool * 6)(True, True, False, True, False, True)
    assert call(codec.handle, 100, None, present, None) == EINVAL
    arena.expect(repaired(shards, (2, 4), ()))
    assert call(codec.handle, 100, arena.pointers(), present, None) == OK
    arena.expect(shards)


def test_repeated_losses(api: Api, isa: str) -> None:
    """More losses than a codec records (256), each three times, in mixed order."""
    k, m, length = 10, 4, 130
    codec = api.create("cauchy", k, m)
    shards = cauchy_shards(k, m, length)
    order = list(losses(k + m, 3)) * 3
    np.random.default_rng(3).shuffle(order)
    for missing in (tuple(int(i) for i in drawn) for drawn in order):
        arena = damaged(shards, missing)
        assert codec.reconstruct(length, arena.pointers(), missing) == OK
        arena.expect(shards)


def test_wanted_shards_distinguish_losses(api: Api) -> None:
    codec = api.create("cauchy", 4, 3)
    shards = cauchy_shards(4, 3, 100)
    missing = (0, 2, 5)
    for _ in range(3):
        for wanted in ((0,), (2,), (0, 5), (5,), missing):
            arena = damaged(shards, missing)
            assert codec.reconstruct(100, arena.pointers(), missing, wanted) == OK
            arena.expect(repaired(shards, missing, wanted))


def test_a_known_loss_is_refused_like_a_new_one(api: Api) -> None:
    """A call with a needed shard NULL, a good call, and the first call again; the refused calls write
    nothing.
    """
    codec = api.create("cauchy", 4, 2)
    shards = cauchy_shards(4, 2, 100)
    for _ in range(2):
        arena = damaged(shards, (1, 4))
        for null in (0, 1, 5):
            given = [-1 if i == null else i for i in range(6)]
            assert codec.reconstruct(100, arena.pointers(given), [1, 4]) == EINVAL
            arena.expect(repaired(shards, (1, 4), ()))
        assert codec.reconstruct(100, arena.pointers(), [1, 4]) == OK
        arena.expect(shards)


def test_wide_codes_remember_within_bounds(api: Api) -> None:
    """Repairs of 128 + 127 take 127 KiB to 508 KiB each: the codec keeps the first few, all are right."""
    k, m, length = 128, 127, 64
    codec = api.create("cauchy", k, m)
    shards = cauchy_shards(k, m, length)
    for first in [*range(0, 120, 8)] * 2:
        missing = tuple(range(first, first + m))
        arena = damaged(shards, missing)
        assert codec.reconstruct(length, arena.pointers(), missing) == OK
        arena.expect(shards)
