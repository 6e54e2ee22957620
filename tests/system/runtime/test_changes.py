"""gfsmith_update_many and gfsmith_append give the same bytes as encoding all data."""

from __future__ import annotations

import numpy as np
import pytest

from gfsmith.codes.lrc import Lrc
from tests.support.library import EINVAL, OK, Api, Arena, Bytes, Codec, cauchy, encode, lengths, random_matrix

SHAPES = ((1, 1), (4, 2), (10, 4), (17, 9), (40, 20))


def fresh(codec: Codec, length: int, seed: int) -> Arena:
    """Return random data with their parities, by the codec."""
    rng = np.random.default_rng(seed)
    arena = Arena(rng.integers(0, 256, (codec.k + codec.m, length), dtype=np.uint8))
    data, parity = arena.pointers(range(codec.k)), arena.pointers(range(codec.k, codec.k + codec.m))
    assert codec.encode(length, data, parity) == OK
    return arena


def whole(arena: Arena, matrix: Bytes) -> Bytes:
    """Return the arena's data with the reference's parities."""
    data = np.stack([arena.shard(j) for j in range(matrix.shape[1])])
    return np.concatenate([data, encode(matrix, data)])


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_many_changes_equal_encoding(api: Api, isa: str, k: int, m: int) -> None:
    codec, matrix = api.create("cauchy", k, m), cauchy(k, m)
    rng = np.random.default_rng(k)
    for length in (1, 1000, 20000 if k * m < 50 else 2000):
        for count in sorted({1, 2, 3, 4, 7, 8, 9, 17}):
            if count > k:
                continue
            arena = fresh(codec, length, seed=count)
            changed = [int(j) for j in rng.permutation(k)[:count]]
            deltas = Arena(rng.integers(0, 256, (count, length), dtype=np.uint8))
            for n, j in enumerate(changed):
                arena.shard(j)[:] ^= deltas.shard(n)
            parity = arena.pointers(range(k, k + m))
            assert codec.update_many(length, changed, deltas.pointers(), parity) == OK
            arena.expect(whole(arena, matrix))
            deltas.expect(
                deltas.original if count == 0 else np.stack([deltas.shard(n) for n in range(count)])
            )


def test_a_shard_that_changes_twice(api: Api) -> None:
    codec = api.create("cauchy", 4, 2)
    arena = fresh(codec, 100, seed=1)
    deltas = Arena(np.random.default_rng(2).integers(0, 256, (3, 100), dtype=np.uint8))
    for n, j in enumerate((2, 0, 2)):
        arena.shard(j)[:] ^= deltas.shard(n)
    assert codec.update_many(100, (2, 0, 2), deltas.pointers(), arena.pointers((4, 5))) == OK
    arena.expect(whole(arena, cauchy(4, 2)))


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_appending_in_any_order_equals_encoding(api: Api, isa: str, k: int, m: int) -> None:
    """The parities initially hold junk; after every shard they are those of the data with zeros for the
    shards still to come.
    """
    codec, matrix = api.create("cauchy", k, m), cauchy(k, m)
    for length in lengths(k, m)[1:6:2]:
        contents = np.random.default_rng(length).integers(0, 256, (k + m, length), dtype=np.uint8)
        arena, sofar = Arena(contents), np.zeros((k, length), dtype=np.uint8)
        parity = arena.pointers(range(k, k + m))
        for turn, j in enumerate(int(j) for j in np.random.default_rng(m).permutation(k)):
            assert codec.append(length, j, arena.pointers([j])[0], parity, turn == 0) == OK
            sofar[j] = contents[j]
            if turn in (0, k // 2, k - 1):
                arena.expect(np.concatenate([contents[:k], encode(matrix, sofar)]))


def test_local_codes(api: Api, isa: str) -> None:
    """Coefficients of 0: a shard does not change the other groups' parities."""
    codec, matrix = api.create_lrc(6, 2, 2), np.array(Lrc(6, 2, 2).parity(), dtype=np.uint8)
    arena = Arena(random_matrix(333, 10, seed=5))
    for j in (4, 0, 5, 3, 2, 1):
        shard = arena.pointers([j])[0]
        assert codec.append(333, j, shard, arena.pointers(range(6, 10)), j == 4) == OK
    arena.expect(whole(arena, matrix))


@pytest.mark.parametrize("packet", [8, 1000])
def test_packet_layout(api: Api, packet: int) -> None:
    k, m, length = 5, 3, 16 * packet
    codec = api.create("cauchy", k, m)
    assert codec.packets(packet) == OK
    arena = fresh(codec, length, seed=packet)
    expected = np.stack([arena.shard(i) for i in range(k + m)])
    parity = arena.pointers(range(k, k + m))
    for i in range(k, k + m):
        arena.shard(i)[:] = 0xEE
    for j in (3, 1, 0, 4, 2):
        assert codec.append(length, j, arena.pointers([j])[0], parity, j == 3) == OK
    arena.expect(expected)
    deltas = Arena(random_matrix(length, 2, seed=2))
    assert codec.update_many(length, (4, 1), deltas.pointers(), parity) == OK
    for n, j in enumerate((4, 1)):
        arena.shard(j)[:] ^= deltas.shard(n)
    after = np.stack([arena.shard(i) for i in range(k + m)])
    assert codec.encode(length, arena.pointers(range(k)), parity) == OK
    arena.expect(after)
    assert codec.update_many(length - 1, (4, 1), deltas.pointers(), parity) == EINVAL


def test_arguments(api: Api) -> None:
    """A refused call writes nothing."""
    codec, lib = api.create("cauchy", 4, 2), api.lib
    arena = fresh(codec, 50, seed=1)
    before = np.stack([arena.shard(i) for i in range(6)])
    deltas, parity = arena.pointers((0, 1)), arena.pointers((4, 5))
    for count, given in ((2, deltas), (0, None)):
        assert lib.gfsmith_update_many(None, 50, count, None, given, parity) == EINVAL
    assert codec.update_many(50, (0, 4), deltas, parity) == EINVAL
    assert codec.update_many(50, (0, 1), None, parity) == EINVAL
    assert codec.update_many(50, (0, 1), arena.pointers((0, -1)), parity) == EINVAL
    assert codec.update_many(50, (0, 1), deltas, arena.pointers((4, -1))) == EINVAL
    assert codec.update_many(50, (0, 1), deltas, None) == EINVAL
    assert lib.gfsmith_update_many(codec.handle, 50, 2, None, deltas, parity) == EINVAL
    assert lib.gfsmith_update_many(codec.handle, 50, 0, None, None, None) == OK
    assert codec.update_many(0, (9, 9), None, None) == OK
    for first in (False, True):
        assert codec.append(50, 4, deltas[0], parity, first) == EINVAL
        assert codec.append(50, 0, None, parity, first) == EINVAL
        assert codec.append(50, 0, deltas[0], arena.pointers((-1, 5)), first) == EINVAL
        assert codec.append(0, 0, None, None, first) == OK
    arena.expect(before)
