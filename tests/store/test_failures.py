"""Killed before, during and after each phase of a write, a degraded read and a rebuild."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from pymemcache.exceptions import MemcacheError

from .support import DEADLINE, Store, wait_for

LENGTHS = (0, 1, 2, 3, 100, 4096, 100_001)
KEY = "value-4096"


def content(length: int, *seed: object) -> bytes:
    return random.Random(f"{length} {seed}").randbytes(length)


@dataclass(slots=True)
class Bench:
    """A store, and what it has acknowledged."""

    store: Store
    values: dict[str, bytes]
    pool: ThreadPoolExecutor

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
        return [rank for rank in self.store.ranks if rank not in ranks][: self.store.m]

    def begin(self, act: Callable[[], object]) -> Future[object]:
        return self.pool.submit(act)


def acknowledged(future: Future[object]) -> bool:
    try:
        future.result(DEADLINE)
    except (MemcacheError, OSError):
        return False
    return True


@pytest.fixture(scope="module")
def bench(make_store: Callable[..., Store]) -> Iterator[Bench]:
    store = make_store(agent_options=("--deadline", "10000"))
    values = {f"value-{length}": content(length) for length in LENGTHS}
    for key, value in values.items():
        store.set(key, value)
    with ThreadPoolExecutor(4) as pool:
        yield Bench(store, values, pool)


def strike(store: Store, rank: int, victim: str) -> None:
    """A chunk server that was stopped at a point is killed, or its memcached, or both."""
    if victim != "chunk":
        store.kill(f"memcached-{rank}")
    if victim != "memcached":
        store.kill(f"chunk-{rank}")
    else:
        store.signal(f"chunk-{rank}", signal.SIGCONT)


VICTIMS = pytest.mark.parametrize("victim", ["chunk", "memcached", "both"])


# -- writes ----------------------------------------------------------------------------------------


@VICTIMS
@pytest.mark.parametrize("phase", ["command", "loaded", "received", "stored", "meta.command", "meta.stored"])
def test_a_chunk_server_dies_in_a_write(bench: Bench, phase: str, victim: str) -> None:
    store = bench.store
    new = content(5000, phase, victim)
    rank = store.holder(KEY, store.k)  # of a parity: it gets the record, too
    store.plan(f"chunk-{rank}", phase if "." in phase else f"write.{phase}")
    writing = bench.begin(lambda: store.set(KEY, new))
    store.wait_stopped(f"chunk-{rank}")
    strike(store, rank, victim)
    if acknowledged(writing):
        assert (phase, victim) == ("meta.stored", "memcached")  # all had been stored before
        bench.values[KEY] = new
    bench.check()
    store.mend()
    bench.check_after(victim, rank)
    store.set(KEY, new)
    bench.values[KEY] = new


@pytest.mark.parametrize(
    ("point", "survives"),
    [
        ("set.begin", False),
        ("set.asked", False),
        ("set.encoded", False),
        ("set.recorded", True),
        ("set.freed", True),
    ],
)
@pytest.mark.parametrize("gone", [0, 2])
def test_the_agent_dies_in_a_write(bench: Bench, point: str, survives: bool, gone: int) -> None:
    store = bench.store
    new = content(6000, point, gone)
    store.plan("agent", point)
    writing = bench.begin(lambda: store.set(KEY, new))
    store.wait_stopped("agent")
    store.kill("agent")
    assert not acknowledged(writing)
    if survives:
        bench.values[KEY] = new
    without = [store.holder(KEY, store.k), store.holder(KEY, 0)][:gone]
    for rank in without:
        store.kill(f"chunk-{rank}", f"memcached-{rank}")
    store.launch("agent")
    bench_readable(bench)
    bench.check()
    store.mend()
    bench.check_without(*bench.others(*without))


def bench_readable(bench: Bench) -> None:
    """The agent has been told enough to answer."""

    def answers() -> bool:
        try:
            bench.store.get(KEY)
        except MemcacheError:
            return False
        return True

    wait_for("the index", answers)


@pytest.mark.parametrize("point", ["delete.asked", "delete.removed"])
def test_the_agent_dies_in_a_removal(bench: Bench, point: str) -> None:
    store = bench.store
    store.set("doomed", b"doomed")
    store.plan("agent", point)

    def delete() -> None:
        with store.client() as client:
            client.delete("doomed")

    removal = bench.begin(delete)
    store.wait_stopped("agent")
    store.kill("agent")
    assert not acknowledged(removal)
    store.mend()
    assert store.get("doomed") in ((b"doomed", None) if point == "delete.asked" else (None,))
    bench.check()


# -- degraded reads -------------------------------------------------------------------------------------


@VICTIMS
@pytest.mark.parametrize("point", ["repair.command", "repair.loaded", "repair.over"])
def test_a_chunk_server_dies_in_a_degraded_read(bench: Bench, point: str, victim: str) -> None:
    store = bench.store
    gone, rank = store.holder(KEY, 0), store.holder(KEY, 1)
    store.kill(f"chunk-{gone}")
    store.plan(f"chunk-{rank}", point)
    reading = bench.begin(lambda: store.get(KEY))
    store.wait_stopped(f"chunk-{rank}")
    strike(store, rank, victim)
    assert reading.result(DEADLINE) == bench.values[KEY]
    bench.check()
    store.mend()
    bench.check_after(victim, rank, gone)


@pytest.mark.parametrize("point", ["get.begin", "get.arrived"])
def test_the_agent_dies_in_a_degraded_read(bench: Bench, point: str) -> None:
    store = bench.store
    gone = store.holder(KEY, 0)
    store.kill(f"chunk-{gone}")
    store.plan("agent", point)
    reading = bench.begin(lambda: store.get(KEY))
    store.wait_stopped("agent")
    store.kill("agent")
    assert not acknowledged(reading)
    store.launch("agent")
    bench_readable(bench)
    bench.check()
    store.mend()


# -- rebuilds ----------------------------------------------------------------------------------------------


def begin_rebuild(bench: Bench, gone: int, process: str, point: str) -> None:
    """An empty chunk server is back; `process` stops at a point of its rebuild."""
    store = bench.store
    store.kill(f"chunk-{gone}", f"memcached-{gone}")
    store.wait_state(f"chunk_server_{gone}", "gone")
    store.plan(process, point)
    store.launch(f"memcached-{gone}", f"chunk-{gone}")
    store.wait_stopped(process)


@VICTIMS
@pytest.mark.parametrize("phase", ["command", "loaded", "received", "stored"])
def test_it_dies_while_it_is_rebuilt(bench: Bench, phase: str, victim: str) -> None:
    store = bench.store
    rank = store.holder(KEY, 0)
    begin_rebuild(bench, rank, f"chunk-{rank}", f"rebuild.{phase}")
    strike(store, rank, victim)
    bench.check()
    store.mend()
    bench.check_after(victim, rank)


@VICTIMS
@pytest.mark.parametrize("phase", ["command", "loaded", "over"])
def test_a_helper_dies_in_a_rebuild(bench: Bench, phase: str, victim: str) -> None:
    store = bench.store
    gone, rank = store.holder(KEY, 0), store.holder(KEY, 1)
    begin_rebuild(bench, gone, f"chunk-{rank}", f"repair.{phase}")
    strike(store, rank, victim)
    bench.check()
    store.mend()
    bench.check_after(victim, rank, gone)


def test_the_agent_dies_in_a_rebuild(bench: Bench) -> None:
    store = bench.store
    gone = store.holder(KEY, 0)
    begin_rebuild(bench, gone, "agent", "rebuild.begin")
    store.kill("agent")
    store.launch("agent")
    bench_readable(bench)
    bench.check()
    store.mend()
    bench.check_without(*bench.others(gone))
