"""TLS for clients (--tls): the connection is encrypted, and the agent has a certificate."""

from __future__ import annotations

import signal
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.system.apps.stripe_store.support import CLOCK, DEADLINE, Store, certify, environment, wait_for

pytestmark = pytest.mark.needs("store")

LARGE = b"v" * 1_000_000
SET = b"set large 0 0 %d\r\n%s\r\n" % (len(LARGE), LARGE)
VALUE = b"VALUE large 0 %d\r\n%s\r\n" % (len(LARGE), LARGE)


@pytest.fixture(scope="module")
def store(make_store: Callable[..., Store]) -> Store:
    store = make_store(agent_options=("--stall", "1", "--max-clients", "20"))
    certify(store.folder)
    passwords = store.folder / "passwords"
    passwords.touch(0o600)
    passwords.write_text("alice:secret\n")
    store.kill("agent")
    store.agent_options += ("--tls", "--auth")
    store.launch("agent")
    wait_for("the agent", lambda: b"read-write" in answers(store, b"stats\r\n"))
    return store


def connect(store: Store) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=store.folder / "tls.crt")
    plain = socket.create_connection(store.address(), DEADLINE)
    return context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False)


def receive(client: socket.socket) -> bytes:
    """Return all bytes until the end; with TLS, an end that the agent did not announce is an error."""
    return b"".join(iter(lambda: client.recv(1 << 16), b""))


def answers(store: Store, *commands: bytes) -> bytes:
    with connect(store) as client:
        client.sendall(b"set login 0 0 12\r\nalice secret\r\n" + b"".join(commands) + b"quit\r\n")
        return receive(client).removeprefix(b"STORED\r\n")


def test_clients_and_values(store: Store) -> None:
    assert answers(store, SET, b"get large\r\n") == b"STORED\r\n" + VALUE + b"END\r\n"
    assert answers(store, b"get" + b" large" * 20 + b"\r\n") == VALUE * 20 + b"END\r\n"


