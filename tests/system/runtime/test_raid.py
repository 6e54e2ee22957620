"""RAID parities without a codec: compared with the galois package and ISA-L's
raid functions, and every loss.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from tests.support.compiler import Compiler
from tests.support.library import EINVAL, ETOOMANY, OK, Api, Arena, Bytes, encode, placed, products
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

NAMES = {1: "xor", 2: "pq", 3: "pqr"}
MAX_DATA = 255
LENGTHS = (1, 15, 64, 129, 192, 193, 1000, 4099)
COUNTS = (1, 2, 3, 4, 7, 8, 16, 32, 33, 37, 255)
RAID = [ROOT / "runtime/core/src/raid.c"]
FAR = (20, 40_000)  #: more shards and bytes than the assumed size of a core's own cache


@cache
def parities(k: int, m: int, reverse: bool = False) -> Bytes:
    """Return rows (2^i)^j by repeated multiplication; in RAID-Z's order (2^i)^(k-1-j)."""
    matrix = np.ones((m, k), dtype=np.uint8)
    for i in range(m):
        for j in range(1, k):
            matrix[i, j] = products()[1 << i, matrix[i, j - 1]]
    return matrix[:, ::-1] if reverse else matrix


@cache
def stripe(k: int, m: int, length: int) -> Bytes:
    """Return k random data shards and their m parities. Tests must not change them."""
    data = np.random.default_rng(1000 * k + length).integers(0, 256, (k, length), dtype=np.uint8)
    shards = np.concatenate([data, encode(parities(k, m), data)])
    shards.flags.writeable = False
    return shards


def generate(api: Api, k: int, m: int, length: int, shards: object) -> int:
    function = getattr(api.lib, f"gfsmith_{NAMES[m]}_gen")
    return int(function(ctypes.c_uint(k), ctypes.c_size_t(length), shards))


def check(api: Api, k: int, m: int, length: int, shards: object) -> tuple[int, bool | None]:
    """Return the status and *ok; None if the call did not write it."""
    ok = ctypes.c_uint8(0x55)
    function = getattr(api.lib, f"gfsmith_{NAMES[m]}_check")
    status = int(function(ctypes.c_uint(k), ctypes.c_size_t(length), shards, ctypes.byref(ok)))
    return status, None if ok.value == 0x55 else bool(ok.value)


def recover(api: Api, k: int, m: int, length: int, shards: object, missing: Iterable[int]) -> int:
    present = (ctypes.c_bool * (MAX_DATA + 3))(*[True] * (MAX_DATA + 3))
    for i in missing:
        present[i] = False
    numbers = ctypes.c_uint(k), ctypes.c_uint(m), ctypes.c_size_t(length)
    return int(api.lib.gfsmith_raid_recover(*numbers, shards, present))


def losses(k: int, m: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, m + 1):
        yield from combinations(range(k + m), count)


@pytest.mark.parametrize("m", NAMES)
@pytest.mark.parametrize("k", COUNTS)
def test_parities_are_those_of_galois(api: Api, isa: str, k: int, m: int) -> None:
    for length in LENGTHS if k < MAX_DATA else (100,):
        shards = stripe(k, m, length)
        wiped = shards.copy()
        wiped[k:] = 0x5A
        arena = Arena(wiped)
        assert generate(api, k, m, length, arena.pointers()) == OK
        arena.expect(shards)


@pytest.mark.parametrize("m", NAMES)
@pytest.mark.parametrize("offset", [0, 1])
def test_around_the_first_cache(api: Api, m: int, offset: int) -> None:
    """Data that do not fit into it: on some CPUs stores around the cache, which need 64-byte alignment."""
    for k, room, more in product((2, 8, 10), (63 << 9, 48 << 10, 60_800), (-64, -1, 0, 1, 4096)):
        length = room // k + more
        shards, rows = stripe(k, m, length), placed(k + m, length, offset)
        rows[:k] = shards[:k]
        pointers = (ctypes.c_void_p * (k + m))(*(row.ctypes.data for row in rows))
        assert generate(api, k, m, length, pointers) == OK
        assert (rows == shards).all()


@pytest.mark.parametrize("m", NAMES)
def test_far_from_cache(api: Api, isa: str, m: int) -> None:
    """Stores around the cache and steps; the former need 64-byte alignment."""
    k, length = FAR
    shards = stripe(k, m, length)
    memory = np.zeros((k + m) * 40_960 + 64, np.uint8)
    rows = memory[-memory.ctypes.data % 64 :][: (k + m) * 40_960].reshape(k + m, 40_960)
    rows[:k, :length] = shards[:k]
    pointers = (ctypes.c_void_p * (k + m))(*(row.ctypes.data for row in rows))
    assert generate(api, k, m, length, pointers) == OK
    assert (rows[:, :length] == shards).all()
    assert not rows[:, length:].any()
    assert check(api, k, m, length, pointers) == (OK, True)
    lost = [3, 7, k][:m]
    rows[lost, :length] = 0
    assert recover(api, k, m, length, pointers, lost) == OK
    assert (rows[:, :length] == shards).all()


