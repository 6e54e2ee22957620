"""Allocations of the agent that fail: the request gets an error, and the agent loses and leaks nothing.

The agent is built with sanitizers and native/memory.c, and must end without a leak.
"""

from __future__ import annotations

import itertools
import mmap
import shutil
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from pymemcache.exceptions import MemcacheError

from tests.support.folders import once
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.apps.stripe_store.conftest import HERE, call
from tests.system.apps.stripe_store.support import DEADLINE, EXAMPLE, QUICK, Store

WRAPPED = ("malloc", "calloc", "realloc", "reallocarray", "aligned_alloc")
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all -static-libasan -static-libubsan"
FIELDS = struct.Struct("=iiii")
MEMORY = b"out of memory"
KEYS = 40  #: values that background work has to restore: more than the first table of uthash holds


@dataclass(frozen=True, slots=True)
class Faults:
    """The file that native/memory.c reads."""

    shared: mmap.mmap

    def plan(self, skip: int = 0, fail: int = 0, every: int = 0, lists: bool = False) -> None:
        self.shared[: FIELDS.size] = FIELDS.pack(skip, fail, every, lists)

    def pending(self) -> bool:
        fail: int = FIELDS.unpack(self.shared[: FIELDS.size])[1]
        return fail > 0


def build(source: Path, folder: Path) -> None:
    """Build the agent of a copy of apps/stripe-store."""
    shim = folder / "memory.o"
    call("cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-c", HERE / "native/memory.c", "-o", shim)
    wrap = " ".join(f"-Wl,--wrap={name}" for name in WRAPPED)
    flags = (f"ROOT={ROOT}", f"CFLAGS=-O1 -g {SANITIZE}", f"LDFLAGS={shim} {wrap}")
    agent = folder / "stripe-store" / "stripe-agent"
    call(
        "make",
        "-j2",
        "-C",
        source,
        f"BUILD={folder}",
        f"LIBRARIES={ROOT / 'build'}",
        "FAULTS=1",
        *flags,
        agent,
    )


@pytest.fixture(scope="module")
def sanitized(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the build."""

    def fill(folder: Path) -> None:
        build(EXAMPLE, folder)
        for name in ("stripe-chunk", QUICK):
            shutil.copy(programs / name, folder / "stripe-store")

    return once(tmp_path_factory, "store-memory", fill)


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faults]:
    path = tmp_path_factory.mktemp("m") / "plan"
    path.write_bytes(bytes(FIELDS.size))
    with path.open("r+b") as file, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORE_MEMORY", str(path))
        yield Faults(mmap.mmap(file.fileno(), FIELDS.size))


@contextmanager
def running(build: Path, folder: Path, faults: Faults) -> Iterator[Store]:
    """A store, whose agent must end without a leak."""
    store = Store(folder / "s", build / "stripe-store")
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


@pytest.fixture
def store(sanitized: Path, faults: Faults, tmp_path: Path) -> Iterator[Store]:
    with running(sanitized, tmp_path, faults) as store:
        yield store


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
            assert shows == (after if got.startswith(b"SERVER_ERROR deleted, but ") else OLD)
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


def fail_each_list(store: Store, faults: Faults) -> None:
    """While a chunk server gets its chunks again, each growth of a list fails once: no value is lost."""
    values = {f"key-{n}": b"%d" % n * 50 for n in range(KEYS)}
    for key, value in values.items():
        store.set(key, value)
    for grown in itertools.count():
        store.kill("chunk-1", "memcached-1")
        store.wait_state("state", "read-only")  # else the agent may still count on chunk server 1
        faults.plan(skip=grown, fail=1, lists=True)
        store.launch("memcached-1", "chunk-1")
        store.wait_writable()
        if faults.pending():
            assert grown > 1
            return
        store.kill("chunk-4", "chunk-5")  # the values need their chunks on chunk server 1
        with store.client() as client:
            assert {key: client.get(key) for key in values} == values
        store.launch("chunk-4", "chunk-5")
        store.wait_writable()


def test_a_list_that_cannot_grow(store: Store, faults: Faults) -> None:
    fail_each_list(store, faults)


#: A failed addition to a list is ignored, in the list and by a caller.
IGNORED = (
    Mutant("return false;", "return true;", within="versions_add"),
    Mutant(
        "!versions_add(&s->todo[PHASE_CHUNKS], $version)",
        "versions_add(&s->todo[PHASE_CHUNKS], $version) && false",
    ),
)


@pytest.mark.parametrize("mutant", IGNORED, ids=["in the list", "by a caller"])
def test_an_ignored_failure_is_detected(
    sanitized: Path, faults: Faults, tmp_path: Path, mutant: Mutant
) -> None:
    wrong, source = tmp_path / "build", tmp_path / "store"
    shutil.copytree(sanitized, wrong)
    shutil.copytree(EXAMPLE, source)
    plant(mutant, sorted((EXAMPLE / "agent").glob("*.c")), source / "agent")
    build(source, wrong)
    with running(wrong, tmp_path, faults) as store, pytest.raises(MemcacheError, match="not enough"):
        fail_each_list(store, faults)
