"""The sketches of gfsmith_checksum.h on every set of this CPU, against their definition
(tests/oracle/sketch.py); the errors that they always find; sketches of parities; mutants."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest

from tests.oracle.sketch import LINE, ORDER, PRIMES, fields, sketch
from tests.support.compiler import Compiler
from tests.support.library import (
    EINVAL,
    INTACT,
    OK,
    POLYNOMIAL,
    Api,
    Arena,
    Bytes,
    Codec,
    random_matrix,
    rank,
)
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

SIZE = 8
ROW, STEP = 128, 4096  #: bytes of a row and of a call of the kernel
#: Around bytes, lines, rows and steps.
LENGTHS = (1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 1000, 4095, 4096, 4097, 4224, 8192 + 200)
#: Around lines and rows, and where every digit of a line's weight is used.
OFFSETS = (0, 1, 63, 64, 65, 127, 128, 5000, (0x01020304 << 6) + 9, (1 << 63) + 77)
POLYNOMIALS = (0x11D, 0x11B, 0x12B, 0x171, 0x187, 0x1F9)


class Sketch:
    """A gfsmith_sketch; destroyed with the object."""

    def __init__(self, api: Api, polynomial: int = POLYNOMIAL) -> None:
        self.lib, self.polynomial, self.handle = api.lib, polynomial, ctypes.c_void_p()
        self.lib.gfsmith_sketch_add.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_uint64,
            ctypes.c_size_t,
            ctypes.c_void_p,
        ]
        assert self.lib.gfsmith_sketch_create(ctypes.byref(self.handle), polynomial) == OK

    def __del__(self) -> None:
        self.lib.gfsmith_sketch_destroy(self.handle)

    def add(self, total: bytes, offset: int, data: Bytes) -> bytes:
        """Return the sum with the sketch of a piece; only the sum is written."""
        arena, out = Arena(data[None]), Arena(np.frombuffer(total, dtype=np.uint8)[None].copy())
        place = out.pointers()[0]
        assert self.lib.gfsmith_sketch_add(self.handle, place, offset, data.size, arena.pointers()[0]) == OK
        arena.expect(data[None])
        result = out.shard(0).copy()
        out.expect(result[None])
        return result.tobytes()

    def of(self, data: Bytes, offset: int = 0) -> bytes:
        return self.add(bytes(SIZE), offset, data)

    def rows(self, shards: Bytes) -> Bytes:
        """Return the sketch of every shard, SIZE bytes in a row."""
        return np.stack([np.frombuffer(self.of(shard), dtype=np.uint8) for shard in shards])


def drawn(length: int, seed: int) -> Bytes:
    return np.random.default_rng([length, seed]).integers(0, 256, length, dtype=np.uint8)


def matches(tables: Sketch, lengths: Iterable[int], offsets: Iterable[int]) -> None:
    for offset in offsets:
        for length in lengths:
            data = drawn(length, offset % 1000)
            assert tables.of(data, offset) == sketch(data, offset, tables.polynomial), (offset, length)


def test_every_length(api: Api, isa: str) -> None:
    tables = Sketch(api)
    matches(tables, (*range(1, 200), *LENGTHS), [0])
    matches(tables, LENGTHS, OFFSETS)


@pytest.mark.parametrize("polynomial", POLYNOMIALS, ids=hex)
def test_every_polynomial(api: Api, polynomial: int) -> None:
    matches(Sketch(api, polynomial), (1, 200, 5000), (0, 77 * LINE + 3))


def test_pieces_add_up(api: Api) -> None:
    """Pieces in any order, chained or combined by XOR, give the sketch of the whole; so does a change."""
    tables, data = Sketch(api), drawn(3 * STEP + 77, 1)
    whole = tables.of(data)
    cuts = [0, 1, 64, 64, 300, STEP, STEP + 5, 2 * STEP + 128, data.size]
    pieces = list(pairwise(cuts))
    total, apart = bytes(SIZE), np.zeros(SIZE, dtype=np.uint8)
    for first, last in pieces[::-1]:
        total = tables.add(total, first, data[first:last])
        apart ^= np.frombuffer(tables.of(data[first:last], first), dtype=np.uint8)
    assert total == whole == apart.tobytes()
    changed = data.copy()
    changed[500:700] = drawn(200, 2)
    assert tables.add(whole, 500, data[500:700] ^ changed[500:700]) == tables.of(changed)


def test_zeros_at_the_end(api: Api) -> None:
    """The documented limit: only bytes that are not zero have a weight."""
    data = drawn(1000, 3)
    assert Sketch(api).of(data) == Sketch(api).of(np.concatenate((data, np.zeros(500, dtype=np.uint8))))


@contextmanager
def codecs(api: Api) -> Iterator[list[tuple[str, Codec]]]:
    """Codecs of all families with shapes that they have."""
    shapes = {"raid6": (8, 2), "reed_sol_r6_op": (8, 2), "raidz": (9, 3), "snapraid": (7, 6), "zfec": (5, 3)}
    shapes |= {"plank_vandermonde": (6, 3), "vandermonde": (10, 4), "cauchy": (100, 20), "lch": (20, 8)}
    names = ("backblaze", "cauchy_orig", "cauchy_good", "reed_sol_van", "hdfs")
    named = [(name, api.create(name, *shapes.get(name, (10, 4)))) for name in (*shapes, *names)]
    yield [*named, ("lrc", api.create_lrc(12, 2, 2)), ("matrix", api.create_matrix(random_matrix(6, 3, 1)))]


def encoded(codec: Codec, data: Bytes) -> Bytes:
    """Return data and parities."""
    k, n, length = codec.k, codec.k + codec.m, data.shape[1]
    arena = Arena(np.concatenate((data, np.zeros((codec.m, length), dtype=np.uint8))))
    assert codec.encode(length, arena.pointers(range(k)), arena.pointers(range(k, n))) == OK
    return np.stack([arena.shard(i) for i in range(n)])


@pytest.mark.parametrize("length", [1, 100, 5000])
def test_sketches_of_parities(api: Api, length: int) -> None:
    """For every code the sketches of a stripe are a stripe of the same code; a wrong shard is located by
    its sketch, and the sketch of a lost shard is rebuilt."""
    tables = Sketch(api)
    with codecs(api) as listed:
        for name, codec in listed:
            shards = encoded(codec, np.stack([drawn(length, seed) for seed in range(codec.k)]))
            rows = tables.rows(shards)
            assert np.array_equal(encoded(codec, rows[: codec.k]), rows), name
            shards[codec.k - 1, length // 2] ^= 0x41
            damaged = Arena(tables.rows(shards))
            assert codec.check(SIZE, damaged.pointers()) == (OK, False), name
            assert codec.reconstruct(SIZE, damaged.pointers(), [codec.k - 1]) == OK
            damaged.expect(rows)


def test_a_wrong_shard_is_located(api: Api) -> None:
    tables, codec = Sketch(api), api.create("cauchy", 10, 4)
    shards = encoded(codec, np.stack([drawn(5000, seed) for seed in range(10)]))
    for wrong in (None, 0, 9, 12):
        damaged = shards.copy()
        if wrong is not None:
            damaged[wrong, 1234] ^= 1
        arena = Arena(tables.rows(damaged))
        status, _, located = codec.locate(SIZE, arena.pointers())
        assert status == OK
        assert set(located) - {INTACT} == (set() if wrong is None else {wrong})


def test_another_polynomial(api: Api) -> None:
    """A codec over another field needs the sketch of that field."""
    codec = api.create_matrix(random_matrix(4, 2, 2), 0x11B)
    shards = encoded(codec, np.stack([drawn(300, seed) for seed in range(4)]))
    for polynomial, equal in ((0x11B, True), (POLYNOMIAL, False)):
        rows = Sketch(api, polynomial).rows(shards)
        assert np.array_equal(encoded(codec, rows[:4]), rows) == equal


def test_packet_layout(api: Api) -> None:
    """In packet layout each packet of a region has a sketch, and the eight are packets of SIZE bytes."""
    packet, tables = 48, Sketch(api)
    codec, small = api.create("cauchy", 4, 2), api.create("cauchy", 4, 2)
    assert codec.packets(packet) == small.packets(SIZE) == OK
    shards = encoded(codec, np.stack([drawn(8 * packet * 5, seed) for seed in range(4)]))
    split = shards.reshape(6, 5, 8, packet).transpose(0, 2, 1, 3).reshape(6, 8, 5 * packet)
    rows = np.stack([tables.rows(packets).reshape(-1) for packets in split])
    assert np.array_equal(encoded(small, rows[:4]), rows)


def test_every_single_byte(api: Api) -> None:
    """Every error of one byte, at every place, changes the sketch."""
    tables = Sketch(api)
    for offset in (*range(2 * ROW), STEP - 1, STEP, 123456):
        found = {tables.of(np.array([value], dtype=np.uint8), offset) for value in range(256)}
        assert len(found) == 256


def test_always_found() -> None:
    """The statements of docs/checksums.md: y has the greatest order; no power of z in a line is
    in K, so no weight is a multiple of another one in a shard below 1 GiB; and the weights of consecutive
    bytes are independent, 8 for 0x11d, else 7."""
    for polynomial in POLYNOMIALS:
        chosen = fields(polynomial)
        assert chosen.is_primitive()
        powers = chosen.line(np.array([1, 0, 0, 0], dtype=np.uint8))
        assert powers[1:, 4:].any(axis=1).all()
        run = 8 if polynomial == POLYNOMIAL else 7
        weights = chosen.weights(0, LINE + run)
        assert all(rank(weights[at : at + run].tolist(), polynomial) == run for at in range(LINE))
    assert np.prod(np.array(PRIMES, dtype=object)) == ORDER
    assert ORDER // 255 * LINE > 1 << 30


def test_two_bytes_a_gibibyte_apart() -> None:
    """The first distance at which the weights of two bytes are multiples of each other."""
    chosen, distance = fields(), ORDER // 255
    assert not chosen.power(distance)[1:].any()
    assert all(chosen.power(distance // prime)[1:].any() for prime in PRIMES if distance % prime == 0)


def test_exchanged_rows(api: Api) -> None:
    tables, data = Sketch(api), drawn(4 * STEP, 4)
    whole = tables.of(data)
    for size in (1, LINE, ROW, 512, STEP):
        for first, second in ((0, 1), (0, 3), (1, 2)):
            rows = data.reshape(-1, size).copy()
            rows[[first, second]] = rows[[second, first]]
            assert tables.of(rows.reshape(-1)) != whole


def test_chance(api: Api) -> None:
    """Of 20,000 random errors in one column of lines none is missed."""
    tables, generator = Sketch(api), np.random.default_rng(5)
    for _ in range(20000 // 64):
        found = set()
        for _ in range(64):
            error = np.zeros(1024, dtype=np.uint8)
            error[7::LINE] = generator.integers(0, 256, 16)
            found.add(tables.of(error))
        assert len(found) == 64 and bytes(SIZE) not in found


def test_arguments(api: Api) -> None:
    """A call that fails writes nothing; a call of size 0 needs no arrays."""
    lib, handle = api.lib, ctypes.c_void_p(1)
    for polynomial in (0, 1, 0x1D, 0x11C, 0x100, 0x21D, 0xFFFFFFFF):
        handle.value = 1
        assert lib.gfsmith_sketch_create(ctypes.byref(handle), ctypes.c_uint(polynomial)) == EINVAL
        assert handle.value is None
    assert lib.gfsmith_sketch_create(None, POLYNOMIAL) == EINVAL
    lib.gfsmith_sketch_destroy(None)
    tables, data, total = Sketch(api), drawn(64, 6), (ctypes.c_uint8 * SIZE)(*[0x5A] * SIZE)
    place = data.ctypes.data_as(ctypes.c_void_p)
    end = 2**64 - 64
    for given in (
        (None, total, 0, 64, place),
        (tables.handle, None, 0, 64, place),
        (tables.handle, total, 0, 64, None),
        (tables.handle, total, end, 64, place),
        (tables.handle, total, 2**64 - 1, 1, place),
        (None, total, 0, 0, place),
    ):
        assert lib.gfsmith_sketch_add(*given) == EINVAL
    assert bytes(total) == b"\x5a" * SIZE
    assert lib.gfsmith_sketch_add(tables.handle, None, 2**64 - 1, 0, None) == OK
    assert lib.gfsmith_sketch_add(tables.handle, total, 0, 0, None) == OK
    assert bytes(total) == b"\x5a" * SIZE
    assert lib.gfsmith_sketch_add(tables.handle, total, end - 1, 64, place) == OK


SOURCES = [ROOT / "runtime/core/src/sketch.c"]
MUTANTS = (
    Mutant("trace_of(&s->field, (uint8_t)t) == 0", "trace_of(&s->field, (uint8_t)t) == 1"),
    Mutant("power_of_y(s, SKETCH_UNITS / primes[n]) != 1", "true"),
    Mutant("power_of_y(s, SKETCH_UNITS) == 1", "true"),
    Mutant("base = product_of(s, s->powers[i][255], base);", ";"),
    Mutant("power_of_y(s, SKETCH_UNITS - 1)", "power_of_y(s, 1)"),
    Mutant("is_row ? 0 : n", "0"),
    Mutant("is_row ? SKETCH_INPUTS - 1 - n : SKETCH_ROWS", "is_row ? n : SKETCH_ROWS"),
    Mutant("rest >= SKETCH_ROW ? data + len - SKETCH_ROW : data", "data"),
    Mutant("memset(r->ends[0], 0, SKETCH_ROW);", "memset(r->ends[0], 1, SKETCH_ROW);"),
    Mutant("memset(r->ends[1], 0, SKETCH_ROW);", "memset(r->ends[1], 1, SKETCH_ROW);"),
    Mutant("r->ends[0] + skip", "r->ends[0]"),
    Mutant("data + len - tail", "data"),
    Mutant("size_t n = first == 0;", "size_t n = 0;"),
    Mutant("rows[count - 1] = r->last;", ";"),
    Mutant("src[SKETCH_DEGREE + n - count] = zeros;", "src[SKETCH_DEGREE + n - count] = r->first;"),
    Mutant("before = after;", ";"),
    Mutant("(uint64_t)columns[b] << 8", "(uint64_t)columns[b]"),
    Mutant("z ^= one;", ";"),
    Mutant("z << 8", "z << 16"),
    Mutant("value[1] = reduce(s, z);", "value[1] = (uint32_t)z;"),
    Mutant("line % SKETCH_UNITS", "line"),
    Mutant("end * SKETCH_PARTS - 1", "end * SKETCH_PARTS"),
    Mutant("len > UINT64_MAX - offset", "false"),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_tests_detect_the_error(mutant: Mutant, compiler: Compiler) -> None:
    api = Api(compiler.library_with_error(mutant, SOURCES))
    with pytest.raises(AssertionError):
        for polynomial in (POLYNOMIAL, 0x11B, 0x171):
            matches(Sketch(api, polynomial), LENGTHS, OFFSETS)
        test_arguments(api)