def test_raid_z_is_the_columns_reversed(api: Api, isa: str) -> None:
    k, m, length = 9, 3, 333
    data = stripe(k, m, length)[:k]
    want = np.concatenate([data, encode(parities(k, m, reverse=True), data)])
    arena = Arena(np.concatenate([data, np.zeros((m, length), np.uint8)]))
    backwards = [*reversed(range(k)), *range(k, k + m)]
    assert generate(api, k, m, length, arena.pointers(backwards)) == OK
    arena.expect(want)
    assert check(api, k, m, length, arena.pointers(backwards)) == (OK, True)


def test_check_in_memory_sees_changes_around_steps(compiler: Compiler) -> None:
    """In a library that takes shards in a shared cache for shards in memory, whose parts are multiples of 128
    bytes."""
    change = Mutant("path = gfs_path_probed(path, count, len, shards, k);", ";")
    api = Api(compiler.library_with_error(change, RAID))
    for m in NAMES:
        changes_are_seen(api, m)


def changes_are_seen(api: Api, m: int) -> None:
    k, length = FAR
    shards = stripe(k, m, length)
    arena = Arena(shards)
    pointers = arena.pointers()
    assert check(api, k, m, length, pointers) == (OK, True)
    for at in (*(n for step in range(0, 1025, 128) for n in (step, step + 127)), 8192, length - 1):
        for shard in (0, k + m - 1):
            arena.shard(shard)[at] ^= 0x40
            assert check(api, k, m, length, pointers) == (OK, False), (shard, at)
            arena.shard(shard)[at] ^= 0x40


CHECKED = (
    Mutant("shards[j] + offset", "shards[j]", within="parities_match"),
    Mutant("shards[pass->inputs + i] + offset", "shards[pass->inputs + i]"),
    Mutant("done += part;", "done += part + 1;", within="check"),
)


@pytest.mark.parametrize("mutant", CHECKED, ids=str)
def test_errors_of_a_check_are_detected(mutant: Mutant, compiler: Compiler) -> None:
    api = Api(compiler.library_with_error(mutant, RAID))
    with pytest.raises(AssertionError):
        changes_are_seen(api, 2)


@pytest.mark.parametrize("m", NAMES)
def test_check_sees_every_changed_byte(api: Api, isa: str, m: int) -> None:
    k, length = 5, 8300  # more than one part of a check
    shards = stripe(k, m, length)
    assert check(api, k, m, length, Arena(shards).pointers()) == (OK, True)
    for shard in range(k + m):
        for at in (0, 1, 5439, 5440, 8191, 8192, length - 1):
            wrong = shards.copy()
            wrong[shard, at] ^= 0x80
            assert check(api, k, m, length, Arena(wrong).pointers()) == (OK, False), (shard, at)


@pytest.mark.parametrize("m", NAMES)
def test_every_loss_of_every_small_array_is_recovered(api: Api, isa: str, m: int) -> None:
    """All losses of up to m shards, data and parities, for every k with k + m <= 16."""
    for k in range(1, 17 - m):
        shards = stripe(k, m, 67)
        for missing in losses(k, m):
            wiped = shards.copy()
            wiped[list(missing)] = 0xEE
            pointers = (ctypes.c_void_p * (k + m))(*(row.ctypes.data for row in wiped))
            assert recover(api, k, m, 67, pointers, missing) == OK
            assert (wiped == shards).all(), (k, missing)


@pytest.mark.parametrize("k", [31, 100, MAX_DATA])
def test_losses_of_large_arrays_are_recovered(api: Api, isa: str, k: int) -> None:
    rng = np.random.default_rng(k)
    shards = stripe(k, 3, 100)
    fixed = [(0, 1, k - 1), (k - 3, k - 2, k - 1), (0, k - 1, k), (0, k - 1, k + 1), (k - 1, k, k + 2)]
    drawn = [tuple(map(int, rng.choice(k + 3, 3, replace=False))) for _ in range(60)]
    for missing in fixed + drawn:
        wiped = shards.copy()
        wiped[list(missing)] = 0xEE
        arena = Arena(wiped)
        assert recover(api, k, 3, 100, arena.pointers(), missing) == OK
        arena.expect(shards)


