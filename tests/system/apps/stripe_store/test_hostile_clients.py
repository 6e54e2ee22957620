"""Clients that do not read, do not go on, or are too many: others are served, and memory stays bounded."""

from __future__ import annotations

import random
import resource
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from pymemcache.exceptions import MemcacheServerError

from tests.system.apps.stripe_store.conftest import HERE, call
from tests.system.apps.stripe_store.support import DEADLINE, EXAMPLE, HEADERS, LANGUAGE, Store, wait_for

Make = Callable[..., Store]

BIG = 1_000_000
MEMORY = 4_000_000  #: bytes of values in transit
STALL = 2  #: seconds
CLIENTS = 40


@pytest.fixture(scope="module")
def store(make_store: Make) -> Store:
    limits = ("--memory", MEMORY, "--stall", STALL, "--max-clients", CLIENTS)
    store = make_store(agent_options=tuple(map(str, limits)))
    store.set("big", bytes(BIG))
    return store


@contextmanager
def raw(store: Store, data: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection(store.address(), timeout=30) as client:
        client.sendall(data)
        yield client


def _in_transit(store: Store) -> int:
    return int(store.stats()["bytes_on_their_way"])


def _connections(store: Store) -> int:
    return int(store.stats()["curr_connections"])


def _serves(store: Store) -> None:
    """Other clients can read and write."""
    value = store.get("big")
    assert value is not None and len(value) == BIG
    store.set("other", bytes(BIG))


def _closed(client: socket.socket) -> bool:
    """Read the answers that the agent has sent; return True when it has closed the connection."""
    with suppress(ConnectionResetError, BrokenPipeError):
        while client.recv(1 << 20):
            pass
    return True


def test_a_client_that_asks_for_much_and_does_not_read(store: Store) -> None:
    began = time.monotonic()
    with raw(store, b"get" + b" big" * 400 + b"\r\n") as client:
        wait_for("its values", lambda: _in_transit(store) > 0)
        assert _in_transit(store) <= 2 * BIG + 2 * MEMORY // 4
        _serves(store)
        wait_for("its end", lambda: _in_transit(store) == 0)
        assert _closed(client)
    assert time.monotonic() - began < 60 * STALL


def test_a_client_that_reads_late_gets_everything(store: Store) -> None:
    with raw(store, b"get" + b" big" * 30 + b"\r\nquit\r\n") as client:
        time.sleep(STALL / 4)
        answer = bytearray()
        while part := client.recv(1 << 20):
            answer += part
    assert answer.count(b"VALUE big ") == 30 and answer.endswith(b"END\r\n")
    assert len(answer) == 30 * (BIG + len("VALUE big 0 1000000\r\n\r\n")) + len("END\r\n")


def test_a_client_that_sends_commands_and_does_not_read(store: Store) -> None:
    """The agent stops to read its commands."""
    before = _connections(store)
    with raw(store) as client:
        client.settimeout(STALL / 4)
        sent = 0
        with pytest.raises((TimeoutError, ConnectionError)):  # the latter if the test itself stands still
            while sent < 512 << 20:
                sent += client.send(b"get big\r\n" * 10_000)
        _serves(store)
        wait_for("its end", lambda: _connections(store) == before)


def test_clients_that_stop_within_a_value(store: Store) -> None:
    """Their memory counts when their bytes arrive, and they are closed after a while."""
    header = b"set k 0 0 %d\r\n" % BIG
    clients = [socket.create_connection(store.address(), timeout=30) for _ in range(CLIENTS // 2)]
    for client in clients:
        client.sendall(header)
    _serves(store)
    clients[0].sendall(bytes(BIG // 2))
    wait_for("half a value", lambda: _in_transit(store) == BIG // 2)
    for client in clients:
        assert _closed(client)
        client.close()
    assert _in_transit(store) == 0


def test_values_beyond_the_memory_are_refused(store: Store) -> None:
    """The whole value is read, so the next command is understood."""
    parts = [socket.create_connection(store.address(), timeout=30) for _ in range(8)]
    for client in parts:
        client.sendall(b"set k 0 0 %d\r\n" % BIG + bytes(BIG - 1))
    answers = []
    for client in parts:
        client.sendall(b"x\r\nversion\r\n")
        with client.makefile("rb") as lines:
            answers.append(lines.readline())
            assert lines.readline().startswith(b"VERSION")
        client.close()
    assert any(b"too many values are in transit" in answer for answer in answers)
    assert all(answer == b"STORED\r\n" or b"SERVER_ERROR out of memory" in answer for answer in answers)
    _serves(store)


SLOW = {
    "value": b"set slow 0 0 %d\r\n" % BIG + bytes(BIG - 1000),
    "line": b"get" + b" k" * (BIG // 2),
    "answer": b"get big\r\n",
}
"""Beginnings of commands for which the agent has about a megabyte in memory."""
ROUNDS = 60


@pytest.mark.parametrize("kind", SLOW)
def test_slow_clients_do_not_keep_the_memory(store: Store, kind: str) -> None:
    """They send a byte or read some now and then, for hours, and are closed when others need the memory."""
    with ExitStack() as stack:
        slow = [stack.enter_context(_narrow(store, SLOW[kind])) for _ in range(CLIENTS // 4)]
        wait_for("a lack of memory", lambda: _in_transit(store) > MEMORY - BIG)
        for _ in range(ROUNDS):
            for client in slow:
                with suppress(OSError):
                    client.recv(8000) if kind == "answer" else client.send(b"k")
            try:
                _serves(store)
                return
            except MemcacheServerError as error:
                assert b"too many values are in transit" in error.args[0]
                time.sleep(STALL / 8)
    raise AssertionError("others are not served")


@contextmanager
def _narrow(store: Store, data: bytes) -> Iterator[socket.socket]:
    """A connection whose buffers in the system have little room for answers, as those of short packets."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        client.settimeout(DEADLINE)
        client.connect(store.address())
        with suppress(OSError):  # a line for which there is no memory
            client.sendall(data)
        client.setblocking(False)
        yield client


def test_too_many_clients(store: Store) -> None:
    clients = [socket.create_connection(store.address(), timeout=30) for _ in range(CLIENTS)]
    with raw(store) as client:
        assert client.recv(100) == b"SERVER_ERROR too many clients\r\n"
    with socket.socket(socket.AF_UNIX) as local:  # as `stripe-store status`
        local.connect(str(store.folder / "local"))
        local.sendall(b"version\r\n")
        assert local.recv(100).startswith(b"VERSION")
    for each in clients:
        each.close()
    wait_for("their end", lambda: _accepted(store))
    _serves(store)


def _accepted(store: Store) -> bool:
    with raw(store, b"version\r\n") as client:
        return client.recv(100).startswith(b"VERSION")


def test_no_free_descriptors(store: Store) -> None:
    """The agent neither spins nor fills its log, and accepts clients again as soon as it can."""
    pid, log = store.running["agent"].pid, store.log_of("agent")
    before, size = resource.prlimit(pid, resource.RLIMIT_NOFILE), log.stat().st_size
    open_now = _connections(store)
    with raw(store, b"version\r\n") as last:
        assert last.recv(100).startswith(b"VERSION")
        lowest = max(int(path.name) for path in Path(f"/proc/{pid}/fd").iterdir()) + 1
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (lowest, before[1]))
        waiting = [socket.create_connection(store.address(), timeout=30) for _ in range(CLIENTS // 2)]
        spent = _cpu_seconds(pid)
        time.sleep(1)
        assert _cpu_seconds(pid) - spent < 0.5
        assert log.stat().st_size - size < 1000 and "cannot be accepted" in log.read_text()[size:]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        for client in waiting:
            client.sendall(b"version\r\n")
            assert client.recv(100).startswith(b"VERSION")
            client.close()
    wait_for("their end", lambda: _connections(store) <= open_now)
    _serves(store)


FILES = 120  #: descriptors that an agent may have; it keeps 104 for itself and five chunk servers


class FewFiles(Store):
    def command(self, name: str) -> list[str]:
        own = Store.command(self, name)
        return ["prlimit", f"--nofile={FILES}", *own] if name == "agent" else own


def test_clients_leave_descriptors_for_chunk_servers(programs: Path, tmp_path: Path) -> None:
    store = FewFiles(tmp_path / "store", programs)
    with ExitStack() as stack:
        stack.callback(store.kill_all)
        store.start()
        clients = [stack.enter_context(raw(store)) for _ in range(FILES)]
        assert clients[-1].recv(100) == b"SERVER_ERROR too many clients\r\n"
        store.kill("chunk-1")
        store.launch("chunk-1")
        for client in clients[:4]:
            client.close()
        wait_for("their end", lambda: _accepted(store))
        store.wait_writable()
        assert "accepts at most 16 clients" in store.log_of("agent").read_text()


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_many_refused_commands_on_one_key(store: Store) -> None:
    """They wait for the key's lock together, and each is refused as soon as it has it."""
    store.set("key", b"value")
    store.kill("chunk-5")
    wait_for("read-only", lambda: store.stats()["state"] == "read-only")
    refusals = b"delete key\r\n" * 400
    with ExitStack() as stack:
        first, *others = [stack.enter_context(raw(store)) for _ in range(CLIENTS - 5)]
        store.signal("agent", signal.SIGSTOP)
        first.sendall(b"add key 0 0 1\r\nx\r\n")  # has the lock until the chunk servers have answered
        for client in others:
            client.sendall(refusals)
        store.signal("agent", signal.SIGCONT)
        answers = [client.makefile("rb").readline() for client in others]
    assert {answer[:23] for answer in answers} == {b"SERVER_ERROR read-only:"}
    store.launch("chunk-5")
    store.wait_writable()


def _mix(state: list[int]) -> None:
    """Mix the three words of the hash function that uthash has without HASH_FUNCTION (Jenkins, 1996)."""
    for at, shift in enumerate((-13, 8, -13, -12, 16, -5, -3, 10, -15)):
        a, b, c = (state[(at + n) % 3] for n in range(3))
        moved = c >> -shift if shift < 0 else c << shift
        state[at % 3] = ((a - b - c) ^ moved) & 0xFFFFFFFF


def _keys_of_one_hash(count: int) -> list[bytes]:
    """Return keys that a client may use: the second half of each takes the state to the same words."""
    draw, keys = random.Random(1), []
    while len(keys) < count:
        half = bytes(draw.choices(range(0x21, 0x7F), k=12))
        state = [
            start + word & 0xFFFFFFFF for start, word in zip(_START, struct.unpack("<3I", half), strict=True)
        ]
        _mix(state)
        words = (0x51525354 - word & 0xFFFFFFFF for word in state)
        key = half + struct.pack("<3I", *words)
        if all(byte > 0x20 and byte != 0x7F for byte in key):
            keys.append(key)
    return keys


_START = (0x9E3779B9, 0x9E3779B9, 0xFEEDBEEF)


def _most_in_one_place(folder: Path, keys: list[bytes]) -> int:
    sources = (HERE / "native" / "table.c", EXAMPLE / "common" / "table.c")
    call("cc", *LANGUAGE, *HEADERS, "-o", folder / "table", *sources, "-lsodium")
    command = (folder / "table", str(len(keys[0])))
    text = subprocess.run(command, input=b"".join(keys), capture_output=True, check=True).stdout
    most, count = map(int, text.split())
    assert count == len(keys)
    return most


def test_keys_of_one_hash(tmp_path: Path) -> None:
    """A client cannot fill one place of the agent's tables: each later command would search all of it."""
    keys = _keys_of_one_hash(4000)
    assert _most_in_one_place(tmp_path, keys) < 40
