"""encode, update and check against the reference, on every instruction set this CPU has."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.support.compiler import Compiler
from tests.support.library import (
    EINVAL,
    OK,
    SHAPES,
    STREAMING,
    Api,
    Arena,
    Codec,
    cauchy,
    cauchy_shards,
    encode,
    lengths,
    random_matrix,
    shards_of,
    vandermonde,
)
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

POLYNOMIALS = (0x11B, 0x11D, 0x12B, 0x12D, 0x14D, 0x165, 0x187, 0x1F5)


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_encode(api: Api, isa: str, k: int, m: int) -> None:
    codec = api.create("cauchy", k, m)
    for length in lengths(k, m):
        expected = cauchy_shards(k, m, length)
        before = expected.copy()
        before[k:] = 0x3C
        arena = Arena(before)
        status = codec.encode(length, arena.pointers(range(k)), arena.pointers(range(k, k + m)))
        assert status == OK
        arena.expect(expected)


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_check(api: Api, isa: str, k: int, m: int) -> None:
    codec = api.create("cauchy", k, m)
    rng = np.random.default_rng(7)
    for length in lengths(k, m):
        shards = cauchy_shards(k, m, length)
        arena = Arena(shards)
        assert codec.check(length, arena.pointers()) == (OK, True)
        if length == 0:
            continue
        # Change one bit: in the first and last shard, the first and last byte, and at random places.
        spots = [(0, 0), (k + m - 1, length - 1), (k, length - 1)]
        spots += [(int(rng.integers(k + m)), int(rng.integers(length))) for _ in range(3)]
        for shard, position in spots:
            arena.shard(shard)[position] ^= 0x10
            assert codec.check(length, arena.pointers()) == (OK, False), (length, shard, position)
            arena.shard(shard)[position] ^= 0x10
        arena.expect(shards)


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_update(api: Api, isa: str, k: int, m: int) -> None:
    codec = api.create("cauchy", k, m)
    rng = np.random.default_rng(8)
    for length in lengths(k, m):
        shards = cauchy_shards(k, m, length)
        for index in {0, k // 2, k - 1}:
            delta = rng.integers(0, 256, (1, length), dtype=np.uint8)
            expected = shards.copy()
            expected[index] ^= delta[0]
            expected[k:] ^= encode(cauchy(k, m)[:, index : index + 1], delta)
            arena, change = Arena(shards), Arena(delta)
            arena.shard(index)[:] ^= delta[0]
            parity = arena.pointers(range(k, k + m))
            assert codec.update(length, index, change.pointers()[0], parity) == OK
            arena.expect(expected)
            change.expect(delta)
            assert codec.check(length, arena.pointers()) == (OK, True)


@pytest.mark.parametrize(("k", "m"), [(1, 1), (2, 11)])
def test_check_covers_every_byte(api: Api, k: int, m: int) -> None:
    """A change at each position in turn, over several of the pieces that check processes."""
    every_byte_counts(api.create("cauchy", k, m), 35000)


def every_byte_counts(codec: Codec, length: int) -> None:
    n = codec.k + codec.m
    arena = Arena(cauchy_shards(codec.k, codec.m, length))
    shards, last = arena.pointers(), arena.shard(n - 1)
    for position in range(length):
        last[position] ^= 1
        assert codec.check(length, shards) == (OK, False), position
        last[position] ^= 1
    assert codec.check(length, shards) == (OK, True)


@pytest.mark.parametrize(("k", "m"), [(1, 1), (6, 3), (10, 10), (100, 20)])
def test_check_in_memory_covers_every_byte(api: Api, k: int, m: int) -> None:
    """In the shorter pieces of shards in memory."""
    codec = api.create("cauchy", k, m)
    assert codec.hint(STREAMING) == OK
    every_byte_counts(codec, 1100)


CHECKED = (
    Mutant("parity[i] + offset", "parity[i]"),
    Mutant("c->shards[j] + offset", "c->shards[j]", within="part_matches"),
    Mutant("memcmp(dst[i], parity[i] + offset, len) != 0", "false"),
    Mutant("done < len", "done < GFS_CHECK_AHEAD", within="gfs_check_part"),
    Mutant("done += part;", "done += part + 1;"),
)


@pytest.mark.parametrize("mutant", CHECKED, ids=str)
def test_errors_of_a_check_are_detected(mutant: Mutant, compiler: Compiler) -> None:
    api = Api(compiler.library_with_error(mutant, [ROOT / "runtime/core/src/encode.c"]))
    codec = api.create("cauchy", 6, 3)
    assert codec.hint(STREAMING) == OK
    with pytest.raises(AssertionError):
        every_byte_counts(codec, 1100)


def test_update_index_out_of_range(api: Api) -> None:
    codec = api.create("cauchy", 4, 2)
    shards = shards_of(cauchy(4, 2), 100, seed=1)
    arena = Arena(shards)
    for index in (4, 5, 2**32 - 1):
        status = codec.update(100, index, arena.pointers()[0], arena.pointers((4, 5)))
        assert status == EINVAL
        assert codec.update(0, index, None, None) == EINVAL
    arena.expect(shards)


@pytest.mark.parametrize("polynomial", POLYNOMIALS)
@pytest.mark.parametrize(("k", "m"), [(5, 3), (10, 4), (3, 11)])
def test_any_matrix_and_polynomial(api: Api, isa: str, k: int, m: int, polynomial: int) -> None:
    matrix = random_matrix(k, m, seed=polynomial)
    matrix[0] = 1  # an XOR row
    matrix[m - 1, : k // 2] = 0
    codec = api.create_matrix(matrix, polynomial)
    expected = shards_of(matrix, 777, seed=k, polynomial=polynomial)
    before = expected.copy()
    before[k:] = 0
    arena = Arena(before)
    assert codec.encode(777, arena.pointers(range(k)), arena.pointers(range(k, k + m))) == OK
    arena.expect(expected)


@pytest.mark.parametrize("row", [0, 1, 0x53], ids=["zero", "one", "constant"])
@pytest.mark.parametrize("k", [1, 2, 3, 10, 33])
def test_rows_of_one_value(api: Api, isa: str, k: int, row: int) -> None:
    """Single parities of equal coefficients, XOR among them, may use special kernels."""
    matrix = np.full((1, k), row, dtype=np.uint8)
    codec = api.create_matrix(matrix)
    expected = shards_of(matrix, 2000, seed=k)
    before = expected.copy()
    before[k:] = 0xFF
    arena = Arena(before)
    assert codec.encode(2000, arena.pointers(range(k)), arena.pointers([k])) == OK
    arena.expect(expected)


def test_every_number_of_outputs(api: Api, isa: str) -> None:
    """1 to 40 parities cover every way in which outputs are split into groups."""
    for m in range(1, 41):
        expected = cauchy_shards(6, m, 131)
        before = expected.copy()
        before[6:] = 0
        arena = Arena(before)
        codec = api.create("cauchy", 6, m)
        assert codec.encode(131, arena.pointers(range(6)), arena.pointers(range(6, 6 + m))) == OK
        arena.expect(expected)


def test_every_short_length(api: Api, isa: str) -> None:
    """Each length up to a few vectors, over several groups."""
    k, m, longest = 9, 11, 330
    codec = api.create("cauchy", k, m)
    everything = cauchy_shards(k, m, longest)
    for length in range(longest):
        expected = everything[:, :length]
        before = expected.copy()
        before[k:] = 0x77
        arena = Arena(before)
        status = codec.encode(length, arena.pointers(range(k)), arena.pointers(range(k, k + m)))
        assert status == OK
        arena.expect(expected)


def test_lengths_around_chunks(api: Api, isa: str) -> None:
    """Several groups work chunk by chunk: lengths at and next to multiples of every chunk size."""
    k, m = 100, 20
    codec = api.create("cauchy", k, m)
    longest = 8192 + 1
    everything = cauchy_shards(k, m, longest)
    for multiple in range(1024, 8193, 512):
        for length in (multiple - 1, multiple, multiple + 1):
            expected = everything[:, :length]
            before = expected.copy()
            before[k:] = 0
            arena = Arena(before)
            shards = arena.pointers()
            parity = arena.pointers(range(k, k + m))
            assert codec.encode(length, shards, parity) == OK
            arena.expect(expected)
            assert codec.check(length, shards) == (OK, True)


def test_same_source_twice(api: Api, isa: str) -> None:
    """Inputs are only read, so the pointers may coincide."""
    codec = api.create("vandermonde", 4, 2)
    data = np.random.default_rng(3).integers(0, 256, (1, 500), dtype=np.uint8)
    expected = encode(vandermonde(4, 2), np.repeat(data, 4, axis=0))
    source, target = Arena(data), Arena(np.zeros((2, 500), dtype=np.uint8))
    assert codec.encode(500, source.pointers([0, 0, 0, 0]), target.pointers()) == OK
    target.expect(expected)


def test_codec_keeps_its_instruction_set(api: Api, isa: str) -> None:
    """A codec created under one choice works after the choice has changed."""
    codec = api.create("cauchy", 10, 4)
    assert api.set_isa("scalar") == OK
    expected = cauchy_shards(10, 4, 1000)
    before = expected.copy()
    before[10:] = 0
    before[3] = 0
    arena = Arena(expected)
    for lost in (0, 12):
        arena.shard(lost)[:] = 0
    assert codec.reconstruct(1000, arena.pointers(), [0, 12]) == OK
    arena.expect(expected)
    for i in range(10, 14):
        arena.shard(i)[:] = 0
    assert codec.encode(1000, arena.pointers(range(10)), arena.pointers(range(10, 14))) == OK
    arena.expect(expected)


def test_large_shards(api: Api) -> None:
    """Larger than all caches: 3 MB and a bit per shard, several groups."""
    k, m, length = 3, 9, 3_000_017
    expected = shards_of(cauchy(k, m), length, seed=5)
    before = expected.copy()
    before[k:] = 0
    arena = Arena(before)
    codec = api.create("cauchy", k, m)
    parity = arena.pointers(range(k, k + m))
    assert codec.encode(length, arena.pointers(range(k)), parity) == OK
    arena.expect(expected)
    delta = ctypes.create_string_buffer(length)
    assert codec.update(length, 2, ctypes.addressof(delta), parity) == OK
    arena.expect(expected)
