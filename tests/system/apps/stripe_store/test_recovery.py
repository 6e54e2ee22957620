"""Two recoveries of the agent, from the lists of different chunk servers, show clients the same values.

A write or deletion before them is not acknowledged: either result is right, but only one of them.
"""

from __future__ import annotations

import itertools
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from pymemcache.exceptions import MemcacheError, MemcacheUnexpectedCloseError

from tests.system.apps.stripe_store.bench import acknowledged
from tests.system.apps.stripe_store.support import DEADLINE, Store, wait_for, xxh3_64
from tests.system.apps.stripe_store.wire import Memcached


@pytest.fixture
def store(fresh_store: Callable[..., Store]) -> Store:
    return fresh_store()


def seen(store: Store, key: str) -> bytes | None:
    """Return the value of the key as soon as the store answers."""
    end = time.monotonic() + DEADLINE
    while True:
        try:
            return store.get(key)
        except (MemcacheError, OSError) as error:
            text = str(error)
            assert "unknown until" in text or "not available now" in text or isinstance(error, OSError), text
            assert time.monotonic() < end, f"the store does not answer: {error}"
            time.sleep(0.02)


def records(store: Store, rank: int) -> set[str]:
    with Memcached(store.folder / f"memcached-{rank}") as memcached:
        return {name for name in memcached.all_keys() if name.startswith("r")}


def replicas(store: Store, key: str) -> list[int]:
    """Return the ranks that have the record of the key."""
    return [store.holder(key, shard) for shard in (0, *range(store.k, store.k + store.m))]


def recover(store: Store, away: list[int]) -> None:
    """Restart the agent; these chunk servers are away, all others are there."""
    if "agent" in store.running:
        store.kill("agent")
    for rank in store.ranks:
        name = f"chunk-{rank}"
        if rank in away and name in store.running:
            store.kill(name)
        elif rank not in away and name not in store.running:
            store.launch(name)
    store.launch("agent")


@contextmanager
def interrupted(
    store: Store,
    key: str,
    act: Callable[[], object],
    point: str,
    kept: int,
    late: Sequence[int] | None = None,
) -> Iterator[None]:
    """Kill the agent in a command for which `kept` of the replicas has done its part, but `late` have not; if
    they are not named, all others.
    """
    others = [rank for rank in replicas(store, key) if rank != kept] if late is None else late
    before = records(store, kept)
    for rank in others:
        store.plan(f"chunk-{rank}", point)
    with ThreadPoolExecutor(1) as pool:
        acting: Future[object] = pool.submit(act)
        for rank in others:
            store.wait_stopped(f"chunk-{rank}")
        wait_for("the part of one replica", lambda: records(store, kept) != before)
        store.kill("agent", *(f"chunk-{rank}" for rank in others))
        assert not acknowledged(acting)
    yield


def write_at_one(store: Store, key: str, kept: int) -> int:
    """Interrupt a write of which one replica has the record; return a rank that is no replica."""
    with interrupted(store, key, lambda: store.set(key, b"new value"), "meta.command", kept):
        pass
    return next(rank for rank in store.ranks if rank not in replicas(store, key))


@pytest.mark.parametrize("old", [b"", b"old value"])
def test_a_write(store: Store, old: bytes) -> None:
    """Only one chunk server has its record: it is there at the first recovery, and away at the second."""
    key = "key"
    kept, *others = replicas(store, key)
    if old:
        store.set(key, old)
    with interrupted(store, key, lambda: store.set(key, b"new value"), "meta.command", kept):
        recover(store, others)
    first = seen(store, key)
    assert first in (old or None, b"new value")
    recover(store, [kept])
    assert seen(store, key) == first
    recover(store, [])
    store.wait_writable()
    assert seen(store, key) == first
    store.set(key, b"another value")


@contextmanager
def full(store: Store, rank: int) -> Iterator[None]:
    """The chunk server has no room for any record, also beyond its limit."""
    over = threading.Event()
    plan = store.folder / f"fault.chunk-{rank}"

    def keep_full() -> None:
        while not over.wait(0.001):
            if not plan.exists():
                store.plan(f"chunk-{rank}", "meta.full", "fail")

    with ThreadPoolExecutor(1) as pool:
        keeping = pool.submit(keep_full)
        try:
            yield
        finally:
            over.set()
        keeping.result()
    plan.unlink(missing_ok=True)


