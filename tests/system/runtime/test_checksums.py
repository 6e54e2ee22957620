"""gfsmith_encode_checksums, gfsmith_reconstruct_checksums and gfsmith_check_checksums on every set of this
CPU: shards against the reference, checksums against a table (tests/oracle/crc.py) and zlib; and mutants."""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest

from gfsmith.field.checksum import CHECKSUMS
from tests.oracle.crc import checksums
from tests.support.compiler import Compiler
from tests.support.cpu import cpu_flags
from tests.support.levels import share
from tests.support.library import (
    AUTO,
    CACHED,
    EINVAL,
    ESINGULAR,
    ETOOMANY,
    OK,
    STREAMING,
    Api,
    Arena,
    Bytes,
    Codec,
    cauchy_shards,
    shards_of,
    vandermonde,
)
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

KINDS = {check.name: kind for kind, check in enumerate(CHECKSUMS)}
NAMES = tuple(KINDS)
T10 = KINDS["CRC16_T10"]

#: Known and run-time matrices, one and several passes, one and many shards.
SHAPES = (
    *(("cauchy", 1, 1), ("cauchy", 10, 4), ("vandermonde", 5, 3)),
    *(("cauchy", 19, 6), ("cauchy", 20, 12), ("cauchy", 100, 20)),
)
#: Around lines, pieces (512 to 1024 bytes), the distance of prefetching, blocks, and the loop that encodes
#: and folds (from 2048 bytes on), with odd and even numbers of lines.
LENGTHS = (
    *(1, 7, 8, 63, 64, 65, 127, 128, 511, 512, 513, 576, 1023, 1024, 1025, 1600),
    *(2047, 2048, 2049, 2112, 2559, 2560, 4096, 5001),
)
#: Long enough for stores around the cache.
LONG = (32768, 32768 + 512 + 9)


@cache
def _rows(kind: int, content: bytes, count: int, start: tuple[int, ...]) -> list[int]:
    rows = np.frombuffer(content, dtype=np.uint8).reshape(count, -1)
    found = checksums(NAMES[kind], rows, start)
    if NAMES[kind] == "CRC32":
        assert found == [zlib.crc32(row.tobytes(), state) for row, state in zip(rows, start, strict=True)]
    return found


def oracle(kind: int, rows: Bytes, start: Iterable[int] | None = None) -> list[int]:
    """Return the checksum of each row, continued from `start`."""
    return _rows(kind, rows.tobytes(), len(rows), (0,) * len(rows) if start is None else tuple(start))


@cache
def stripe(code: str, k: int, m: int, length: int) -> Bytes:
    if code == "cauchy":
        return cauchy_shards(k, m, length)
    return shards_of(vandermonde(k, m), length, seed=5)


def numbers(values: Iterable[int]) -> ctypes.Array[ctypes.c_uint64]:
    listed = list(values)
    return (ctypes.c_uint64 * len(listed))(*listed)