def test_unneeded_parities_are_neither_read_nor_needed(api: Api, isa: str) -> None:
    k, length = 6, 50
    shards = stripe(k, 3, length)
    wiped = shards.copy()
    wiped[2] = wiped[k + 1] = 0  # Q is present and wrong, and must not be read
    arena = Arena(wiped)
    assert recover(api, k, 3, length, arena.pointers([*range(k + 1), -1, -1]), [2]) == OK
    wiped[2] = shards[2]
    arena.expect(wiped)


def test_refused_calls_write_nothing(api: Api) -> None:
    k, length = 4, 40
    wiped = stripe(k, 3, length).copy()
    wiped[k:] = 1
    arena = Arena(wiped)
    good = arena.pointers()
    for m in NAMES:
        for bad in (0, MAX_DATA + 1, 2**32 - 1):
            assert generate(api, bad, m, length, good) == EINVAL
            assert check(api, bad, m, length, good) == (EINVAL, None)
            assert recover(api, bad, m, length, good, []) == EINVAL
        assert generate(api, k, m, length, None) == EINVAL
        assert check(api, k, m, length, None) == (EINVAL, None)
        for shard in range(k + m):
            holed = arena.pointers([-1 if n == shard else n for n in range(k + m)])
            assert generate(api, k, m, length, holed) == EINVAL
            assert check(api, k, m, length, holed) == (EINVAL, None)
        if m > 1:
            assert recover(api, k, m, length, arena.pointers([0, -1, 2, 3, 4, 5, 6]), [0]) == EINVAL
            assert recover(api, k, m, length, arena.pointers([-1, 1, 2, 3, 4, 5, 6]), [0]) == EINVAL
        assert recover(api, k, m, length, good, range(m + 1)) == ETOOMANY
        assert recover(api, k, m, 0, None, range(m + 1)) == ETOOMANY
        assert recover(api, k, m, 0, None, range(m)) == OK
        assert recover(api, k, m, length, None, [0]) == EINVAL
        function = getattr(api.lib, f"gfsmith_{NAMES[m]}_check")
        assert function(ctypes.c_uint(k), ctypes.c_size_t(length), good, None) == EINVAL
    numbers = ctypes.c_uint(k), ctypes.c_uint(3), ctypes.c_size_t(length)
    assert api.lib.gfsmith_raid_recover(*numbers, good, None) == EINVAL
    for m in (0, 4):
        assert recover(api, k, m, length, good, []) == EINVAL
    arena.expect(wiped)


@pytest.mark.parametrize("m", NAMES)
def test_nothing_missing_and_empty_shards(api: Api, m: int) -> None:
    arena = Arena(np.full((4 + m, 30), 9, np.uint8))
    assert recover(api, 4, m, 30, arena.pointers(), []) == OK
    assert generate(api, 4, m, 0, None) == OK
    assert check(api, 4, m, 0, None) == (OK, True)
    assert recover(api, 4, m, 0, None, []) == OK
    arena.expect(arena.original)


@pytest.mark.parametrize("k", [2, 3, 8, 16, 31])
def test_isal_computes_and_accepts_the_same(api: Api, isa: str, k: int) -> None:
    """ISA-L's raid.h: data first, then P and Q; pq_gen requires addresses and len to be multiples of 32."""
    name = ctypes.util.find_library("isal")
    assert name is not None, "libisal is not installed: apt-get install libisal-dev"
    isal, length = ctypes.CDLL(name), 4096
    memory = np.zeros((2, k + 2, length + 64), np.uint8)
    flat = memory.reshape(-1)
    start = -flat.ctypes.data % 64
    ours, theirs = (
        flat[start + n * (k + 2) * length :][: (k + 2) * length].reshape(k + 2, length) for n in (0, 1)
    )
    ours[:k] = theirs[:k] = stripe(k, 2, length)[:k]
    at = [(ctypes.c_void_p * (k + 2))(*(row.ctypes.data for row in rows)) for rows in (ours, theirs)]
    assert isal.pq_gen(k + 2, length, at[1]) == 0
    assert generate(api, k, 2, length, at[0]) == OK
    assert (ours == theirs).all()
    assert isal.pq_check(k + 2, length, at[0]) == 0
    assert check(api, k, 2, length, at[1]) == (OK, True)
    assert isal.xor_gen(k + 1, length, at[1]) == 0
    assert generate(api, k, 1, length, at[0]) == OK
    assert (ours == theirs).all()
    assert isal.xor_check(k + 1, length, at[0]) == 0
    theirs[k, 77] ^= 1
    assert isal.pq_check(k + 2, length, at[1]) != 0
    assert check(api, k, 2, length, at[1]) == (OK, False)
    assert check(api, k, 1, length, at[1]) == (OK, False)
