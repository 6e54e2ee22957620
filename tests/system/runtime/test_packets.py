"""Packet layout: the same bytes as Jerasure's bit matrices and schedules, and every call of a codec."""

from __future__ import annotations

import ctypes
import itertools
import random

import numpy as np
import pytest

from tests.support.library import (
    EINVAL,
    ESINGULAR,
    ETOOMANY,
    OK,
    Api,
    Arena,
    Bytes,
    Codec,
    products,
    random_matrix,
)
from tests.system.runtime.test_peers import load

SHAPES = [(1, 1), (4, 2), (6, 3), (10, 4), (12, 4), (3, 5), (17, 3)]
PACKETS = (8, 40, 64, 512, 1048)
REGIONS = 3
INT_POINTER = ctypes.POINTER(ctypes.c_int)


@pytest.fixture(scope="module")
def jerasure() -> ctypes.CDLL:
    library = load("Jerasure")
    for name in ("cauchy_original_coding_matrix", "cauchy_good_general_coding_matrix"):
        getattr(library, name).restype = INT_POINTER
    library.jerasure_matrix_to_bitmatrix.restype = INT_POINTER
    library.jerasure_smart_bitmatrix_to_schedule.restype = ctypes.c_void_p
    library.jerasure_free_schedule.argtypes = [ctypes.c_void_p]
    return library


def jerasure_matrix(jerasure: ctypes.CDLL, generator: str, k: int, m: int) -> Bytes:
    found = getattr(jerasure, generator)(k, m, 8)
    return np.ctypeslib.as_array(found, (m, k)).astype(np.uint8)


