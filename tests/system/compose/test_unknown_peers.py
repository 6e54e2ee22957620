"""A node among peers without the key, over raw TCP; and peers that are killed and restarted."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.mutation import Mutant
from tests.support.paths import ROOT
from tests.system.compose.output_lines import OutputLines
from tests.system.compose.support import NATIVE, Library, with_error

SERVE = NATIVE / "links" / "serve.c"
KEY = "one key for all of us"
#: A message with an unknown operation, which crashes the tcp provider of libfabric 1.17.
NO_SUCH_OPERATION = bytes.fromhex("031000000100100350000000000000200175c56c9d030197")


class Process:
    """native/links/serve: a node in its own process."""

    def __init__(self, program: Path, rank: int, *, key: str = KEY, ms: int = 20000, port: int = 0) -> None:
        words = [str(word) for word in (program, "tcp", rank, key, ms, port)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, cwd=program.parent)
        self.output = OutputLines(self.process, f"node {rank}")
        self.expect = self.output.expect
        self.port = int(self.expect("port"))

    def tell(self, command: str, answer: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        return self.expect(answer)

    def peer(self, rank: int, port: int) -> None:
        assert self.tell(f"peer {rank} {port}", "named") == "0"

    def descriptors(self) -> int:
        return int(self.tell("count", "count"))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def end(self) -> None:
        if self.process.poll() is None:
            out, _ = self.process.communicate(timeout=120)
            assert self.process.returncode == 0 and b"destroyed" in out


@pytest.fixture
def serve(sanitized: Library) -> Path:
    return sanitized.program("serve", SERVE)


@contextmanager
def nodes(*started: Process) -> Iterator[None]:
    with ExitStack() as stack:
        for process in started:
            stack.callback(process.end)
        yield


def link(high: Process, low: Process, *, rank: int) -> None:
    high.peer(0, low.port)
    high.expect("up 0")
    low.expect(f"up {rank}")


def call(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


class Proxy:
    """Passes a node's connections on to another, and records the bytes that the first one sends on each."""

    def __init__(self, port: int) -> None:
        self.target, self.said = port, list[bytes]()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                caller = self.server.accept()[0]
            except OSError:
                return
            self.said.append(b"")
            index, target = len(self.said) - 1, call(self.target)
            threading.Thread(target=self._pass, args=(caller, target, index), daemon=True).start()
            threading.Thread(target=self._pass, args=(target, caller, None), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, index: int | None) -> None:
        try:
            while data := source.recv(65536):
                if index is not None:
                    self.said[index] += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()
            target.close()


def recorded(serve: Path, low: Process) -> list[bytes]:
    """Return the bytes that a connecting node sends, one entry for each of its two connections."""
    proxy = Proxy(low.port)
    high = Process(serve, 9)
    with nodes(high):
        high.peer(0, proxy.port)
        high.expect("up 0")
        low.expect("up 9")
    low.expect("down 9")
    proxy.server.close()
    assert len(proxy.said) == 2
    return proxy.said


def drain(peer: socket.socket) -> bytes:
    """Read all bytes until the node closes the connection."""
    answer = b""
    try:
        while data := peer.recv(4096):
            answer += data
    except ConnectionResetError:
        pass
    return answer


def test_silent_peers_and_incomplete_greetings(serve: Path) -> None:
    low, high = Process(serve, 0, ms=300), Process(serve, 1)
    with nodes(low, high):
        before = low.descriptors()
        peers = [call(low.port) for _ in range(100)]
        peers[0].sendall(b"\x03")
        link(high, low, rank=1)
        for peer in peers:
            assert drain(peer) == b""
            peer.close()
        # One link is up now: an endpoint and its descriptors. A peer reads the end of its connection when the
        # node shuts it down, which is before the node closes it.
        deadline = time.monotonic() + 120
        while low.descriptors() >= before + 20 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert low.descriptors() < before + 20


