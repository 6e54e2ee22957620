"""Copies of a folder, as if it had been started on two machines: at most one agent serves."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pymemcache.exceptions import MemcacheError

from tests.system.apps.stripe_store.support import Store, wait_for
from tests.system.apps.stripe_store.wire import Memcached

KEY = "key"


@pytest.fixture
def store(fresh_store: Callable[..., Store]) -> Store:
    return fresh_store(agent_options=("--deadline", "1000"))


@pytest.fixture
def copy(store: Store, tmp_path: Path) -> Iterator[Store]:
    """A copy of the folder, in which no process runs."""
    store.set(KEY, b"old value")
    copy = Store(tmp_path / "copy", store.programs, agent_options=store.agent_options)
    copy.folder.mkdir()
    duplicate(store, copy)
    yield copy
    copy.kill_all()


def duplicate(store: Store, copy: Store) -> None:
    for name in ("key", "group"):
        shutil.copy2(store.folder / name, copy.folder / name)


def move(store: Store, to: Store, *ranks: int) -> None:
    """Restart chunk servers of the store with the address of another agent."""
    store.kill(*(f"chunk-{rank}" for rank in ranks))
    address = (to.folder / "agent").read_text()
    mine = (store.folder / "agent").read_text()
    (store.folder / "agent").write_text(address)
    store.launch(*(f"chunk-{rank}" for rank in ranks))
    wait_for(
        "the chunk servers at the other agent",
        lambda: all(
            to.stats()[f"chunk_server_{rank}"] in ("up", "coming back", "rebuilding", "silent")
            for rank in ranks
        ),
    )
    (store.folder / "agent").write_text(mine)


def kept(store: Store, rank: int) -> set[str]:
    with Memcached(store.folder / f"memcached-{rank}") as memcached:
        return set(memcached.all_keys())


def test_the_copy_does_not_serve(store: Store, copy: Store) -> None:
    """No chunk server comes to it."""
    copy.launch("agent")
    why = copy.refusal(lambda: copy.get(KEY))
    assert why.startswith("unknown until 3 chunk servers have sent their lists, 0 have:")
    assert copy.refusal(lambda: copy.set(KEY, b"new value")).startswith("unknown until 3 chunk servers")
    with copy.client() as client:
        assert copy.refusal(client.flush_all) == "not flushed: chunk server 1 is gone"
    assert store.get(KEY) == b"old value"
    store.set(KEY, b"new value")


def test_the_whole_copy_does_not_serve(store: Store, copy: Store) -> None:
    """It has chunk servers with empty memcacheds."""
    names = [f"{kind}-{rank}" for kind in ("memcached", "chunk") for rank in copy.ranks]
    copy.launch("agent", *names)
    for rank in copy.ranks:
        wait_for("its list", lambda rank=rank: f"{rank} has lost" in copy.refusal(lambda: copy.get(KEY)))
    assert copy.refusal(lambda: copy.set(KEY, b"new value")).startswith("unknown until 3 chunk servers")
    assert store.get(KEY) == b"old value"
    store.set(KEY, b"new value")


def test_the_later_agent_replaces_the_earlier(store: Store, copy: Store) -> None:
    """The earlier one, which clients still reach, answers nothing from its index, and changes nothing."""
    copy.launch("agent")
    copy.address()
    move(store, copy, *store.ranks)
    copy.wait_writable()
    assert copy.get(KEY) == b"old value"
    copy.set("another-key", b"value")
    with copy.client() as client:
        assert client.delete(KEY)
    confirm = "not available now: 3 more chunk servers must confirm that there is no value"
    assert store.refusal(lambda: store.get("another-key")) == confirm
    with store.client() as client:
        assert store.refusal(lambda: client.add(KEY, b"new value")) == confirm
        assert store.refusal(lambda: client.delete("another-key")) == confirm
    assert store.refusal(lambda: store.get(KEY)).startswith("not available now: 0 of 5 chunks")

    before = kept(store, 1)
    store.kill("chunk-1")
    store.launch("chunk-1")  # it has the address of the earlier agent again
    log = store.log_of("agent")
    wait_for("the refusal", lambda: "chunk server 1: another agent serves" in log.read_text())
    assert kept(store, 1) == before
    assert copy.get("another-key") == b"value"
    assert copy.get(KEY) is None


def test_two_agents_with_the_same_number(store: Store, copy: Store) -> None:
    """The copy is made while no agent runs, then both start: the chunk servers keep to the first."""
    store.kill("agent")
    duplicate(store, copy)
    store.launch("agent")
    store.wait_writable()
    store.set("another-key", b"value")
    copy.launch("agent")
    copy.address()
    before = kept(store, 1)
    move(store, copy, 1, 2, 3)
    log = copy.log_of("agent")
    for rank in (1, 2, 3):
        wait_for("the refusal", lambda rank=rank: f"chunk server {rank}: another agent" in log.read_text())
    assert copy.refusal(lambda: copy.get(KEY)).startswith("unknown until 3 chunk servers")
    assert kept(store, 1) == before
    store.kill("chunk-1", "chunk-2", "chunk-3")
    store.launch("chunk-1", "chunk-2", "chunk-3")
    store.wait_writable()
    assert store.get(KEY) == b"old value"
    assert store.get("another-key") == b"value"


def test_a_copy_of_a_chunk_server(store: Store, copy: Store) -> None:
    """Two claim one rank, each with its memcached. Values stay right; when one ends, the other catches up."""
    possible = {KEY: {b"old value"}}
    shutil.copy2(store.folder / "agent", copy.folder / "agent")
    copy.launch("memcached-3", "chunk-3")
    for number in range(40):
        key, value = f"key-{number % 4}", b"%d" % number
        try:
            store.set(key, value)
            possible[key] = {value}
        except MemcacheError:
            possible.setdefault(key, set()).add(value)
        for known, values in possible.items():
            assert store.get(known) in values
    copy.kill_all()
    store.wait_writable()
    store.kill("chunk-1", "chunk-2")
    for key, values in possible.items():
        assert store.get(key) in values