def last_answers(store: Store, first: bytes, last: bytes) -> bytes:
    """Send `first`, then `last` and the end of the input in one packet. Return all answers."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context(cafile=store.folder / "tls.crt")
    session = context.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with socket.create_connection(store.address(), DEADLINE) as plain:

        def until_done(step: Callable[[], bytes | int | None]) -> bytes | int | None:
            while True:
                try:
                    return step()
                except ssl.SSLWantReadError:
                    plain.sendall(outgoing.read())
                    incoming.write(plain.recv(1 << 16))

        until_done(session.do_handshake)
        session.write(first)
        plain.sendall(outgoing.read())
        time.sleep(0.01)  # mostly enough for the agent to have read it
        session.write(last)
        with suppress(ssl.SSLWantReadError):
            session.unwrap()
        answers = b""
        with suppress(ssl.SSLZeroReturnError):
            while part := until_done(lambda: session.read(1 << 16)):
                assert isinstance(part, bytes)
                answers += part
        return answers


def test_a_client_that_ends_its_input(store: Store) -> None:
    """The agent executes its last command, even if that ends in another buffer than it began: libevent
    reads the end of the input then before it reports the command.
    """
    login, answer = b"set login 0 0 12\r\nalice secret\r\n", b"VERSION 1.6.18-gfsmith\r\n"
    for count in range(446, 454):
        first = login + b"version\r\n" * count + b"ver"
        assert last_answers(store, first, b"sion\r\n") == b"STORED\r\n" + answer * (count + 1), count


def test_another_certificate_is_noticed(store: Store, tmp_path: Path) -> None:
    certify(tmp_path)
    context = ssl.create_default_context(cafile=tmp_path / "tls.crt")
    with socket.create_connection(store.address(), DEADLINE) as plain, pytest.raises(ssl.SSLError):
        context.wrap_socket(plain, server_hostname="127.0.0.1")


def test_no_answer_is_plain(store: Store) -> None:
    """A client without TLS gets at most an alert, also if too many clients are connected."""
    many = [socket.create_connection(store.address(), DEADLINE) for _ in range(22)]
    for client in many:
        client.sendall(b"version\r\nget large\r\n")
    for client in many:
        with suppress(ConnectionResetError):
            assert len(receive(client)) < 10
        client.close()
    assert answers(store, b"get none\r\n") == b"END\r\n"


def test_handshakes_end(store: Store) -> None:
    """A client that sends nothing, or half of a greeting, is closed after the time of --stall."""
    for start in (b"", b"\x16\x03\x01\x02\x00\x01"):
        with socket.create_connection(store.address(), DEADLINE) as client:
            client.sendall(start)
            assert len(receive(client)) < 10


def test_a_client_that_does_not_read_is_closed(store: Store) -> None:
    answers(store, SET)
    with connect(store) as client:
        client.sendall(b"set login 0 0 12\r\nalice secret\r\nget" + b" large" * 40 + b"\r\n")
        closed = b"curr_connections 1\r\n"
        wait_for("the client to be closed", lambda: closed in answers(store, b"stats\r\n"))


def refusal(store: Store) -> str:
    store.launch("agent")
    assert store.running.pop("agent").wait(DEADLINE) == 2
    return store.log_of("agent").read_text().splitlines()[-1]


def test_refused_files(fresh_store: Callable[..., Store]) -> None:
    store = fresh_store()
    store.kill("agent")
    store.agent_options = ("--tls",)
    certificate, key = store.folder / "tls.crt", store.folder / "tls.key"
    assert refusal(store) == f"stripe-agent: {certificate}: No such file or directory"
    certify(store.folder)
    key.chmod(0o640)
    assert refusal(store) == f"stripe-agent: {key} is readable by others: chmod 600 it"
    certify(store.folder, "other")
    (store.folder / "other.key").replace(key)
    assert refusal(store) == f"stripe-agent: {key}: key values mismatch"
    key.write_text("no key")
    assert refusal(store).startswith(f"stripe-agent: {key}: ")
    key.write_text("-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
    assert refusal(store) == f"stripe-agent: {key}: it has a passphrase; remove that"
    certificate.write_text("no certificate")
    assert refusal(store) == f"stripe-agent: {certificate}: no start line"


def test_another_certificate(store: Store) -> None:
    """SIGHUP renews it for new connections. Others stay, and a wrong file changes nothing, not even a
    certificate whose key would be of another type: OpenSSL by itself does not notice that."""
    log = store.log_of("agent")
    with connect(store) as before:
        for wrong, other_type in ((True, True), (True, False), (False, False)):
            certify(store.folder, "other", other_type=other_type)
            (store.folder / "other.crt").replace(store.folder / "tls.crt")
            if not wrong:
                (store.folder / "other.key").replace(store.folder / "tls.key")
            report = "the certificate stays as it was" if wrong else "has read the certificate"
            known = log.read_text().count(report)
            store.signal("agent", signal.SIGHUP)
            wait_for(report, lambda: log.read_text().count(report) > known)  # noqa: B023
            if wrong:
                with pytest.raises(ssl.SSLCertVerificationError):
                    connect(store)
        assert answers(store, b"version\r\n") == b"VERSION 1.6.18-gfsmith\r\n"
        before.sendall(b"quit\r\n")
        assert receive(before) == b""


def test_a_certificate_of_another_time(
    fresh_store: Callable[..., Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent reports it at its start and at SIGHUP. Connections go on."""
    clock, days = tmp_path / "clock", 24 * 3600
    clock.write_text("0")
    monkeypatch.setenv("STORE_CLOCK", str(clock))
    monkeypatch.setattr(Store, "variables", lambda store, name: environment(store.programs, CLOCK))
    store = fresh_store()
    certify(store.folder)
    store.kill("agent")
    store.agent_options += ("--tls",)
    store.launch("agent")
    log = store.log_of("agent")
    with connect(store) as client:
        client.sendall(b"version\r\n")
        assert client.recv(100).startswith(b"VERSION")
        assert "refuse it" not in log.read_text()
        for shift, words in ((40, "has expired"), (-40, "is not valid yet")):
            clock.write_text(str(shift * days))
            store.signal("agent", signal.SIGHUP)
            line = f"stripe-agent: {store.folder}/tls.crt: it {words}, so clients may refuse it\n"
            wait_for("the message", lambda line=line: line in log.read_text())  # type: ignore[misc]
        client.sendall(b"version\r\n")
        assert client.recv(100).startswith(b"VERSION")
    store.kill("agent")
    store.launch("agent")
    wait_for("the message", lambda: log.read_text().count("is not valid yet") == 2)