def test_garbage(serve: Path) -> None:
    low, high = Process(serve, 0), Process(serve, 1)
    generator = random.Random(10)
    with nodes(low, high):
        greetings = recorded(serve, low)
        for index in range(400):
            words = bytearray(greetings[index % 2][:80])
            for _ in range(index % 5):
                words[generator.randrange(len(words))] = generator.choice((0, 1, 2, 5, 0x28, 0x80, 0xFF))
            cut = generator.choice((len(words), generator.randrange(1, len(words))))
            garbage = generator.randbytes(generator.choice((0, 30, 3000)))
            with call(low.port) as peer, ExitStack() as ignored:
                ignored.push(lambda kind, *_: kind is not None and issubclass(kind, OSError))
                peer.sendall(bytes(words[:cut]) + generator.choice((b"", NO_SUCH_OPERATION)) + garbage)
        link(high, low, rank=1)
        assert low.output.lines == []


def replayed(serve: Path) -> bytes:
    """Replay a peer's authentication to a node and return the node's answer."""
    low = Process(serve, 0)
    with nodes(low):
        proof = recorded(serve, low)[1][:80]
        with call(low.port) as peer:
            peer.sendall(proof)
            peer.shutdown(socket.SHUT_WR)
            answer = drain(peer)
        assert low.descriptors() > 0
        return answer + " ".join(low.output.lines).encode()


def test_replay(serve: Path) -> None:
    answer = replayed(serve)
    assert answer != b"" and b"up 9" not in answer


def test_replay_refutes(plain: Library, tmp_path: Path) -> None:
    """The test detects a ticket that is valid twice."""
    twice = with_error(plain, Mutant("ticket->at = 0;", ";"), tmp_path, "serve", SERVE)
    assert b"up 9" in replayed(twice)


def test_an_abort_leaves_no_file_in_the_checkout(serve: Path) -> None:
    """libfabric's psm provider writes a file into the working directory when a program aborts."""
    process = Process(serve, 0).process
    process.send_signal(signal.SIGABRT)
    process.wait(60)
    assert not list(ROOT.glob(f"*-{process.pid},*.btr"))
    assert len(list(serve.parent.glob(f"*-{process.pid},*.btr"))) == 1


def test_wrong_key_and_good_one(serve: Path) -> None:
    low, wrong, high = Process(serve, 0), Process(serve, 1, key="another key than ours"), Process(serve, 2)
    with nodes(low, wrong, high):
        wrong.peer(0, low.port)
        link(high, low, rank=2)
        assert high.tell("send 0 hello", "sent") == "0"
        assert low.expect("message 2") == "hello"
        assert low.output.lines == [] and wrong.output.lines == []


def test_listener_that_is_no_node(serve: Path) -> None:
    """The listener answers requests with arbitrary bytes; the connecting node retries, and finds the real
    node.
    """
    generator = random.Random(11)
    high, low = Process(serve, 1, ms=300), Process(serve, 0)
    response = bytes.fromhex("0300002800000000000000000000000000000000000000000200000000000000")
    with nodes(high, low), socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        high.peer(0, server.getsockname()[1])
        for index in range(8):
            caller, _ = server.accept()
            with caller, suppress(OSError):  # the node may have given up by then
                caller.recv(4096)
                caller.sendall(response[: 32 - index] + generator.randbytes(40) + NO_SUCH_OPERATION)
        link(high, low, rank=1)
        assert high.output.lines == []


@pytest.mark.parametrize("killed", [0, 1])
def test_killed_and_back(serve: Path, killed: int) -> None:
    pair = [Process(serve, 0), Process(serve, 1)]
    link(pair[1], pair[0], rank=1)
    pair[killed].kill()
    pair[1 - killed].expect(f"down {killed}")
    assert pair[1 - killed].tell(f"send {killed} x", "sent") == "-33"
    pair[killed] = Process(serve, killed, port=pair[killed].port if killed == 0 else 0)
    with nodes(*pair):
        if killed == 1:
            pair[1].peer(0, pair[0].port)
        pair[killed].expect(f"up {1 - killed}")
        pair[1 - killed].expect(f"up {killed}")
        assert pair[killed].tell(f"send {1 - killed} again", "sent") == "0"
        assert pair[1 - killed].expect(f"message {killed}") == "again"
