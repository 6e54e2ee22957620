"""The shards of a measurement: stripes in a pool of memory."""

from __future__ import annotations

import math
import mmap
import random
from dataclasses import dataclass

from gfsmith.explore.pitch import pitch

#: Bytes of stripes from memory: several times the last-level cache of most machines.
POOL = 512 << 20


@dataclass(frozen=True, slots=True)
class Stripes:
    """`count` stripes of n shards, the first at the start of the pool. Shards begin `pitch` bytes apart."""

    pool: mmap.mmap
    shards: int
    length: int
    pitch: int
    count: int

    def shard(self, stripe: int, index: int) -> memoryview:
        start = (stripe * self.shards + index) * self.pitch
        return memoryview(self.pool)[start : start + self.length]


def fill(shards: int, length: int) -> Stripes:
    """Return stripes of at least POOL bytes, and at least four of them, with random contents."""
    distance = pitch(length)
    count = max(4, POOL // (shards * distance))
    pool = mmap.mmap(-1, count * shards * distance)
    block = random.Random(1).randbytes(1 << 20)
    for start in range(0, len(pool), len(block)):
        pool[start : start + len(block)] = block[: len(pool) - start]
    return Stripes(pool, shards, length, distance, count)


def first(stripes: Stripes) -> Stripes:
    """Return the first stripe alone: it stays in the caches, as far as it fits."""
    return Stripes(stripes.pool, stripes.shards, stripes.length, stripes.pitch, 1)


def step(stripes: Stripes) -> int:
    """Return the distance between the stripes of two calls: far apart, so that hardware prefetchers do not
    follow, and without a common factor with the number of stripes, so that calls use all of them."""
    if stripes.count == 1:
        return 0
    wanted = int(stripes.count * 0.618)
    while math.gcd(wanted, stripes.count) != 1:
        wanted -= 1
    return wanted
