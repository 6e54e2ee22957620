"""Attackers between the agent and a chunk server, and keys that are replaced while the store runs."""

from __future__ import annotations

import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pymemcache.exceptions import MemcacheError

from tests.support.paths import ROOT
from tests.system.apps.stripe_store.conftest import HERE, call
from tests.system.apps.stripe_store.support import HEADERS, LANGUAGE, Store, wait_for
from tests.system.compose.attacker import ATTACKS, WRITE, Attacker, Message

SIZE = 30000
RANK = 1


def a_slice(message: Message) -> bool:
    return message.operation == WRITE


@pytest.fixture
def store(fresh_store: Callable[..., Store]) -> Store:
    return fresh_store(agent_options=("--deadline", "1000"))


@pytest.fixture
def attacker(store: Store) -> Iterator[Attacker]:
    """One between the agent and the chunk server RANK. It is named in the file as long as it works, because a
    chunk server reads the file whenever it has no link.
    """
    file = store.folder / "agent"
    between = Attacker(int(file.read_text().rpartition(":")[2]))
    store.kill(f"chunk-{RANK}")
    store.wait_state(f"chunk_server_{RANK}", "gone")
    file.write_text(f"127.0.0.1:{between.port}\n")
    store.launch(f"chunk-{RANK}")
    store.wait_writable()
    yield between
    between.close()


def key_at(store: Store) -> str:
    """Return a key with a data shard at RANK."""
    return next(key for key in map(str, range(99)) if RANK in (store.holder(key, i) for i in range(store.k)))


def value(byte: int) -> bytes:
    return bytes([byte]) * SIZE


def test_slices_from_a_chunk_server(store: Store, attacker: Attacker) -> None:
    key, log = key_at(store), store.log_of("agent")
    store.set(key, value(1))
    for attack in ATTACKS:
        attacker.plan(attack, a_slice)
        while not attacker.attacked.is_set():  # a read can do without the chunk server
            with suppress(MemcacheError):
                assert store.get(key) == value(1), attack
        store.wait_writable()
        assert store.get(key) == value(1), attack
    lines = [line for line in log.read_text().splitlines() if f"closed the link to rank {RANK}" in line]
    assert lines == [
        f"stripe-agent: closed the link to rank {RANK}: "
        "a slice that the peer did not send: its authentication code is wrong"
    ]


def test_slices_to_a_chunk_server(store: Store, attacker: Attacker) -> None:
    key, log = key_at(store), store.log_of(f"chunk-{RANK}")
    store.set(key, value(0))
    allowed = {value(0)}
    for number, attack in enumerate(ATTACKS, 1):
        attacker.plan(attack, a_slice, upward=False)
        while not attacker.attacked.is_set():  # the chunk server may be away after the last attack
            try:
                store.set(key, value(number))
                allowed = {value(number)}
            except MemcacheError:
                allowed.add(value(number))
        store.wait_writable()
        assert store.get(key) in allowed, attack
    assert "closed the link to rank 0: a slice that the peer did not send" in log.read_text()


class Clients:
    """Writes and reads keys without a pause, until `stop`; keeps each error."""

    def __init__(self, store: Store, count: int) -> None:
        self.errors: list[str] = []
        self.requests = 0
        self._store, self._over = store, threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(f"key-{n}",)) for n in range(count)]
        for thread in self._threads:
            thread.start()

    def _work(self, key: str) -> None:
        with self._store.client() as client:
            number = 0
            while not self._over.is_set():
                number += 1
                written = value(number % 251)
                try:
                    client.set(key, written)
                    if client.get(key) != written:
                        self.errors.append(f"{key}: a wrong value")
                except (MemcacheError, OSError) as error:
                    self.errors.append(f"{key}: {error}")
                self.requests += 2

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(60)


def replace(store: Store, *keys: str) -> None:
    """Replace the file, and let all processes read it; return when they use it, on all of their links."""
    file = store.folder / "key.new"
    file.touch(0o600)
    file.write_text("".join(f"{key}\n" for key in keys))
    file.rename(store.folder / "key")
    used = "uses the key on all links"
    names = ("agent", *(f"chunk-{rank}" for rank in store.ranks))
    logs = {name: store.log_of(name) for name in names}
    before = {name: log.read_text().count(used) for name, log in logs.items()}
    for name, log in logs.items():
        read = log.read_text().count("has read")
        store.signal(name, signal.SIGHUP)
        wait_for(
            f"{name} to read it",
            lambda log=log, read=read: log.read_text().count("has read") > read,  # type: ignore[misc]
        )
    wait_for(
        "the key at all processes",
        lambda: all(log.read_text().count(used) > before[name] for name, log in logs.items()),
    )


def test_another_key(fresh_store: Callable[..., Store]) -> None:
    """No request fails while it is replaced; afterwards the store works with it alone."""
    store = fresh_store()
    old, new = (store.folder / "key").read_text().strip(), secrets.token_hex(32)
    clients = Clients(store, 2)
    try:
        replace(store, new, old)
        replace(store, new)
    finally:
        clients.stop()
    assert clients.errors == [] and clients.requests > 0
    for name in ("agent", *(f"chunk-{rank}" for rank in store.ranks)):
        assert "closed the link" not in store.log_of(name).read_text()
    store.kill("agent", "chunk-1")
    store.mend()
    store.set("key-0", value(7))
    assert store.get("key-0") == value(7)


@pytest.mark.parametrize("name", ["agent", "chunk-1"])
def test_a_signal_while_a_process_starts(fresh_store: Callable[..., Store], name: str) -> None:
    """It waits until the process can read the key again. Here it is blocked from the beginning, so that it
    does not end the process before its first instruction.
    """
    store = fresh_store()
    store.kill(name)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    store.launch(name)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
    store.signal(name, signal.SIGHUP)
    wait_for(f"{name} to read the key", lambda: "has read the key" in store.log_of(name).read_text())
    store.wait_writable()


def test_a_wrong_key_file(fresh_store: Callable[..., Store]) -> None:
    """The keys stay as they were."""
    store = fresh_store()
    (store.folder / "key").write_text("00\n")
    store.signal("agent", signal.SIGHUP)
    log = store.log_of("agent")
    wait_for("the refusal", lambda: "the keys stay as they were" in log.read_text())
    assert "key: must be one line, or two with the previous key, of 16 to 64 bytes" in log.read_text()
    store.set("key", value(1))
    assert store.get("key") == value(1)


LIBRARIES = ("-levent", "-lsodium", "-lcrypto", "-lxxhash", "-lfabric", "-lpthread", "-lm")


def test_an_agent_with_the_key_that_is_wrong(
    fresh_store: Callable[..., Store], programs: Path, tmp_path: Path
) -> None:
    """The chunk server refuses a second request of one number, and FETCH stores nothing."""
    headers = (*HEADERS, *(f"-I{ROOT}/runtime/{part}/include" for part in ("core", "compose")))
    objects = (programs / "obj" / "common").glob("*.o")
    archives = (ROOT / "build" / f"{name}.a" for name in ("libgfsmith-compose", "libgfsmith"))
    agent = tmp_path / "agent"
    call("cc", *LANGUAGE, *headers, "-o", agent, HERE / "native/agent.c", *objects, *archives, *LIBRARIES)
    store = fresh_store()
    store.kill("agent")
    done = subprocess.run((agent, store.folder), capture_output=True, text=True, check=True, timeout=60)
    lines = done.stdout.splitlines()
    assert lines[0] == "1 0 "
    assert "2 -68 a number that another request has" in lines
    assert "3 -64 not in memcached" in lines
