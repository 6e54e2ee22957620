"""Killed before, during and after each phase of a write, a degraded read and a rebuild: every other scheme.

test_failures.py tests the same moments with rs, for more kinds of victims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.system.apps.stripe_store.bench import (
    WRITE_POINTS,
    Bench,
    acknowledged,
    begin_rebuild,
    content,
    filled,
    strike,
)
from tests.system.apps.stripe_store.support import DEADLINE, Store

LENGTHS = (1, 100, 4096, 40_001)
KEYS = tuple(f"value-{length}" for length in LENGTHS)


@dataclass(frozen=True, slots=True)
class Shape:
    k: int
    m: int
    options: tuple[str, ...] = ()
    bearable: int = 2
    """Number that may be missing in any combination: m, or with lrc its R + 1."""


SHAPES = {
    "lrc": Shape(4, 4, ("--groups", "2", "--global", "2"), bearable=3),
    "ppr": Shape(4, 2),
    "ecpipe": Shape(4, 2, ("--slice", "1000")),
    "triec": Shape(3, 2),
}


@pytest.fixture(scope="module", params=SHAPES)
def bench(make_store: Callable[..., Store], request: pytest.FixtureRequest) -> Iterator[Bench]:
    shape = SHAPES[request.param]
    options = ("--scheme", request.param, *shape.options)
    store = make_store(k=shape.k, m=shape.m, agent_options=options)
    with filled(store, LENGTHS, shape.bearable) as bench:
        yield bench
    store.kill_all()


@pytest.mark.parametrize(
    ("number", "write", "read", "rebuild"),
    [
        (0, "write.command", "repair.command", "rebuild.command"),
        (1, "write.loaded", "repair.loaded", "rebuild.loaded"),
        (2, "write.received", "repair.over", "rebuild.received"),
        (3, "write.stored", "repair.command", "rebuild.stored"),
        (4, "meta.command", "repair.loaded", "repair.command"),
        (5, "meta.stored", "repair.over", "repair.loaded"),
        (6, "", "repair.command", "repair.over"),
    ],
)
def test_chunk_servers_die(bench: Bench, number: int, write: str, read: str, rebuild: str) -> None:
    """One chunk server dies in a write, or right after its acknowledgement; another one in a degraded read;
    then one that is rebuilt while the other is missing (rebuild.*), or one that helps with that (repair.*).
    """
    store = bench.store
    key = KEYS[number % len(KEYS)]
    first, second = store.holder(key, 0), store.holder(key, 1)
    new = content(5000, number)
    if write:
        store.plan(f"chunk-{first}", write)
        writing = bench.begin(lambda: store.set(key, new))
        store.wait_stopped(f"chunk-{first}")
        strike(store, first, "both")
        assert not acknowledged(writing)
    else:
        store.set(key, new)
        bench.values[key] = new
        store.kill(f"chunk-{first}", f"memcached-{first}")
    bench.check()

    store.plan(f"chunk-{second}", read)
    reading = bench.begin(lambda: store.get(key))
    store.wait_stopped(f"chunk-{second}")
    strike(store, second, "both")
    assert reading.result(DEADLINE) == bench.values[key]
    bench.check()

    victim = first
    if rebuild.startswith("repair"):
        store.launch(f"memcached-{second}", f"chunk-{second}")
        store.wait_state(f"chunk_server_{second}", "up")
        victim = second
    store.plan(f"chunk-{victim}", rebuild)
    store.launch(f"memcached-{first}", f"chunk-{first}")
    store.wait_stopped(f"chunk-{victim}")
    strike(store, victim, "both")
    bench.check()
    store.mend()
    bench.check()


@pytest.mark.parametrize(("point", "survives"), WRITE_POINTS)
def test_the_agent_dies_in_a_write(bench: Bench, point: str, survives: bool) -> None:
    store = bench.store
    new = content(6000, point)
    store.plan("agent", point)
    writing = bench.begin(lambda: store.set(KEYS[0], new))
    store.wait_stopped("agent")
    store.kill("agent")
    assert not acknowledged(writing)
    if survives:
        bench.values[KEYS[0]] = new
    store.mend()
    bench.check()


@pytest.mark.parametrize("point", ["get.begin", "get.arrived"])
def test_the_agent_dies_in_a_degraded_read_and_a_rebuild(bench: Bench, point: str) -> None:
    store = bench.store
    gone = store.holder(KEYS[1], 0)
    store.kill(f"chunk-{gone}")
    store.plan("agent", point)
    reading = bench.begin(lambda: store.get(KEYS[1]))
    store.wait_stopped("agent")
    store.kill("agent")
    assert not acknowledged(reading)
    store.launch("agent", f"chunk-{gone}")
    store.wait_writable()
    begin_rebuild(bench, gone, "agent", "rebuild.begin")
    store.kill("agent")
    store.launch("agent")
    bench.wait_readable()
    bench.check()
    store.mend()
    bench.check_without(*bench.others(gone))


def test_too_many_are_missing(bench: Bench) -> None:
    """With the maximum number of chunk servers and their memory lost, everything is read. With one more, the
    agent names each; acknowledged values are lost, and never read as another value or a miss.
    """
    store = bench.store
    ranks = [store.holder(KEYS[2], shard) for shard in range(store.m + 1)]
    store.kill(*(f"{kind}-{rank}" for kind in ("chunk", "memcached") for rank in ranks[: bench.bearable]))
    bench.check()
    rest = ranks[bench.bearable :]
    store.kill(*(f"{kind}-{rank}" for kind in ("chunk", "memcached") for rank in rest))
    for rank in ranks:
        store.wait_state(f"chunk_server_{rank}", "gone")
    why = store.refusal(lambda: store.get(KEYS[2]))
    assert why.startswith(f"not available now: {store.k - 1} of {store.k + store.m} chunks are available"), (
        why
    )
    assert all(f"chunk server {rank} is gone" in why for rank in ranks), why

    store.launch(*(f"{kind}-{rank}" for kind in ("memcached", "chunk") for rank in ranks))
    for rank in ranks:
        store.wait_state(f"chunk_server_{rank}", "rebuilding")
    why = store.refusal(lambda: store.get(KEYS[2]))
    assert why.startswith("lost: "), why
    assert store.get("never-set") is None

    with store.client() as client:
        assert client.flush_all()
    for key, value in bench.values.items():
        assert store.get(key) is None
        store.set(key, value)
    bench.check()
