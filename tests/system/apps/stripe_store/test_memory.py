"""Allocations of the agent that fail: the request gets an error, and the agent loses and leaks nothing.

The agent is built with sanitizers and native/memory.c, and must end without a leak.
"""

from __future__ import annotations

import mmap
import shutil
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.folders import once
from tests.system.apps.stripe_store.conftest import HERE, call
from tests.system.apps.stripe_store.support import DEADLINE, EXAMPLE, QUICK, Store

WRAPPED = ("malloc", "calloc", "realloc", "reallocarray", "aligned_alloc")
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all -static-libasan -static-libubsan"
MEMORY = b"out of memory"
KEYS = 40  #: values that background work has to restore: more than the first table of uthash holds


@dataclass(frozen=True, slots=True)
class Faults:
    """The file that native/memory.c reads."""

    shared: mmap.mmap

    def plan(self, skip: int = 0, fail: int = 0, every: int = 0) -> None:
        self.shared[:12] = struct.pack("=iii", skip, fail, every)

    def pending(self) -> bool:
        return struct.unpack("=iii", self.shared[:12])[1] > 0


@pytest.fixture(scope="module")
def sanitized(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def build(folder: Path) -> None:
        shim = folder / "memory.o"
        call("cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-c", HERE / "native/memory.c", "-o", shim)
        wrap = " ".join(f"-Wl,--wrap={name}" for name in WRAPPED)
        out = folder / "stripe-store"
        flags = (f"CFLAGS=-O1 -g {SANITIZE}", f"LDFLAGS={shim} {wrap}")
        call("make", "-j2", "-C", EXAMPLE, f"BUILD={folder}", "FAULTS=1", *flags, out / "stripe-agent")
        for name in ("stripe-chunk", QUICK):
            shutil.copy(programs / name, out)

    return once(tmp_path_factory, "store-memory", build) / "stripe-store"


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faults]:
    path = tmp_path_factory.mktemp("m") / "plan"
    path.write_bytes(bytes(12))
    with path.open("r+b") as file, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORE_MEMORY", str(path))
        yield Faults(mmap.mmap(file.fileno(), 12))


@pytest.fixture
def store(sanitized: Path, faults: Faults, tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "s", sanitized, agent_options=("--deadline", "1500"))
    try:
        store.start()
        yield store
        faults.plan()
        agent = store.running["agent"]
        store.kill("agent", by=signal.SIGTERM)
        assert agent.returncode == 0, store.log_of("agent").read_text()[-4000:]
    finally:
        faults.plan()
        store.kill_all()


def ask(store: Store, text: bytes) -> bytes:
    """Send commands and `quit`; return the answers, as far as they came."""
    answer = b""
    with suppress(ConnectionError), socket.create_connection(store.address(), DEADLINE) as client:
        client.sendall(text + b"quit\r\n")
        while part := client.recv(1 << 16):
            answer += part
    return answer


def value_of(store: Store, key: bytes) -> bytes:
    """Return the answer to `get`, when the store is writable again."""
    store.wait_writable()
    return ask(store, b"get %s\r\n" % key)


def shown(value: bytes) -> bytes:
    return b"VALUE k 0 %d\r\n%s\r\nEND\r\n" % (len(value), value)


OLD, MISS = shown(b"41"), b"END\r\n"
#: Each command with its answer and the answer to a later `get k`.
COMMANDS = (
    (b"set k 0 0 300\r\n%s\r\n" % bytes(b"x" * 300), b"STORED\r\n", shown(b"x" * 300)),
    (b"replace k 0 0 0\r\n\r\n", b"STORED\r\n", shown(b"")),
    (b"add k 0 0 1\r\ny\r\n", b"NOT_STORED\r\n", OLD),
    (b"append k 0 0 1\r\n0\r\n", b"STORED\r\n", shown(b"410")),
    (b"cas k 0 0 1 7\r\ny\r\n", b"EXISTS\r\n", OLD),
    (b"incr k 1\r\n", b"42\r\n", shown(b"42")),
    (b"touch k 1000\r\n", b"TOUCHED\r\n", OLD),
    (b"delete k\r\n", b"DELETED\r\n", MISS),
    (b"get k missing k\r\n", OLD[:-5] + OLD, OLD),
    (b"version\r\n", b"VERSION 1.6.18-gfsmith\r\n", OLD),
    (b"flush_all\r\n", b"OK\r\n", MISS),
)
VERBS = [command.split()[0].decode() for command, _, _ in COMMANDS]


@pytest.mark.parametrize(("command", "answer", "after"), COMMANDS, ids=VERBS)
def test_each_allocation_of_a_command(
    store: Store, faults: Faults, command: bytes, answer: bytes, after: bytes
) -> None:
    """Each allocation fails once, from the connection to its end (of flush_all, each fourth)."""
    step = 4 if command.startswith(b"flush_all") else 1  # it waits for ticks of 100 ms
    starved = refused = 0
    while True:
        assert ask(store, b"set k 0 0 2\r\n41\r\n") == b"STORED\r\n"
        faults.plan(skip=starved, fail=1)
        got = ask(store, command)
        if faults.pending():
            break
        starved += step
        shows = value_of(store, b"k")
        if got in (answer, answer + b"SERVER_ERROR out of memory\r\n"):  # the latter: for `quit`
            assert shows == after
        elif MEMORY in got:
            refused += 1
            assert got.startswith(b"SERVER_ERROR ") or command.startswith(b"get"), got
            assert shows == OLD
        else:
            assert answer.startswith(got), got  # the agent has closed the connection
            assert shows in (OLD, after)
    faults.plan()
    assert got == answer and value_of(store, b"k") == after
    assert starved > 3 and (refused > 0 or command.startswith(b"version"))


@pytest.mark.parametrize("every", [2, 7])
@pytest.mark.parametrize("what", ["rebuild", "recover"])
def test_background_work_is_tried_again(store: Store, faults: Faults, what: str, every: int) -> None:
    values = {f"key-{n}": b"%d" % n * 50 for n in range(KEYS)}
    for key, value in values.items():
        store.set(key, value)
    for victim in (1, 2, 3, 4):
        store.kill(f"chunk-{victim}")
    lost = ["memcached-1", "memcached-2"] if what == "rebuild" else []
    store.kill(*lost)
    if what == "recover":
        store.kill("agent", by=signal.SIGTERM)
        store.launch("agent")
        store.stats()  # its loop runs
    faults.plan(every=every)
    store.launch(*lost, *(f"chunk-{rank}" for rank in (1, 2, 3, 4)))
    time.sleep(1)
    faults.plan()
    store.wait_writable()
    store.kill("chunk-4", "chunk-5")
    for key, value in values.items():
        assert store.get(key) == value
