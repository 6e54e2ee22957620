"""Ordinary clients: pymemcache and the tools of libmemcached."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheClientError, MemcacheServerError

from tests.system.apps.stripe_store.support import DEADLINE, Store, wait_for

Make = Callable[..., Store]


@pytest.fixture(scope="module")
def store(make_store: Make) -> Store:
    return make_store(agent_options=("--memory", "8000000"))


def test_pymemcache(store: Store) -> None:
    with store.client() as client:
        assert client.get("nothing") is None
        assert client.set("key", b"value", flags=7)
        assert client.get("key") == b"value"
        assert client.add("key", b"other") is False
        assert client.add("added", b"1")
        assert client.replace("nothing", b"other") is False
        assert client.replace("key", b"replaced")
        assert client.append("key", b" after")
        assert client.prepend("key", b"before ")
        assert client.append("nothing", b"x") is False
        assert client.get("key") == b"before replaced after"
        _, version = client.gets("key")
        assert client.cas("key", b"mine", version)
        assert client.cas("key", b"too late", version) is False
        assert client.cas("nothing", b"x", version) is None
        assert client.get("key") == b"mine"
        assert client.incr("added", 41) == 42
        assert client.decr("added", 50) == 0
        assert client.set("zeros", b"0" * 30 + b"41")
        assert client.incr("zeros", 1) == 42
        assert client.incr("nothing", 1) is None
        with pytest.raises(MemcacheClientError):
            client.incr("key", 1)
        assert client.touch("key", 1000)
        assert client.touch("nothing", 1000) is False
        assert client.get_many(["key", "nothing", "added"]) == {"key": b"mine", "added": b"0"}
        assert client.delete("key")
        assert client.delete("key") is False
        assert client.get("key") is None
        assert client.version().startswith(b"1.6")


def test_flags_and_times(store: Store) -> None:
    with store.client() as client:
        client.set("flagged", b"value", flags=0xFFFFFFFF)
        assert client.raw_command(b"get flagged", b"END\r\n").startswith(b"VALUE flagged 4294967295 5\r\n")
        client.set("past", b"value", expire=-1)
        assert client.get("past") is None
        assert client.add("past", b"again")
        client.set("soon", b"value", expire=1)
        wait_for("a value to expire", lambda: client.get("soon") is None)
        client.set("later", b"value", expire=2_000_000_000)
        assert client.get("later") == b"value"


@pytest.mark.parametrize("length", [0, 1, 2, 3, 63, 64, 65, 192, 1000, 65536, 1_048_575, 1_048_576])
def test_lengths(store: Store, length: int) -> None:
    value = random.Random(length).randbytes(length)
    store.set("length", value)
    assert store.get("length") == value


def test_noreply_and_pipelines(store: Store) -> None:
    """Many commands in one packet, cut at any byte, are answered in order; noreply
    is silent even on failure.
    """
    commands = b"".join(
        b"set p%d 0 0 %d\r\n%s\r\nset q 0 0 2 noreply\r\nqq\r\nget p%d\r\nadd q 0 0 1 noreply\r\nx\r\n"
        % (i, i, b"x" * i, i)
        for i in range(30)
    )
    expected = b"".join(b"STORED\r\nVALUE p%d 0 %d\r\n%s\r\nEND\r\n" % (i, i, b"x" * i) for i in range(30))
    for cuts in ([], [1], [100], [5, 6, 7, 8, 9, 10, 11]):
        with socket.create_connection(store.address(), DEADLINE) as link:
            for start, end in zip([0, *cuts], [*cuts, len(commands)], strict=True):
                link.sendall(commands[start:end])
            assert receive(link, len(expected)) == expected


def receive(link: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count and (more := link.recv(65536)):
        got += more
    return got


def ask(store: Store, text: bytes) -> bytes:
    """Return all answers until the agent closes the connection."""
    with socket.create_connection(store.address(), DEADLINE) as link:
        link.sendall(text + b"quit\r\n")
        return receive(link, 1 << 30)


BAD_LINE = b"CLIENT_ERROR bad command line format\r\n"


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"nonsense\r\n", b"ERROR\r\n"),
        (b"\r\n", b"ERROR\r\n"),
        (b"get\r\n", BAD_LINE),
        (b"get " + b"k" * 251 + b"\r\n", BAD_LINE),
        (b"get \x01\r\n", BAD_LINE),
        (b"set a 0 0\r\n", BAD_LINE),
        (b"set a 0 0 -1\r\n", BAD_LINE),
        (b"set a 4294967296 0 1\r\n", BAD_LINE),
        (b"set a 0 0 18446744073709551616\r\n", BAD_LINE),
        (b"set a 0 0 1 maybe\r\n", BAD_LINE),
        (b"incr a x\r\n", BAD_LINE),
        (b"flush_all 10\r\n", BAD_LINE),
        (b"set \x01 0 0 7\r\nversion\r\n", BAD_LINE),  # the value is no command, nor are the next three
        (b"ms a 7\r\nversion\r\n", b"ERROR\r\n"),
        (b"\x80\x01\r\nversion\r\n", b"ERROR\r\n"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nversion\r\n", b"ERROR\r\n"),
        (b"set a 0 0 3\r\nabcd\r\n", b"CLIENT_ERROR bad data chunk\r\n"),
        (b"set a 0 0 1048577\r\n" + bytes(1048577) + b"\r\n", b"SERVER_ERROR object too large for cache\r\n"),
        (b"version\n", b"VERSION 1.6.18-gfsmith\r\n"),
        (b"version now\r\n", b"VERSION 1.6.18-gfsmith\r\n"),
        (b"quit now\r\nversion\r\n", b""),
        (b"verbosity 1\r\n", b"OK\r\n"),
        (b"verbosity\r\n", BAD_LINE),
        (b"stats items\r\nstats slabs\r\nstats settings\r\n", b"END\r\n" * 3),
        (b"stats reset\r\n", BAD_LINE),
        (b"verbosity noreply\r\nverbosity 1 noreply\r\n", b""),
    ],
)
def test_lines_that_are_refused(store: Store, sent: bytes, answer: bytes) -> None:
    assert ask(store, sent) == answer
    assert store.get("a") is None


def test_a_request_of_the_binary_protocol_has_no_line(store: Store) -> None:
    """The connection is closed at once: its client does not wait for an answer."""
    with socket.create_connection(store.address(), DEADLINE) as link:
        link.sendall(b"\x80\x0c\x00\x01" + bytes(7) + b"\x01" + bytes(12) + b"b")
        link.settimeout(10)
        assert receive(link, 1 << 30) == b"ERROR\r\n"


@pytest.mark.parametrize(("word", "most"), [(b"touch", 1 << 16), (b"gets", 1 << 20)])
def test_a_line_without_end(store: Store, word: bytes, most: int) -> None:
    with socket.create_connection(store.address(), DEADLINE) as link:
        link.sendall(word + b" k" * (most // 2))
        assert receive(link, 1 << 30) == b"CLIENT_ERROR line too long\r\n"


def test_many_keys_in_a_line(store: Store) -> None:
    """Clients send all keys of `get_many` in one line, of any length for memcached."""
    keys = [f"{'k' * 240}-{number}" for number in range(2000)]
    store.set(keys[0], b"first")
    store.set(keys[-1], b"last")
    with store.client() as client:
        assert client.get_many(keys) == {keys[0]: b"first", keys[-1]: b"last"}
    assert store.stats()["bytes_on_their_way"] == "0"


def test_many_clients_one_key(store: Store) -> None:
    """Writers of a key wait for each other: no increment is lost, and no memory stays allocated."""
    store.set("count", b"0")
    clients = [Client(store.address(), timeout=DEADLINE, default_noreply=False) for _ in range(8)]
    links = [socket.create_connection(store.address(), DEADLINE) for _ in clients]
    for link in links:
        link.sendall(b"incr count 1\r\n" * 10)
    for link in links:
        assert b"ERROR" not in (answers := receive_lines(link, 10)), answers
        link.close()
    assert store.get("count") == b"80"
    wait_for("memory to be released", lambda: store.stats()["bytes_on_their_way"] == "0")


def receive_lines(link: socket.socket, count: int) -> bytes:
    got = b""
    while got.count(b"\r\n") < count and (more := link.recv(65536)):
        got += more
    return got


def test_a_client_that_ends_its_side(store: Store) -> None:
    """It gets the answers to all that it sent before, as from memcached."""
    store.set("half", bytes(1_000_000))
    value = b"VALUE half 0 1000000\r\n" + bytes(1_000_000) + b"\r\n"
    for sent, expected in (
        (b"set shut 0 0 3\r\nabc\r\n", b"STORED\r\n"),
        (b"get shut\r\n" * 3, b"VALUE shut 0 3\r\nabc\r\nEND\r\n" * 3),
        (b"get half half\r\nset shut 0 0 9\r\nabc", value * 2 + b"END\r\n"),
    ):
        with socket.create_connection(store.address(), timeout=30) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            answer = bytearray()
            while part := client.recv(1 << 20):
                answer += part
        assert answer == expected, sent


def test_a_client_that_leaves(store: Store) -> None:
    for text in (b"set gone 0 0 100000\r\nabc", b"set gone 0 0 3\r\nabc\r\nget gone\r\n" * 20, b"get go"):
        with socket.create_connection(store.address(), DEADLINE) as link:
            link.sendall(text)
    wait_for("memory to be released", lambda: store.stats()["bytes_on_their_way"] == "0")
    wait_for("connections to close", lambda: store.stats()["curr_connections"] == "1")


def test_values_in_transit_are_bounded(store: Store) -> None:
    """8 MB hold seven values of 1 MiB that lack a byte; the eighth is refused, and its bytes are skipped."""
    links = [socket.create_connection(store.address(), DEADLINE) for _ in range(7)]
    try:
        for link in links:
            link.sendall(b"set big 0 0 1048576\r\n" + bytes(1048575))
        wait_for("seven", lambda: int(store.stats()["bytes_on_their_way"]) > 7_000_000)
        with (
            store.client() as client,
            pytest.raises(MemcacheServerError, match="too many values are in transit"),
        ):
            client.set("big", bytes(1048576))
    finally:
        for link in links:
            link.close()
    store.set("big", bytes(1048576))


def test_long_lines_count_as_values(store: Store) -> None:
    """8 MB hold the beginnings of eight lines; that of the ninth is refused."""
    line = b"get" + b" k" * 450_000
    links = [socket.create_connection(store.address(), DEADLINE) for _ in range(8)]
    for link in links:
        link.sendall(line)
    wait_for("eight lines", lambda: store.stats()["bytes_on_their_way"] == str(8 * len(line)))
    with socket.create_connection(store.address(), DEADLINE) as link, suppress(ConnectionError):
        link.sendall(line)
        assert receive(link, 1 << 30) == b"SERVER_ERROR out of memory\r\n"
    for link in links:
        link.close()
    wait_for("memory to be released", lambda: store.stats()["bytes_on_their_way"] == "0")


def test_totals(store: Store) -> None:
    with store.client() as client:
        client.flush_all(noreply=False)
        for key, value in (("one", bytes(100)), ("two", bytes(1000)), ("one", bytes(10)), ("three", b"")):
            client.set(key, value)
        assert (store.stats()["curr_items"], store.stats()["bytes"]) == ("3", "1010")
        client.delete("two")
        client.append("one", bytes(5))
        assert (store.stats()["curr_items"], store.stats()["bytes"]) == ("2", "15")
        client.flush_all(noreply=False)
        assert (store.stats()["curr_items"], store.stats()["bytes"]) == ("0", "0")


# -- libmemcached's tools ----------------------------------------------------------------------------------

needs_tools = pytest.mark.skipif(shutil.which("memccapable") is None, reason="needs libmemcached-tools")


def tool(store: Store, name: str, *arguments: str | Path) -> str:
    host, port = store.address()
    servers = ("-h", host, "-p", str(port)) if name == "memccapable" else (f"--servers={host}:{port}",)
    command = [name, *servers, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env={**os.environ})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_tools(store: Store, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(name.encode() * 1000)
    tool(store, "memccp", tmp_path / "one", tmp_path / "two")
    assert tool(store, "memccat", "one") == "one" * 1000 + "\n"
    tool(store, "memcexist", "two")
    tool(store, "memcrm", "two")
    assert store.get("two") is None
    assert "curr_items" in tool(store, "memcstat")
    tool(store, "memcflush")
    assert store.get("one") is None
    tool(store, "memccapable", "-a")
