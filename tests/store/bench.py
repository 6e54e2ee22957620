"""A store with what it has acknowledged, and the ways in which a test ends its processes."""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from pymemcache.exceptions import MemcacheError

from .support import DEADLINE, Store, wait_for

#: Where the agent may die in a write, and whether the new value is there afterwards.
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
    """A store, and what it has acknowledged."""

    store: Store
    values: dict[str, bytes]
    pool: ThreadPoolExecutor
    bearable: int
    """So many chunk servers may be gone, whichever they are."""

    def check(self) -> None:
        for key, value in self.values.items():
            assert self.store.get(key) == value, key

    def check_without(self, *ranks: int) -> None:
        """Every value is right, and still is when these are gone."""
        self.check()
        self.store.kill(*(f"chunk-{rank}" for rank in ranks))
        self.check()
        self.store.mend()
        self.check()

    def check_after(self, victim: str, *ranks: int) -> None:
        """Where most was lost: what was rebuilt there is needed to read, and is right."""
        self.check()
        if victim == "both":
            self.check_without(*self.others(*ranks))

    def others(self, *ranks: int) -> list[int]:
        """As many as may be gone, and none of these."""
        return [rank for rank in self.store.ranks if rank not in ranks][: self.bearable]

    def wait_readable(self) -> None:
        """The agent has been told enough to read all; until then it does not say that anything is lost."""

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
    """A chunk server that was stopped at a point is killed, or its memcached, or both."""
    if victim != "chunk":
        store.kill(f"memcached-{rank}")
    if victim != "memcached":
        store.kill(f"chunk-{rank}")
    else:
        store.signal(f"chunk-{rank}", signal.SIGCONT)


def begin_rebuild(bench: Bench, gone: int, process: str, point: str) -> None:
    """An empty chunk server is back; `process` stops at a point of its rebuild."""
    store = bench.store
    store.kill(f"chunk-{gone}", f"memcached-{gone}")
    store.wait_state(f"chunk_server_{gone}", "gone")
    store.plan(process, point)
    store.launch(f"memcached-{gone}", f"chunk-{gone}")
    store.wait_stopped(process)