class Buffers:
    """Shards as Jerasure requires them: whole words, all equally aligned."""

    def __init__(self, contents: Bytes) -> None:
        count, size = contents.shape
        self.memory = np.zeros((count, (size + 15) // 16 * 2), dtype=np.uint64)
        self.shards = self.memory.view(np.uint8)[:, :size]
        self.shards[:] = contents

    def pointers(self, indices: range) -> ctypes.Array[ctypes.c_void_p]:
        return (ctypes.c_void_p * len(indices))(*(self.shards[i].ctypes.data for i in indices))


class Reference:
    """Jerasure on one matrix: its bit matrix, its smart schedule and its decoder."""

    def __init__(self, jerasure: ctypes.CDLL, matrix: Bytes, packet: int) -> None:
        self.lib, self.packet = jerasure, packet
        self.m, self.k = matrix.shape
        elements = np.ascontiguousarray(matrix, dtype=np.intc)
        self.bits = jerasure.jerasure_matrix_to_bitmatrix(
            self.k, self.m, 8, elements.ctypes.data_as(INT_POINTER)
        )

    def encode(self, data: Bytes, scheduled: bool) -> Bytes:
        k, m, size = self.k, self.m, data.shape[1]
        buffers = Buffers(np.concatenate([data, np.zeros((m, size), dtype=np.uint8)]))
        shards = (buffers.pointers(range(k)), buffers.pointers(range(k, k + m)), size, self.packet)
        if scheduled:
            schedule = self.lib.jerasure_smart_bitmatrix_to_schedule(k, m, 8, self.bits)
            self.lib.jerasure_schedule_encode(k, m, 8, ctypes.c_void_p(schedule), *shards)
            self.lib.jerasure_free_schedule(schedule)
        else:
            self.lib.jerasure_bitmatrix_encode(k, m, 8, self.bits, *shards)
        return buffers.shards.copy()

    def decode(self, shards: Bytes, missing: list[int]) -> Bytes:
        k, m = self.k, self.m
        buffers = Buffers(shards)
        buffers.shards[missing] = 0
        erasures = (ctypes.c_int * (len(missing) + 1))(*missing, -1)
        pointers = (buffers.pointers(range(k)), buffers.pointers(range(k, k + m)))
        status = self.lib.jerasure_schedule_decode_lazy(
            *(k, m, 8, self.bits, erasures, *pointers, shards.shape[1], self.packet, 1)
        )
        assert status == 0
        return buffers.shards.copy()


def random_data(k: int, size: int, seed: int) -> Bytes:
    return np.random.default_rng(seed).integers(0, 256, (k, size), dtype=np.uint8)


def packets_codec(api: Api, matrix: Bytes, packet: int) -> Codec:
    codec = api.create_matrix(matrix)
    assert codec.packets(packet) == OK
    return codec


def encoded(codec: Codec, data: Bytes) -> Bytes:
    """Return all shards, encoded by gfsmith at all alignments, between guard bytes."""
    k, m, size = codec.k, codec.m, data.shape[1]
    arena = Arena(np.concatenate([data, np.full((m, size), 0x5C, dtype=np.uint8)]))
    assert codec.encode(size, arena.pointers(range(k)), arena.pointers(range(k, k + m))) == OK
    shards = np.stack([arena.shard(i) for i in range(k + m)])
    arena.expect(np.concatenate([data, shards[k:]]))
    return shards


@pytest.mark.parametrize(
    ("code", "generator"),
    [
        ("cauchy_orig", "cauchy_original_coding_matrix"),
        ("cauchy_good", "cauchy_good_general_coding_matrix"),
    ],
)
def test_the_codes_have_the_matrices_of_jerasure(
    api: Api, jerasure: ctypes.CDLL, code: str, generator: str
) -> None:
    shapes = [(k, m) for k in (1, 2, 3, 5, 10, 31, 100) for m in (1, 2, 3, 4, 5, 8, 20)]
    for k, m in (*shapes, (253, 2), (200, 55)):
        codec = api.create(code, k, m)
        arena = Arena(np.concatenate([np.eye(k, dtype=np.uint8), np.zeros((m, k), dtype=np.uint8)]))
        assert codec.encode(k, arena.pointers(range(k)), arena.pointers(range(k, k + m))) == OK
        ours = np.stack([arena.shard(i) for i in range(k, k + m)])
        assert np.array_equal(ours, jerasure_matrix(jerasure, generator, k, m)), (k, m)


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_parities_are_those_of_jerasure(isa: str, api: Api, jerasure: ctypes.CDLL, k: int, m: int) -> None:
    """By bit matrix and by schedule; for the codes with baked kernels and for any matrix."""
    for packet in PACKETS:
        data = random_data(k, 8 * packet * REGIONS, seed=k + packet)
        codec = api.create("cauchy_good", k, m)
        assert codec.packets(packet) == OK
        matrix = jerasure_matrix(jerasure, "cauchy_good_general_coding_matrix", k, m)
        reference = Reference(jerasure, matrix, packet)
        for scheduled in (False, True):
            assert np.array_equal(encoded(codec, data), reference.encode(data, scheduled)), packet
        matrix = random_matrix(k, m, seed=packet)
        expected = Reference(jerasure, matrix, packet).encode(data, False)
        assert np.array_equal(encoded(packets_codec(api, matrix, packet), data), expected), packet


@pytest.mark.parametrize(("k", "m"), [(4, 2), (6, 3), (10, 4)])
def test_each_side_repairs_the_other(api: Api, jerasure: ctypes.CDLL, k: int, m: int) -> None:
    packet, rng = 72, random.Random(k)
    codec = api.create("cauchy_good", k, m)
    assert codec.packets(packet) == OK
    matrix = jerasure_matrix(jerasure, "cauchy_good_general_coding_matrix", k, m)
    reference = Reference(jerasure, matrix, packet)
    data = random_data(k, 8 * packet * REGIONS, seed=k)
    shards = reference.encode(data, True)
    losses = [list(loss) for n in (1, m) for loss in itertools.combinations(range(k + m), n)]
    for missing in rng.sample(losses, 12):
        arena = Arena(shards)
        for i in missing:
            arena.shard(i)[:] = 0
        assert codec.reconstruct(shards.shape[1], arena.pointers(), missing) == OK
        arena.expect(shards)
        assert np.array_equal(reference.decode(encoded(codec, data), missing), shards)


def test_any_loss_of_any_matrix_is_repaired_or_refused(api: Api) -> None:
    """Encode, lose, repair; twice, since the second repair uses the remembered one."""
    rng = random.Random(11)
    outcomes: set[int] = set()
    for number in range(60):
        k, m, packet = rng.randrange(1, 9), rng.randrange(1, 6), rng.choice((1, 3, 8, 77, 300))
        matrix = random_matrix(k, m, seed=number)
        matrix[np.random.default_rng(number).random((m, k)) < rng.choice((0.0, 0.5))] = 0
        codec = packets_codec(api, matrix, packet)
        shards = encoded(codec, random_data(k, 8 * packet * rng.randrange(1, 4), seed=number))
        missing = rng.sample(range(k + m), rng.randrange(1, min(k + m, m + 1) + 1))
        for _ in range(2):
            arena = Arena(shards)
            for i in missing:
                arena.shard(i)[:] = 0xEE
            status = codec.reconstruct(shards.shape[1], arena.pointers(), missing)
            outcomes.add(status)
            if status == OK:
                arena.expect(shards)
            else:
                assert status == (ETOOMANY if len(missing) > m else ESINGULAR)
    assert outcomes == {OK, ETOOMANY, ESINGULAR}


def test_check_and_update(isa: str, api: Api) -> None:
    k, m, packet = 10, 4, 712
    codec = api.create("cauchy_good", k, m)
    assert codec.packets(packet) == OK
    size = 8 * packet * 2
    shards = encoded(codec, random_data(k, size, seed=3))
    for place in (0, packet, size // 2 + 5, size - 1):
        for shard in (0, k - 1, k, k + m - 1):
            arena = Arena(shards)
            assert codec.check(size, arena.pointers()) == (OK, True)
            arena.shard(shard)[place] ^= 0x10
            assert codec.check(size, arena.pointers()) == (OK, False), (shard, place)
    changed = shards[:k].copy()
    changed[7] = random_data(1, size, seed=4)[0]
    arena = Arena(np.concatenate([shards, (changed[7] ^ shards[7])[None, :]]))
    parity = arena.pointers(range(k, k + m))
    assert codec.update(size, 7, arena.pointers([k + m])[0], parity) == OK
    assert np.array_equal(np.stack([arena.shard(k + i) for i in range(m)]), encoded(codec, changed)[k:])


def test_a_region_is_elements_bit_by_bit(api: Api) -> None:
    """Bit b of the 8 packets is one element; packet x holds its bit x. This test does not use Jerasure."""
    k, m, packet = 5, 3, 4
    matrix = random_matrix(k, m, seed=2)
    shards = encoded(packets_codec(api, matrix, packet), random_data(k, 8 * packet, seed=1))
    bits = np.unpackbits(shards.reshape(k + m, 8, packet), axis=2, bitorder="little")
    elements = np.packbits(bits, axis=1, bitorder="little")[:, 0]
    for i in range(m):
        total = np.zeros(8 * packet, dtype=np.uint8)
        for j in range(k):
            total ^= products()[matrix[i, j]][elements[j]]
        assert np.array_equal(total, elements[k + i])


def test_a_row_of_zeros_gives_zeros(api: Api) -> None:
    shards = encoded(
        packets_codec(api, np.array([[1, 1], [0, 0]], dtype=np.uint8), 16), random_data(2, 128, 5)
    )
    assert not shards[3].any()
    assert np.array_equal(shards[2], shards[0] ^ shards[1])


def test_lengths_and_packets_that_cannot_be(api: Api) -> None:
    codec = api.create("cauchy_good", 4, 2)
    assert codec.packets(24) == OK
    size = 8 * 24
    arena = Arena(encoded(codec, random_data(4, size, seed=1)))
    data, parity, whole = arena.pointers(range(4)), arena.pointers(range(4, 6)), arena.pointers()
    for wrong in (1, 24, size - 1):
        assert codec.encode(wrong, data, parity) == EINVAL
        assert codec.update(wrong, 0, data[0], parity) == EINVAL
        assert codec.check(wrong, whole) == (EINVAL, None)
        assert codec.reconstruct(wrong, whole, [0]) == EINVAL
    assert codec.encode(0, None, None) == OK
    assert codec.packets(2**64 // 8) == EINVAL
    assert codec.check(size, whole) == (OK, True), "the codec is unchanged"
    assert api.lib.gfsmith_codec_packets(None, 8) == EINVAL


def test_back_to_bytes_and_repairs_are_forgotten(api: Api) -> None:
    """A repair remembered in one layout is not used in another."""
    codec = api.create("cauchy_good", 4, 2)
    data = random_data(4, 640, seed=8)
    seen = []
    for packet in (0, 8, 80, 0):
        assert codec.packets(packet) == OK
        shards = encoded(codec, data)
        seen.append(shards[4:].tobytes())
        arena = Arena(shards)
        arena.shard(1)[:] = arena.shard(2)[:] = 0
        assert codec.reconstruct(640, arena.pointers(), [1, 2]) == OK
        arena.expect(shards)
    assert seen[0] == seen[3]
    assert len(set(seen)) == 3
