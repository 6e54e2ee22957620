"""A store with its acknowledged values, and the ways in which a test ends its processes."""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from pymemcache.exceptions import MemcacheError

from tests.system.apps.stripe_store.support import DEADLINE, Store, wait_for

#: Points of a write at which the agent may die, and whether the new value is present afterwards.
WRITE_POINTS = (
    ("set.begin", False),
    ("set.asked", False),
    ("set.encoded", False),
    ("set.recorded", True),
    ("set.freed", True),
)


def content(length: int, *seed: object) -> bytes:
    return random.Random(f"{length} {seed}").randbytes(length)


@dataclass(slots=True)
class Bench:
    """A store and its acknowledged values."""

    store: Store
    values: dict[str, bytes]
    pool: ThreadPoolExecutor
    bearable: int
    """Number of chunk servers that may be missing, in any combination."""

    def check(self) -> None:
        for key, value in self.values.items():
            assert self.store.get(key) == value, key

    def check_without(self, *ranks: int) -> None:
        """Check that every value is right, and still is without these chunk servers."""
        self.check()
        self.store.kill(*(f"chunk-{rank}" for rank in ranks))
        self.check()
        self.store.mend()
        self.check()

    def check_after(self, victim: str, *ranks: int) -> None:
        """Check reads that need the chunks rebuilt where most was lost."""
        self.check()
        if victim == "both":
            self.check_without(*self.others(*ranks))

    def others(self, *ranks: int) -> list[int]:
        """Return as many other ranks as may be missing."""
        return [rank for rank in self.store.ranks if rank not in ranks][: self.bearable]

    def wait_readable(self) -> None:
        """Wait until the agent has enough lists to read everything; until then it must not report a loss."""

        def answers() -> bool:
            try:
                self.check()
            except MemcacheError as error:
                assert re.search("unknown until|not available now", str(error)), error
                return False
            return True

        wait_for("the index", answers)

    def begin(self, act: Callable[[], object]) -> Future[object]:
        return self.pool.submit(act)


@contextmanager
def filled(store: Store, lengths: Iterable[int], bearable: int) -> Iterator[Bench]:
    values = {f"value-{length}": content(length) for length in lengths}
    for key, value in values.items():
        store.set(key, value)
    with ThreadPoolExecutor(4) as pool:
        yield Bench(store, values, pool, bearable)


def acknowledged(future: Future[object]) -> bool:
    try:
        future.result(DEADLINE)
    except (MemcacheError, OSError):
        return False
    return True


def strike(store: Store, rank: int, victim: str) -> None:
    """Kill a chunk server that was stopped at a point, or its memcached, or both."""
    if victim != "chunk":
        store.kill(f"memcached-{rank}")
    if victim != "memcached":
        store.kill(f"chunk-{rank}")
    else:
        store.signal(f"chunk-{rank}", signal.SIGCONT)


def begin_rebuild(bench: Bench, gone: int, process: str, point: str) -> None:
    """Restart an empty chunk server; `process` stops at a point of its rebuild."""
    store = bench.store
    store.kill(f"chunk-{gone}", f"memcached-{gone}")
    store.wait_state(f"chunk_server_{gone}", "gone")
    store.plan(process, point)
    store.launch(f"memcached-{gone}", f"chunk-{gone}")
    store.wait_stopped(process)