@pytest.mark.parametrize("old", [b"", b"old value"])
def test_a_replica_without_room(store: Store, old: bytes) -> None:
    """A write is refused, because one replica has no room for its record, and the agent is killed before it
    deletes the others. The next one takes it for the value: others store the record instead, so that all
    values are served, and each later recovery finds it. Nothing is deleted before.
    """
    key = "key"
    crowded, late, kept = replicas(store, key)
    if old:
        store.set(key, old)
    with full(store, crowded):
        with interrupted(store, key, lambda: store.set(key, b"new value"), "meta.command", kept, (late,)):
            recover(store, [])
        store.wait_writable()
        assert store.get(key) == b"new value"
        assert not records(store, crowded)
        assert all(records(store, rank) for rank in store.ranks if rank != crowded)
        recover(store, [kept])
        assert seen(store, key) == b"new value"
    recover(store, [])
    store.wait_writable()
    with store.client() as client:
        assert client.delete(key)
    assert not any(records(store, rank) for rank in store.ranks)


@pytest.mark.parametrize("away", ["the others", "the one"])
def test_a_deletion(store: Store, away: str) -> None:
    """Only one chunk server has deleted its record: at the first recovery it is the only replica that is
    there, or the only one that is away.
    """
    key = "key"
    kept, *others = replicas(store, key)
    store.set(key, b"value")

    def delete() -> None:
        with store.client() as client:
            client.delete(key)

    with interrupted(store, key, delete, "unmeta.command", kept):
        recover(store, others if away == "the others" else [kept])
    first = seen(store, key)
    assert first in (None, b"value")
    recover(store, [kept] if away == "the others" else others)
    assert seen(store, key) == first
    recover(store, [])
    store.wait_writable()
    assert seen(store, key) == first


def test_a_deciding_chunk_server_leaves(store: Store) -> None:
    """No client is served before all chunk servers of the recovery agree, and another recovery begins."""
    key = "key"
    kept, *others = replicas(store, key)
    helper = write_at_one(store, key, kept)
    store.plan(f"chunk-{helper}", "meta.command")
    recover(store, others)
    store.wait_stopped(f"chunk-{helper}")  # it gets a copy of the record
    there = " ".join(str(rank) for rank in store.ranks if rank not in others)  # they wait for its copy
    expected = f"unknown until all chunk servers agree, missing: {there}"
    wait_for("a recovery", lambda: store.refusal(lambda: store.get(key)) == expected)
    store.kill(f"chunk-{helper}")
    store.launch(*(f"chunk-{rank}" for rank in (*others, helper)))
    store.wait_writable()
    assert seen(store, key) in (None, b"new value")


def test_no_memory_for_a_copy(store: Store) -> None:
    """One that is no replica has no memory for the copy of the record: values are served without the copy."""
    key = "key"
    kept, *others = replicas(store, key)
    helper = write_at_one(store, key, kept)
    store.plan(f"chunk-{helper}", "meta.full", "fail")
    recover(store, others)
    assert seen(store, key) == b"new value"
    line = f"chunk server {helper}: no memory for the copy of a record"
    assert line in store.log_of("agent").read_text()
    store.launch(*(f"chunk-{rank}" for rank in others))
    store.wait_writable()
    assert seen(store, key) == b"new value"


def key_with_copy(store: Store, rank: int, away: list[int]) -> str:
    """Return a key whose record a recovery copies to the rank, because one of its replicas is away."""
    keys = (f"other-{number}" for number in itertools.count())
    return next(
        key
        for key in keys
        if rank not in replicas(store, key) and any(other in replicas(store, key) for other in away)
    )


def refuse_write(store: Store, key: str) -> None:
    """Let a write fail of which only the first replica still has a chunk and the record."""
    kept, *others = replicas(store, key)
    before = {rank: records(store, rank) for rank in store.ranks}
    store.plan(f"chunk-{kept}", "meta.stored")
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: store.set(key, b"value"))
        store.wait_stopped(f"chunk-{kept}")
        store.kill(f"chunk-{kept}")
        assert not acknowledged(writing)
    wait_for("the removal", lambda: all(records(store, rank) == before[rank] for rank in others))
    assert records(store, kept) > before[kept]


