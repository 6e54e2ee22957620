"""Authentication of clients (--auth), and changes of secrets: passwords and the key of the links."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable

import pytest

from tests.system.apps.stripe_store.support import DEADLINE, Store, wait_for

STORED, REFUSED, UNKNOWN = (
    line + b"\r\n"
    for line in (b"STORED", b"CLIENT_ERROR authentication failure", b"CLIENT_ERROR unauthenticated")
)
SET, GET = b"set k 0 0 5\r\nvalue\r\n", b"get k\r\n"
VALUE = b"VALUE k 0 5\r\nvalue\r\nEND\r\n"


def login(words: str) -> bytes:
    return b"set x 0 0 %d\r\n%s\r\n" % (len(words), words.encode())


ALICE = login("alice s:cret")


def write_passwords(store: Store, text: str, mode: int = 0o600) -> None:
    path = store.folder / "passwords"
    path.touch()
    path.chmod(mode)
    path.write_text(text)


def answers(store: Store, *commands: bytes) -> bytes:
    with socket.create_connection(store.address(), DEADLINE) as client:
        client.sendall(b"".join(commands) + b"quit\r\n")
        return b"".join(iter(lambda: client.recv(1 << 16), b""))


@pytest.fixture(scope="module")
def store(make_store: Callable[..., Store]) -> Store:
    store = make_store()
    write_passwords(store, "bob:other\neve:\n:\nalice:s:cret\n")
    store.kill("agent")
    store.agent_options = ("--auth", "--stall", "2")
    store.launch("agent")
    wait_for("the agent", lambda: answers(store, ALICE, SET) == STORED * 2)
    return store


def test_commands_before_the_login_have_no_effect(store: Store) -> None:
    commands = (
        GET,
        b"delete k\r\n",
        b"stats\r\n",
        b"flush_all\r\n",
        b"add k 0 0 1\r\ny\r\n",
        b"incr k 1\r\n",
    )
    assert answers(store, *commands, ALICE, GET) == UNKNOWN * len(commands) + STORED + VALUE


@pytest.mark.parametrize(
    "words",
    [
        "alice wrong",
        "alice s:cre",
        "alice s:cret ",
        "alice:s:cret",
        "bob s:cret",
        "alice",
        "eve ",
        " ",
        "",
        "\n",
    ],
)
def test_a_wrong_password_ends_the_connection(store: Store, words: str) -> None:
    assert answers(store, login(words), ALICE, GET) == REFUSED


def test_a_login_takes_little_memory(store: Store) -> None:
    large = b"set x 0 0 100000\r\n%s\r\n" % bytes(100_000)
    assert answers(store, large, GET) == b"SERVER_ERROR object too large for cache\r\n" + UNKNOWN
    assert answers(store, ALICE, large) == STORED * 2


def send_until_closed(client: socket.socket, piece: bytes) -> None:
    for _ in range(100):
        time.sleep(0.1)
        try:
            client.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            return
    raise AssertionError("the client is still connected")


@pytest.mark.parametrize("piece", [b"s", GET], ids=["bytes", "commands"])
def test_a_login_has_a_time_limit(store: Store, piece: bytes) -> None:
    """Neither bytes nor refused commands extend it; clients who have logged in may pause."""
    with (
        socket.create_connection(store.address(), DEADLINE) as known,
        socket.create_connection(store.address(), DEADLINE) as stranger,
    ):
        known.sendall(ALICE)
        assert known.recv(100) == STORED
        send_until_closed(stranger, piece)
        known.sendall(SET)
        assert known.recv(100) == STORED


def test_passwords_change_while_the_agent_runs(store: Store) -> None:
    with socket.create_connection(store.address(), DEADLINE) as client:
        client.sendall(ALICE)
        assert client.recv(100) == STORED
        write_passwords(store, "carol:new\n")
        assert answers(store, ALICE) == REFUSED
        assert answers(store, login("carol new"), GET) == STORED + VALUE
        client.sendall(GET)  # connections remain
        assert client.recv(100) == VALUE
    (store.folder / "passwords").unlink()
    assert answers(store, ALICE) == b"SERVER_ERROR the passwords cannot be read\r\n"
    write_passwords(store, "alice:s:cret\n")


def test_logins_are_refused_while_others_can_read_the_passwords(store: Store) -> None:
    assert answers(store, ALICE) == STORED
    write_passwords(store, "alice:s:cret\n", 0o644)
    for _ in range(3):
        assert answers(store, ALICE) == b"SERVER_ERROR the passwords cannot be read\r\n"
    write_passwords(store, "alice:s:cret\n")
    assert answers(store, ALICE) == STORED
    line = f"logins are refused: {store.folder}/passwords is readable by others: chmod 600 it\n"
    assert store.log_of("agent").read_text().count(line) == 1


def test_the_file_of_passwords_must_be_secret(fresh_store: Callable[..., Store]) -> None:
    store = fresh_store()
    store.kill("agent")
    store.agent_options = ("--auth",)
    for mode, why in ((None, "cannot read"), (0o640, "is readable by others: chmod 600 it")):
        if mode is not None:
            write_passwords(store, "alice:s:cret\n", mode)
        store.launch("agent")
        assert store.running.pop("agent").wait(DEADLINE) == 2
        assert why in store.log_of("agent").read_text().splitlines()[-1]


def test_the_key_of_the_links_changes(fresh_store: Callable[..., Store]) -> None:
    """Agent and chunk servers restart with another key; the values stay in the memcacheds."""
    store = fresh_store()
    store.set("k", b"value")
    store.kill(*(f"chunk-{rank}" for rank in store.ranks))
    store.wait_state("chunk_server_1", "gone")
    store.launch("chunk-1")  # still with the old key
    wait_for("chunk server 1", lambda: store.stats()["chunk_server_1"] != "gone")
    store.kill("agent")
    (store.folder / "key").write_text(secrets.token_hex(32))
    store.launch("agent", *(f"chunk-{rank}" for rank in store.ranks if rank != 1))
    wait_for("recovery", lambda: store.stats().get("state") == "read-only")
    assert store.stats()["chunk_server_1"] == "gone"
    assert store.get("k") == b"value"
    store.kill("chunk-1")
    store.mend()
    store.set("k", b"other")
    assert store.get("k") == b"other"


def test_many_users(store: Store) -> None:
    """A file that is too long refuses all of them; so it has to be long."""
    write_passwords(store, "".join(f"user-{i}:password-{i}\n" for i in range(2000)))
    assert answers(store, login("user-1999 password-1999"), GET) == STORED + VALUE
    write_passwords(store, "alice:s:cret\n" * (65536 // 13 + 1))
    assert answers(store, ALICE, GET) == b"SERVER_ERROR the passwords cannot be read\r\n"
    write_passwords(store, "alice:s:cret\n")
    assert answers(store, ALICE, GET) == STORED + VALUE
