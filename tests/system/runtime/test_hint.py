"""gfsmith_codec_hint: the results are the same for every hint, and only shards are written."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.library import AUTO, CACHED, EINVAL, OK, STREAMING, Api, Arena, Bytes, cauchy_shards

HINTS = (AUTO, CACHED, STREAMING)


class Aligned(Arena):
    """All shards at multiples of 64, which streaming stores need."""

    def __init__(self, contents: Bytes) -> None:
        count, self.length = contents.shape
        pitch = (self.length + 2 * self.GUARD) // 64 * 64 + 64
        self.memory = np.full(count * pitch + 64 + self.GUARD, 0xA5, dtype=np.uint8)
        base = -self.memory.ctypes.data % 64
        self.starts = [base + i * pitch for i in range(count)]
        self.original = contents
        for i in range(count):
            self.shard(i)[:] = contents[i]


@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("arena_type", [Arena, Aligned])
@pytest.mark.parametrize(
    ("k", "m"), [(10, 4), (4, 2), (17, 1), (13, 4), (5, 3), (48, 4), (20, 12), (100, 20)]
)
def test_hints(api: Api, isa: str, k: int, m: int, arena_type: type[Arena], hint: int) -> None:
    """Around the lengths where the choice changes: 1024, 4096, and 512 KiB in total (10+4: 37449); with many
    shards also steps of 128 bytes and more, the last one shorter.
    """
    codec = api.create("cauchy", k, m)
    assert codec.hint(hint) == OK
    for length in (
        1,
        129,
        1023,
        1024,
        1024 + 100,
        4095,
        4096,
        4096 + 200,
        *((37449, 40000) if m <= 4 else ()),
    ):
        shards = cauchy_shards(k, m, length)
        before = shards.copy()
        before[k:] = 0xEE
        arena = arena_type(before)
        parity = arena.pointers(range(k, k + m))
        assert codec.encode(length, arena.pointers(range(k)), parity) == OK
        arena.expect(shards)
        assert codec.check(length, arena.pointers()) == (OK, True)
        delta = arena.pointers([0])[0]
        for _ in range(2):
            assert codec.update(length, k - 1, delta, parity) == OK
        arena.expect(shards)
        missing = list(range(m - m // 2)) + list(range(k, k + m // 2))
        for i in missing:
            arena.shard(i)[:] = 0xEE
        assert codec.reconstruct(length, arena.pointers(), missing) == OK
        arena.expect(shards)


@pytest.mark.parametrize("arena_type", [Arena, Aligned])
@pytest.mark.parametrize(("k", "m"), [(12, 5), (17, 1), (19, 2), (33, 3), (18, 8), (65, 6)])
def test_long_shards(api: Api, isa: str, k: int, m: int, arena_type: type[Arena]) -> None:
    """Shapes without a kernel of their own, around the lengths and numbers of sources where the length of
    steps and the use of a buffer change: 16 and 64 KiB, 16, 32 and 64 sources."""
    codec = api.create("cauchy", k, m)
    assert codec.hint(STREAMING) == OK
    for length in (2048 + 65, (16 << 10) - 1, (16 << 10) + 68, (64 << 10) + 64):
        shards = cauchy_shards(k, m, length)
        before = shards.copy()
        before[k:] = 0xEE
        arena = arena_type(before)
        assert codec.encode(length, arena.pointers(range(k)), arena.pointers(range(k, k + m))) == OK
        arena.expect(shards)


def test_arguments(api: Api) -> None:
    codec = api.create("cauchy", 4, 2)
    assert api.lib.gfsmith_codec_hint(None, AUTO) == EINVAL
    assert codec.hint(STREAMING) == OK
    for unknown in (-1, 3, 2**31 - 1):
        assert codec.hint(unknown) == EINVAL
    assert codec.hint(AUTO) == OK