def test_a_write_that_only_one_remembers(store: Store) -> None:
    """The agent has removed a refused write from all chunk servers that it reached: the key is not lost."""
    key = "key"
    refuse_write(store, key)
    recover(store, [])
    store.wait_writable()
    assert seen(store, key) is None
    store.set(key, b"another value")


def test_a_refused_write_where_only_one_chunk_server_counts(store: Store) -> None:
    """Others were away at a recovery that ended before the refused write was deleted: the key is not lost."""
    key = "key"
    kept = replicas(store, key)[0]
    helper, *late = (rank for rank in store.ranks if rank != kept)
    store.set(key_with_copy(store, helper, late[:2]), b"value")
    refuse_write(store, key)
    store.plan(f"chunk-{helper}", "meta.command")
    recover(store, late[:2])
    store.wait_stopped(f"chunk-{helper}")  # before it has the copy, nothing is deleted
    store.kill("agent", f"chunk-{helper}")
    recover(store, [helper, late[2]])
    expected = "unknown until 5 chunk servers have sent their lists"
    wait_for(expected, lambda: expected in store.refusal(lambda: store.get(key)))
    recover(store, [])
    store.wait_writable()
    assert seen(store, key) is None


def test_no_group_forms_with_memories_that_are_lost(store: Store) -> None:
    """More than m of them would make the new store unreadable from the start."""

    def misses(ranks: str) -> bool:
        return store.refusal(lambda: store.set("key", b"value")).endswith(f"missing: {ranks}")

    store.kill_all()
    (store.folder / "group").unlink()
    store.launch(*(f"memcached-{rank}" for rank in store.ranks), *(f"chunk-{rank}" for rank in range(1, 5)))
    store.launch("agent")
    wait_for("four chunk servers", lambda: misses("5"))
    store.kill("memcached-1", "memcached-2", "memcached-3")
    wait_for("the agent to notice", lambda: misses("1 2 3 5"))
    store.launch("chunk-5", "memcached-1", "memcached-2", "memcached-3")
    store.wait_writable()
    store.set("key", b"value")
    assert store.get("key") == b"value"


RECORD_SUM = slice(40, 48)  #: the checksum in a record


def forged(record: bytes, length: int) -> bytes:
    """Return the record with another length of its value, and with the checksums that belong to it."""
    changed = record[:8] + struct.pack("<Q", length) + record[16:]
    seed = xxh3_64(changed[: RECORD_SUM.start])
    total = struct.pack("<Q", xxh3_64(changed[RECORD_SUM.stop :], seed))
    return changed[: RECORD_SUM.start] + total + changed[RECORD_SUM.stop :]


@pytest.mark.parametrize("length", [2**64 - 2, 2**63])
def test_a_record_of_an_impossible_length(store: Store, length: int) -> None:
    """A chunk server has a record that no agent has written: the other records count."""
    store.set("key", b"value")
    rank = min(replicas(store, "key"))
    (name,) = records(store, rank)
    with Memcached(store.folder / f"memcached-{rank}") as memcached:
        right = memcached.get(name)
        assert forged(right, len(b"value")) == right
        memcached.set(name, forged(right, length))
    recover(store, [])
    assert seen(store, "key") == b"value"
    store.wait_writable()
    with Memcached(store.folder / f"memcached-{rank}") as memcached:
        assert memcached.get(name) == right


def test_clients_that_hold_all_memory_while_the_store_starts(fresh_store: Callable[..., Store]) -> None:
    """The agent reads a value that may replace an older one. It waited for memory of values in transit."""
    options = ("--memory", "1M", "--stall", "86400")
    store = fresh_store(agent_options=options)
    first, second = bytes(700_000), b"x" * 700_000
    store.set("key", first)
    store.plan("agent", "set.recorded", "kill")  # the first value is still there
    with pytest.raises(MemcacheUnexpectedCloseError):
        store.set("key", second)
    assert store.running.pop("agent").wait(DEADLINE) == -signal.SIGKILL
    store.kill(*store.names("chunk"))
    store.launch("agent")
    with socket.create_connection(store.address(), timeout=DEADLINE) as client:
        client.sendall(b"set other 0 0 1000000\r\n" + bytes(900_000))
        store.wait_state("bytes_on_their_way", "900000")
        store.launch(*store.names("chunk")[1:])  # with all of them, nothing has to be read
        wait_for("an answer", lambda: "unknown" not in store.refusal(lambda: store.set("key", b"")))
    assert store.get("key") == second
