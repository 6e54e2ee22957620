"""gfsmith_locate: the silently wrong shard, position by position."""

from __future__ import annotations

import ctypes
from itertools import combinations

import numpy as np
import pytest

from gfsmith.codes.lrc import Lrc
from tests.support.library import (
    EINVAL,
    EUNSUPPORTED,
    INTACT,
    OK,
    UNEXPLAINED,
    Api,
    Arena,
    Bytes,
    cauchy,
    products,
    shards_of,
    vandermonde,
)


def syndromes_explained(matrix: Bytes, syndrome: Bytes) -> set[int]:
    """Return the shards of which a change gives this syndrome, by trying all shards and all changes."""
    m, k = matrix.shape
    columns = np.concatenate([matrix, np.eye(m, dtype=np.uint8)], axis=1)
    table = products()
    return {
        shard
        for shard in range(k + m)
        if any(np.array_equal(table[e][columns[:, shard]], syndrome) for e in range(1, 256))
    }


@pytest.mark.parametrize(("k", "m"), [(1, 2), (4, 2), (10, 4), (40, 3), (2, 30), (1, 254), (253, 2)])
def test_every_single_wrong_shard(api: Api, isa: str, k: int, m: int) -> None:
    """Each shard is wrong in turn at its own positions, in more than one part of the call."""
    codec = api.create("cauchy", k, m)
    shards = shards_of(cauchy(k, m), 3 * (k + m) + 1, seed=k)
    arena, length = Arena(shards), shards.shape[1]
    expected = [INTACT] * length
    for shard in range(k + m):
        arena.shard(shard)[3 * shard + 1] ^= shard % 255 + 1
        expected[3 * shard + 1] = shard
    damaged = np.stack([arena.shard(i) for i in range(k + m)])
    status, counts, where = codec.locate(length, arena.pointers())
    assert (status, where) == (OK, expected)
    assert counts == [1] * (k + m) + [length - (k + m), 0]
    arena.expect(damaged)


def test_one_shard_wrong_all_over(api: Api, isa: str) -> None:
    codec, length = api.create("vandermonde", 10, 4), 50000
    arena = Arena(shards_of(vandermonde(10, 4), length, seed=1))
    for shard in (3, 12):
        arena.shard(shard)[:] ^= 0x81
        assert codec.locate(length, arena.pointers())[1] == [length * (i == shard) for i in range(16)]
        arena.shard(shard)[:] ^= 0x81
    assert codec.locate(length, arena.pointers())[1] == [0] * 14 + [length, 0]


#: Functions, since cauchy() computes the tables of a field, which takes seconds.
MATRICES = {"mds": lambda: cauchy(4, 2), "lrc": lambda: np.array(Lrc(4, 2, 2).parity(), np.uint8)}


@pytest.mark.parametrize("kind", MATRICES)
def test_two_wrong_shards(api: Api, kind: str) -> None:
    """The answer equals that of an exhaustive search, and is never that all shards are right."""
    matrix = MATRICES[kind]()
    m, k = matrix.shape
    codec, n = api.create_matrix(matrix), k + m
    columns = np.concatenate([matrix, np.eye(m, dtype=np.uint8)], axis=1)
    pairs = [(a, b, e) for a, b in combinations(range(n), 2) for e in (1, 2, 29, 140)]
    arena = Arena(np.zeros((n, len(pairs)), dtype=np.uint8))
    for at, (a, b, e) in enumerate(pairs):
        arena.shard(a)[at], arena.shard(b)[at] = 7, e
    _, counts, where = codec.locate(len(pairs), arena.pointers())
    for (a, b, e), answer in zip(pairs, where, strict=True):
        explained = syndromes_explained(matrix, products()[7][columns[:, a]] ^ products()[e][columns[:, b]])
        assert len(explained) <= 1
        assert answer == (explained.pop() if explained else UNEXPLAINED)
    assert counts[n] == 0 and sum(counts) == len(pairs) and counts[n + 1] == where.count(UNEXPLAINED) > 0


def test_two_wrong_shards_are_detected_with_three_parities(api: Api) -> None:
    codec = api.create("cauchy", 5, 3)
    errors = np.random.default_rng(1).integers(1, 256, (8, 28), dtype=np.uint8)
    arena = Arena(np.zeros((8, 28), dtype=np.uint8))
    for at, pair in enumerate(combinations(range(8), 2)):
        for shard in pair:
            arena.shard(shard)[at] = errors[shard, at]
    assert codec.locate(28, arena.pointers())[1] == [0] * 9 + [28]


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 2, 3]],
        [[1, 0], [1, 1]],
        [[1, 2, 5], [2, 4, 1]],
        [[0, 1], [0, 2]],
        [[1, 7, 7], [3, 9, 9], [0, 0, 0]],
    ],
    ids=["one parity", "a copy", "proportional", "unseen", "twice"],
)
def test_codes_that_cannot_locate(api: Api, matrix: list[list[int]]) -> None:
    codec = api.create_matrix(np.array(matrix, dtype=np.uint8))
    arena = Arena(np.zeros((codec.k + codec.m, 4), dtype=np.uint8))
    status, counts, where = codec.locate(4, arena.pointers())
    assert status == EUNSUPPORTED and set(counts) == {77} and set(where) == {77}


def test_codes_that_can(api: Api) -> None:
    for codec in (api.create_lrc(6, 2, 1), api.create_matrix(np.array([[1, 1], [1, 2]], dtype=np.uint8))):
        arena = Arena(np.zeros((codec.k + codec.m, 4), dtype=np.uint8))
        assert codec.locate(4, arena.pointers())[0] == OK
    assert api.create("cauchy", 4, 1).locate(0, None)[0] == EUNSUPPORTED


def test_arguments(api: Api) -> None:
    codec, lib = api.create("cauchy", 4, 2), api.lib
    arena = Arena(shards_of(cauchy(4, 2), 10, seed=1))
    counts = (ctypes.c_size_t * 8)(*[77] * 8)
    assert lib.gfsmith_locate(None, 10, arena.pointers(), counts, None) == EINVAL
    assert lib.gfsmith_locate(codec.handle, 10, arena.pointers(), None, None) == EINVAL
    assert lib.gfsmith_locate(codec.handle, 10, None, counts, None) == EINVAL
    assert lib.gfsmith_locate(codec.handle, 10, arena.pointers([0, 1, -1, 3, 4, 5]), counts, None) == EINVAL
    assert list(counts) == [77] * 8
    assert lib.gfsmith_locate(codec.handle, 10, arena.pointers(), counts, None) == OK
    assert list(counts) == [0] * 6 + [10, 0]
    assert lib.gfsmith_locate(codec.handle, 0, None, counts, None) == OK
    assert list(counts) == [0] * 8
    assert lib.gfsmith_locate(codec.handle, 0, None, None, None) == OK
    assert codec.packets(8) == OK
    assert codec.locate(64, arena.pointers())[0] == EUNSUPPORTED
