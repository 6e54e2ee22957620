"""The pools of threads that share the calls of codecs."""

from __future__ import annotations

import os

from gfsmith.codec import _native
from gfsmith.codec.coding import integer
from gfsmith.codec.errors import InvalidError

MAX_THREADS = 1024
#: The pools of this process, by process and number of threads. The children of a process need their own.
_POOLS: dict[tuple[int, int], _native._Pool] = {}


def thread_number(threads: int) -> int:
    """Return the argument `threads` after a check."""
    number = integer("threads", threads)
    if not 0 <= number <= MAX_THREADS:
        raise InvalidError(f"threads = {number}: must be 0 (all CPUs) to {MAX_THREADS}")
    return number


def pool_of(threads: int) -> _native._Pool | None:
    """Return the pool with so many threads, None for the calling thread alone."""
    if threads == 1:
        return None
    key = os.getpid(), threads
    if key not in _POOLS:
        _POOLS[key] = _native.pool(threads)
    return _POOLS[key]
