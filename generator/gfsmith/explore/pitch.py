"""The distance between shards in memory for measurements."""

from __future__ import annotations

LINE = 64
PAGE = 4096


def pitch(length: int) -> int:
    """Return the bytes from one shard to the next: an odd number of lines, 17 to 47 modulo 64. Up to 64
    shards then begin at different lines of their pages, and no shard begins near its neighbour's line."""
    lines = -(-length // LINE)
    while lines % 2 == 0 or not 17 <= lines % (PAGE // LINE) <= 47:
        lines += 1
    return lines * LINE
