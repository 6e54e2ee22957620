"""Repairs that use the encoder's kernels rebuild the same bytes as dense ones: all kinds of losses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.compiler import Compiler
from tests.support.library import OK, Api, Arena, Bytes, Codec
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

JUNK = 0xEE

#: code, k, m, lost data, lost parities. The runtime chooses the steps by the numbers: encoding only; a dense
#: product and encoding; syndromes. The default set has kernels for these matrices.
LOSSES = (
    ("backblaze", 32, 32, 0, 24),
    ("backblaze", 32, 32, 1, 31),
    ("backblaze", 32, 32, 8, 24),
    ("backblaze", 32, 32, 3, 20),
    ("backblaze", 32, 32, 16, 16),
    ("backblaze", 32, 32, 31, 0),
    ("backblaze", 32, 32, 28, 0),
    ("cauchy", 16, 8, 1, 7),
    ("cauchy", 16, 8, 0, 6),
    ("cauchy", 100, 20, 5, 15),
)
#: Shorter than the shortest shard, than a chunk, than two chunks; several chunks.
LENGTHS = (255, 256, 1000, 3001)


def encoded(codec: Codec, length: int, seed: int) -> Bytes:
    rng = np.random.default_rng(seed)
    arena = Arena(rng.integers(0, 256, (codec.k + codec.m, length), dtype=np.uint8))
    pointers = arena.pointers(range(codec.k)), arena.pointers(range(codec.k, codec.k + codec.m))
    assert codec.encode(length, *pointers) == OK
    return np.stack([arena.shard(i) for i in range(codec.k + codec.m)])


def lost_shards(codec: Codec, data: int, parities: int, seed: int) -> list[int]:
    rng = np.random.default_rng(seed)
    chosen = [*rng.choice(codec.k, data, replace=False), *(codec.k + rng.choice(codec.m, parities, False))]
    return sorted(map(int, chosen))


def rebuild(api: Api, code: str, k: int, m: int, data: int, parities: int, length: int) -> None:
    codec = api.create(code, k, m)
    shards = encoded(codec, length, seed=length)
    for seed in range(3):
        missing = lost_shards(codec, data, parities, seed)
        before = shards.copy()
        before[missing] = JUNK
        arena = Arena(before)
        assert codec.reconstruct(length, arena.pointers(), missing) == OK
        arena.expect(shards)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_every_kind_of_loss(api: Api, isa: str, loss: tuple[str, int, int, int, int]) -> None:
    for length in LENGTHS:
        rebuild(api, *loss, length)


def test_some_of_the_lost_shards(api: Api) -> None:
    """The lost data that are not wanted stay unchanged, and the parities are rebuilt without them."""
    codec = api.create("backblaze", 32, 32)
    shards = encoded(codec, 1000, seed=5)
    missing = [2, 7, *range(34, 64)]
    before = shards.copy()
    before[missing] = JUNK
    for wanted in ([7, *range(34, 64)], list(range(34, 64)), [2, 7, *range(36, 60)]):
        arena = Arena(before)
        assert codec.reconstruct(1000, arena.pointers(), missing, wanted) == OK
        after = shards.copy()
        after[[i for i in missing if i not in wanted]] = JUNK
        arena.expect(after)


#: Deliberate errors, each detected by a test above (run on the library with the error).
MUTANTS = (
    Mutant("gfs_field_inverse(grs->field, $factor)", "$factor"),
    Mutant("list->shard[n] != shard", "list->shard[n] >= 32"),
    Mutant("$read ? $source : p->zero", "$read ? $source : p->src[0]"),
    Mutant("r->add($$all);", ";"),
    Mutant("$read ? $source : p->data[j]", "$read ? $source : p->src[0]"),
    Mutant("scratch += r->chunk;", ";"),
    Mutant("src[n] + start", "src[n]"),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_tests_detect_the_error(mutant: Mutant, compiler: Compiler) -> None:
    api = Api(compiler.library_with_error(mutant, [ROOT / "runtime/core/src/recode.c"]))
    with pytest.raises(AssertionError):
        for loss in LOSSES:
            rebuild(api, *loss, 3001)