class Aligned(Arena):
    """Shards at multiples of 64 bytes, as stores around the cache need them."""

    def __init__(self, contents: Bytes) -> None:
        super().__init__(contents)
        count, pitch = len(contents), -(-self.length // 64) * 64 + 64
        self.memory = np.full(count * pitch + 128, 0xA5, dtype=np.uint8)
        first = -self.memory.ctypes.data % 64
        self.starts = [first + i * pitch for i in range(count)]
        for i in range(count):
            self.shard(i)[:] = contents[i]


def encode(codec: Codec, kind: int, length: int, arena: Arena, states: object) -> int:
    k, n = codec.k, codec.k + codec.m
    places = arena.pointers(range(k)), arena.pointers(range(k, n))
    lib = codec.api.lib
    return int(lib.gfsmith_encode_checksums(codec.handle, kind, ctypes.c_size_t(length), *places, states))


def check(codec: Codec, kind: int, length: int, arena: Arena, states: object) -> tuple[int, int]:
    """Return the status and *ok, 0x55 if the call did not write it."""
    ok = ctypes.c_uint8(0x55)
    args = (codec.handle, kind, ctypes.c_size_t(length), arena.pointers(), states, ctypes.byref(ok))
    return int(codec.api.lib.gfsmith_check_checksums(*args)), ok.value


def reconstruct(
    codec: Codec,
    kind: int,
    length: int,
    arena: Arena,
    missing: Iterable[int],
    states: object,
    expected: object = None,
    wrong: object = None,
) -> int:
    size, present = ctypes.c_size_t(length), codec.present(missing)
    args = (codec.handle, kind, size, arena.pointers(), present, None, states, expected, wrong)
    return int(codec.api.lib.gfsmith_reconstruct_checksums(*args))


def encode_matches(codec: Codec, kind: int, shards: Bytes, kept: type[Arena] = Arena) -> None:
    """Encode in one call, continuing other states, and compare parities and states."""
    before = shards.copy()
    before[codec.k :] = 0x3C
    arena = kept(before)
    start = [n * 40503 % 65536 for n in range(len(shards))]
    states = numbers(start)
    assert encode(codec, kind, shards.shape[1], arena, states) == OK
    arena.expect(shards)
    assert list(states) == oracle(kind, shards, start)


def check_matches(codec: Codec, kind: int, shards: Bytes) -> None:
    """Check an intact stripe, and one with a wrong byte: all states cover all bytes."""
    length = shards.shape[1]
    arena, states = Arena(shards), numbers([0] * len(shards))
    assert check(codec, kind, length, arena, states) == (OK, 1)
    assert list(states) == oracle(kind, shards)
    changed = shards.copy()
    changed[-1, 0] ^= 1
    changed[0, -1] ^= 0x80
    arena, states = Arena(changed), numbers([0] * len(shards))
    assert check(codec, kind, length, arena, states) == (OK, 0)
    assert list(states) == oracle(kind, changed)
    arena.expect(changed)


def losses(codec: Codec) -> list[list[int]]:
    n = codec.k + codec.m
    return [[0], list(range(n - 1, n - 1 - codec.m, -1)), [*range(codec.m - 1), n - 1]]


def reconstruct_matches(codec: Codec, kind: int, shards: Bytes, missing: list[int]) -> None:
    """Repair a loss, continuing other states; then with a wrong shard among those that are read."""
    n, length = len(shards), shards.shape[1]
    damaged = shards.copy()
    damaged[missing] = 0x3C
    start = [i * 40503 % 65536 for i in range(n)]
    after = oracle(kind, shards, start)
    arena, states, wrong = Arena(damaged), numbers(start), (ctypes.c_bool * n)(*[True] * n)
    expected = numbers(0 if i in missing else end for i, end in enumerate(after))
    assert reconstruct(codec, kind, length, arena, missing, states, expected, wrong) == OK
    arena.expect(shards)
    touched = [i for i in range(n) if states[i] == after[i]]
    read = set(touched) - set(missing)
    assert set(missing) <= set(touched) and len(read) >= min(codec.k, 1)
    assert all(states[i] == start[i] for i in set(range(n)) - set(touched))
    assert not any(wrong)
    victim = max(read)
    damaged[victim, length // 2] ^= 4
    arena, states = Arena(damaged), numbers(start)
    assert reconstruct(codec, kind, length, arena, missing, states, expected, wrong) == OK
    assert [i for i in range(n) if wrong[i]] == [victim]
    assert list(states) != after


@pytest.mark.parametrize(("code", "k", "m"), SHAPES)
def test_every_length(api: Api, isa: str, code: str, k: int, m: int) -> None:
    """In pieces, and, as in cache, in two passes."""
    codec = api.create(code, k, m)
    for hint in (STREAMING, CACHED):
        assert codec.hint(hint) == OK
        for n, length in enumerate(LENGTHS):
            kind = n % T10
            encode_matches(codec, kind, stripe(code, k, m, length))
            check_matches(codec, kind, stripe(code, k, m, length))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_check(api: Api, isa: str, kind: int) -> None:
    codec = api.create("cauchy", 4, 2)
    assert codec.hint(STREAMING) == OK
    for length in (512, 1024, 4096):
        encode_matches(codec, kind, cauchy_shards(4, 2, length))
        check_matches(codec, kind, cauchy_shards(4, 2, length))
        for missing in losses(codec):
            reconstruct_matches(codec, kind, cauchy_shards(4, 2, length), missing)


@pytest.mark.parametrize("k", [7, 8, 9, 16, 19])
def test_sources_by_words(api: Api, isa: str, k: int) -> None:
    """Whole groups of sources and others, in the loop that advances some of them by the crc32 instruction."""
    codec = api.create("cauchy", k, 4)
    assert codec.hint(STREAMING) == OK
    for length in (2048, 2113):
        shards = stripe("cauchy", k, 4, length)
        encode_matches(codec, KINDS["CRC32C"], shards, Aligned)
        reconstruct_matches(codec, KINDS["CRC32C"], shards, [0, 1, 3, k])


def test_shards_that_the_prefetcher_follows(api: Api, isa: str) -> None:
    codec = api.create("cauchy", 8, 1)
    assert codec.hint(STREAMING) == OK
    encode_matches(codec, KINDS["CRC32"], stripe("cauchy", 8, 1, (256 << 10) + 65), Aligned)


@pytest.mark.parametrize("hint", [AUTO, CACHED, STREAMING])
def test_hints(api: Api, isa: str, hint: int) -> None:
    """Long shards, at multiples of a line and elsewhere, with and without stores around the cache."""
    codec = api.create("cauchy", 4, 2)
    assert codec.hint(hint) == OK
    for length in LONG:
        shards = cauchy_shards(4, 2, length)
        encode_matches(codec, KINDS["CRC32C"], shards)
        encode_matches(codec, KINDS["CRC32C"], shards, Aligned)
        check_matches(codec, KINDS["CRC32C"], shards)
        reconstruct_matches(codec, KINDS["CRC32C"], shards, [0, 4])
    encode_matches(codec, T10, cauchy_shards(4, 2, 32768), Aligned)


@pytest.mark.parametrize(("code", "k", "m"), SHAPES)
def test_reconstruct(api: Api, isa: str, code: str, k: int, m: int) -> None:
    codec = api.create(code, k, m)
    assert codec.hint(STREAMING) == OK
    for length in (1, 64, 513, 2560):
        for missing in losses(codec):
            reconstruct_matches(codec, KINDS["CRC32C"], stripe(code, k, m, length), missing)


def test_packets(api: Api, isa: str) -> None:
    """In packet layout parities and checksums take a pass each; the parities are those of gfsmith_encode."""
    codec = api.create("cauchy", 4, 2)
    assert codec.packets(16) == OK
    shards = cauchy_shards(4, 2, 1024).copy()
    arena = Arena(shards)
    assert codec.encode(1024, arena.pointers(range(4)), arena.pointers(range(4, 6))) == OK
    shards = np.stack([arena.shard(i) for i in range(6)])
    encode_matches(codec, KINDS["CRC32"], shards)
    check_matches(codec, KINDS["CRC32"], shards)
    reconstruct_matches(codec, KINDS["CRC32"], shards, [1, 5])
    states = numbers([0] * 6)
    assert encode(codec, KINDS["CRC32"], 1000, arena, states) == EINVAL
    assert list(states) == [0] * 6


def test_pieces_continue(api: Api, isa: str) -> None:
    """Calls for consecutive pieces of the shards give the checksums of whole shards."""
    codec, kind = api.create("cauchy", 10, 4), KINDS["CRC64_NVME"]
    assert codec.hint(STREAMING) == OK
    shards = cauchy_shards(10, 4, 5001)
    states = numbers([0] * 14)
    scrubbed = numbers([0] * 14)
    for start, end in ((0, 0), (0, 5), (5, 69), (69, 3000), (3000, 5001)):
        arena = Arena(shards[:, start:end].copy())
        assert encode(codec, kind, end - start, arena, states) == OK
        assert check(codec, kind, end - start, arena, scrubbed) == (OK, 1)
    assert list(states) == list(scrubbed) == oracle(kind, shards)


def encode_stripes(
    codec: Codec, kind: int, length: int, count: int, data: object, parity: object, states: object
) -> int:
    args = (codec.handle, kind, ctypes.c_size_t(length), ctypes.c_size_t(count), data, parity, states)
    return int(codec.api.lib.gfsmith_encode_stripes_checksums(*args))


def batch(codec: Codec, stripes: list[Bytes]) -> tuple[list[Aligned], object, object]:
    """Return stripes with other parities, and the pointers of their data and parities."""
    k, n = codec.k, codec.k + codec.m
    arenas = []
    for shards in stripes:
        before = shards.copy()
        before[k:] = 0x3C
        arenas.append(Aligned(before))
    places = [
        [pointer for arena in arenas for pointer in arena.pointers(part)] for part in (range(k), range(k, n))
    ]
    data, parity = ((ctypes.c_void_p * len(listed))(*listed) for listed in places)
    return arenas, data, parity


@pytest.mark.parametrize(("code", "k", "m"), SHAPES)
@pytest.mark.parametrize("hint", (AUTO, STREAMING))
def test_batches(api: Api, isa: str, code: str, k: int, m: int, hint: int) -> None:
    """Every stripe has its own parities and states, which continue."""
    codec, count = api.create(code, k, m), 3
    assert codec.hint(hint) == OK
    for kind, length in ((KINDS["CRC32C"], 1), (KINDS["CRC32C"], 1600), (T10, 1024), (KINDS["CRC32"], 5001)):
        stripes = [np.roll(stripe(code, k, m, length), shift, axis=1) for shift in range(count)]
        start = [n * 40503 % 65536 for n in range(count * (k + m))]
        states = numbers(start)
        arenas, data, parity = batch(codec, stripes)
        assert encode_stripes(codec, kind, length, count, data, parity, states) == OK
        for n, (arena, shards) in enumerate(zip(arenas, stripes, strict=True)):
            arena.expect(shards)
            own = slice(n * (k + m), (n + 1) * (k + m))
            assert list(states)[own] == oracle(kind, shards, start[own])


def test_arguments_of_a_batch(api: Api) -> None:
    """A call that fails writes nothing, also if only its last stripe is wrong."""
    codec = api.create("cauchy", 4, 2)
    stripes = [cauchy_shards(4, 2, 1024)] * 2
    arenas, data, parity = batch(codec, stripes)
    states, wide = numbers(range(12)), numbers([*range(11), 1 << 32])
    holes = [type(places)(*list(places)[:-1], None) for places in (data, parity)]
    for args in (
        *((-1, 1024, 2, data, parity, states), (6, 1024, 2, data, parity, states)),
        *((6, 1024, 0, None, None, None), (0, 1024, 2, data, parity, wide)),
        *((0, 1024, 2, None, parity, states), (0, 1024, 2, data, None, states)),
        *((0, 1024, 2, data, parity, None), (0, 1024, 2, holes[0], parity, states)),
        *((0, 1024, 2, data, holes[1], states), (T10, 1000, 2, data, parity, states)),
    ):
        assert encode_stripes(codec, *args) == EINVAL
    lib, size = api.lib, ctypes.c_size_t(1024)
    assert (
        lib.gfsmith_encode_stripes_checksums(None, 0, size, ctypes.c_size_t(2), data, parity, states)
        == EINVAL
    )
    assert encode_stripes(codec, 0, 0, 2, None, None, None) == OK
    assert encode_stripes(codec, 0, 1024, 0, None, None, None) == OK
    packets = api.create("cauchy", 4, 2)
    assert packets.packets(16) == OK
    assert encode_stripes(packets, 0, 1000, 2, data, parity, states) == EINVAL
    assert list(states) == list(range(12))
    for arena in arenas:
        assert (arena.shard(4) == 0x3C).all() and (arena.shard(5) == 0x3C).all()


def test_nothing_is_lost(api: Api) -> None:
    """Without a missing shard nothing is read or written."""
    codec = api.create("cauchy", 4, 2)
    arena, states = Arena(cauchy_shards(4, 2, 100)), numbers(range(6))
    wrong = (ctypes.c_bool * 6)(*[True] * 6)
    assert reconstruct(codec, 0, 100, arena, [], states, numbers([7] * 6), wrong) == OK
    assert list(states) == list(range(6)) and not any(wrong)


def test_arguments(api: Api, isa: str) -> None:
    """A call that fails writes nothing; a call of size 0 needs no arrays."""
    codec, lib = api.create("cauchy", 4, 2), api.lib
    contents = cauchy_shards(4, 2, 1024).copy()
    contents[4:] = 0x3C
    arena, states = Arena(contents), numbers(range(6))
    wide = numbers([0, 0, 0, 0, 0, 1 << 32])
    size, none, data = ctypes.c_size_t(1024), ctypes.c_size_t(0), arena.pointers(range(4))
    parity, all_, lost = arena.pointers(range(4, 6)), arena.pointers(), codec.present([1])
    ok, wrong = ctypes.c_uint8(0x55), (ctypes.c_uint8 * 6)(*[0x55] * 6)
    handle, flag = codec.handle, ctypes.byref(ok)
    for kind, length, given in ((-1, size, states), (6, size, states), (0, size, None), (0, size, wide)):
        assert lib.gfsmith_encode_checksums(handle, kind, length, data, parity, given) == EINVAL
        assert lib.gfsmith_check_checksums(handle, kind, length, all_, given, flag) == EINVAL
        args = (handle, kind, length, all_, lost, None, given, states, wrong)
        assert lib.gfsmith_reconstruct_checksums(*args) == EINVAL
    for length in (1, 511, 1000):
        assert encode(codec, T10, length, arena, states) == EINVAL
        assert check(codec, T10, length, arena, states) == (EINVAL, 0x55)
        assert reconstruct(codec, T10, length, arena, [1], states, states, wrong) == EINVAL
    for place in range(4):
        holes = arena.pointers(-1 if i == place else i for i in range(4))
        assert lib.gfsmith_encode_checksums(handle, 0, size, holes, parity, states) == EINVAL
    hole = arena.pointers((4, -1))
    for args in ((None, parity), (data, None), (data, hole)):
        assert lib.gfsmith_encode_checksums(handle, 0, size, *args, states) == EINVAL
    assert lib.gfsmith_encode_checksums(None, 0, size, data, parity, states) == EINVAL
    for shards, at in ((None, flag), (arena.pointers([0, 1, -1, 3, 4, 5]), flag), (all_, None)):
        assert lib.gfsmith_check_checksums(handle, 0, size, shards, states, at) == EINVAL
    assert lib.gfsmith_check_checksums(None, 0, size, all_, states, flag) == EINVAL
    for shards, present, expected, flags in (
        (None, lost, None, None),
        (all_, None, None, None),
        (all_, lost, states, None),
        (arena.pointers([0, -1, 2, 3, 4, 5]), lost, states, wrong),
        (arena.pointers([-1, 1, 2, 3, 4, 5]), lost, states, wrong),
    ):
        args = (handle, 0, size, shards, present, None, states, expected, flags)
        assert lib.gfsmith_reconstruct_checksums(*args) == EINVAL
    assert reconstruct(codec, 0, 1024, arena, [0, 1, 2], states, states, wrong) == ETOOMANY
    singular = api.create_matrix(np.ones((2, 4), dtype=np.uint8))
    assert reconstruct(singular, 0, 1024, arena, [0, 1], states, states, wrong) == ESINGULAR
    assert list(states) == list(range(6)) and ok.value == 0x55 and set(wrong) == {0x55}
    arena.expect(contents)
    assert lib.gfsmith_encode_checksums(handle, T10, none, None, None, None) == OK
    assert lib.gfsmith_encode_checksums(handle, 6, none, None, None, None) == EINVAL
    assert lib.gfsmith_check_checksums(handle, 0, none, None, None, None) == OK
    assert lib.gfsmith_check_checksums(handle, 0, none, None, None, flag) == OK and ok.value == 1
    assert lib.gfsmith_reconstruct_checksums(handle, 0, none, None, lost, None, None, None, None) == OK


#: Errors beside the loop that encodes and folds.
FUSED = (
    Mutant("shards->crc->order != GFS_CRC_REFLECTED", "false"),
    Mutant("(uintptr_t)(w->checked->src[j] + s->start)", "(uintptr_t)w->checked->src[j]"),
    Mutant("w->checked->dst[i] + s->start", "w->checked->dst[i]"),
    Mutant("run_pass(w, s, &w->map->pass[n], $shards);", ";", within="run_steps"),
    Mutant("s->start + s->len == w->len", "false"),
    Mutant("inputs + pass->outputs", "inputs", within="run_steps"),
    Mutant("2 - lines % 2", "1"),
    Mutant("run_piece(w, &rest);", ";"),
    Mutant("run_piece(w, &first);", ";"),
    Mutant("shard < shards->stepped && gfs_crc_encode_steps(shard)", "gfs_crc_encode_steps(shard)"),
    Mutant("shard < shards->stepped && gfs_crc_encode_steps(shard)", "false"),
    Mutant("inputs / GFS_CRC_ENCODED_GROUP * GFS_CRC_ENCODED_GROUP", "inputs"),
    Mutant("steps_of(shards)(state, row->len, row->data[n])", "state"),
    Mutant(
        "steps_of(shards)(gfs_crc_word_reflected(message), tail, data)", "gfs_crc_word_reflected(message)"
    ),
)

SOURCES = [
    ROOT / "runtime/core/src" / name for name in ("crc_shards.c", "checksummed.c", "checksums.c", "batch.c")
]
MUTANTS = (
    Mutant("kind == GFSMITH_CRC16_T10 && len % GFS_T10_SECTOR != 0", "false"),
    Mutant("!gfs_crc_is_checksum(crc, states[n])", "false"),
    Mutant("states[index != NULL ? index[n] : first + n]", "states[first + n]"),
    Mutant("memcpy(shards->message[shard], row->data[n], GFS_CRC_LINE);", ";"),
    Mutant("gfs_stream_copy(row->copy[n], row->data[n], GFS_CRC_LINE);", ";"),
    Mutant("fold_row(shards, &rest, lines - 1);", "fold_row(shards, &rest, lines);"),
    Mutant("row->data[n] + GFS_CRC_LINE", "row->data[n]"),
    Mutant("row->copy[n] + GFS_CRC_LINE", "row->copy[n]"),
    Mutant("gfs_crc_start(shards->crc, state, row->data[n], shards->message[shard]);", ";"),
    Mutant("lines + GFS_CRC_LINE - tail", "lines + tail"),
    Mutant("row->data[n] + row->len - tail", "row->data[n]"),
    Mutant("set->fold_line[crc->order](crc, lines, 1, 1, &second, 0);", ";"),
    Mutant("row->start == 0", "false"),
    Mutant("row->start + row->len == shards->len", "false"),
    Mutant("w->checked->stored[pass->first + i] + row->start", "w->checked->stored[i] + row->start"),
    Mutant("memcmp(row->data[i], stored[i], row->len) == 0 && w->equal", "true"),
    Mutant("row->data = stored;", ";"),
    Mutant("places[pass->first + i] + s->start", "places[i] + s->start"),
    Mutant("s->buffer + i * s->len", "s->buffer"),
    Mutant("w->map->inputs + pass->first", "w->map->inputs"),
    Mutant("row.copy = copy;", ";"),
    Mutant("w->checked->src[j] + s->start", "w->checked->src[j]", within="run_piece"),
    Mutant("states[shard] != expected[shard]", "false"),
    Mutant("memset(wrong, 0, $size)", "(void)wrong"),
    Mutant("gfs_crc_shards_update(sums, codec->k, codec->m, $parity);", ";"),
    Mutant("states += shards", "states += 1", within="gfsmith_encode_stripes_checksums"),
    Mutant("count * shards", "shards", within="gfsmith_encode_stripes_checksums"),
    Mutant("data += codec->k", "data", within="gfsmith_encode_stripes_checksums"),
    Mutant("gfs_crc_shards_update(sums, plan->read.count, plan->target.count, $targets);", ";"),
    Mutant("gfs_crc_shards_update(&sums, 0, codec->k + codec->m, shards);", ";"),
)


@pytest.mark.parametrize("mutant", share(MUTANTS, 2), ids=str)
def test_the_tests_detect_the_error(mutant: Mutant, compiler: Compiler) -> None:
    api = Api(compiler.library_with_error(mutant, SOURCES))
    codec = api.create("cauchy", 4, 2)
    several = api.create("cauchy", 4, 12)
    packets = api.create("cauchy", 4, 2)
    assert codec.hint(STREAMING) == several.hint(STREAMING) == packets.packets(16) == OK
    with pytest.raises(AssertionError):
        for length in (1, 576, *LONG):
            encode_matches(codec, KINDS["CRC32C"], cauchy_shards(4, 2, length), Aligned)
            check_matches(codec, KINDS["CRC32C"], cauchy_shards(4, 2, length))
        encode_matches(several, KINDS["CRC32C"], cauchy_shards(4, 12, 700))
        check_matches(several, KINDS["CRC32C"], cauchy_shards(4, 12, 700))
        reconstruct_matches(codec, KINDS["CRC32C"], cauchy_shards(4, 2, 576), [0, 4])
        test_packets(api, api.isa())
        test_batches(api, api.isa(), "cauchy", 4, 2, STREAMING)
        test_arguments_of_a_batch(api)
        test_arguments(api, api.isa())
        test_nothing_is_lost(api)


@pytest.mark.parametrize("mutant", FUSED, ids=str)
def test_errors_beside_the_loop_are_detected(mutant: Mutant, compiler: Compiler) -> None:
    """On a CPU that has the loop."""
    if not {"avx512_vbmi2", "gfni", "vpclmulqdq"} <= cpu_flags():
        pytest.skip("the CPU has no loop that encodes and folds")
    api = Api(compiler.library_with_error(mutant, SOURCES))
    with pytest.raises(AssertionError):
        for code, k, m in (("cauchy", 10, 4), ("cauchy", 10, 6), ("vandermonde", 5, 3)):
            codec = api.create(code, k, m)
            assert codec.hint(STREAMING) == OK
            for kind, length in ((KINDS["CRC32C"], 4161), (KINDS["CRC64_ISO"], 4096), (T10, 4096)):
                encode_matches(codec, kind, stripe(code, k, m, length), Aligned)
