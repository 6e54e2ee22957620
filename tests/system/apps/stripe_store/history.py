"""Clients of a store that record each operation with its times and its outcome.

linearizability/model.go describes the fields of an operation. A write without an answer, or with an error
that does not exclude an effect, is `unknown`: it may take effect at any later time.
"""

from __future__ import annotations

import itertools
import json
import random
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

REFUSALS = ("read-only:", "unknown until", "starting:", "superseded:")
"""Errors after which a write never takes effect."""

VERBS = ("get", "set", "add", "cas", "delete", "incr")
LONGEST = 20_000
DAY = 86_400
CALM = 20
"""Operations of each client when all faults are over."""
UNKNOWN_MAX = 6
"""Writes of a key without a known outcome, after which clients use another key: the time of the check grows
exponentially with their number."""


class Unanswered(Exception):
    """The store has not answered, or has answered with an error."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    key: str
    verb: str
    argument: str = ""
    expected: str = ""
    outcome: str
    result: str | None = None
    invoke: int
    #: The time of the answer.
    end: int

    def line(self) -> str:
        fields = asdict(self)
        return json.dumps({**fields, "return": fields.pop("end")})


def body(name: str) -> bytes:
    """Return the bytes of the value with this name. A counter is its own name."""
    if name.isdigit():
        return name.encode()
    draw = random.Random(name)
    return name.encode() + b":" + draw.randbytes(draw.choice((0, 1, 100, draw.randrange(LONGEST))))


def name_of(value: bytes) -> str:
    """Return the name of the value with these bytes; no write has the name of damaged bytes."""
    name = value.partition(b":")[0].decode("ascii", "replace")
    return name if value == body(name) else f"damaged {name}"


class Connection:
    """memcached's text protocol, in which no error is retried or hidden."""

    def __init__(self, address: tuple[str, int], patience: float) -> None:
        self._socket = socket.create_connection(address, timeout=patience)
        self._file = self._socket.makefile("rb")

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()
            self._socket.close()

    def _line(self) -> str:
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise Unanswered("unknown")
        text = line[:-2].decode()
        if text.startswith("SERVER_ERROR "):
            refused = text.removeprefix("SERVER_ERROR ").startswith(REFUSALS)
            raise Unanswered("fail" if refused else "unknown")
        return text

    def ask(self, line: str, block: bytes | None = None) -> str:
        self._socket.sendall(line.encode() + b"\r\n" + (b"" if block is None else block + b"\r\n"))
        return self._line()

    def gets(self, key: str) -> tuple[str | None, str]:
        """Return the name of the value, None for a miss, and the number that `cas` compares."""
        words = self.ask(f"gets {key}").split()
        if words == ["END"]:
            return None, ""
        value = self._file.read(int(words[3]) + 2)[:-2]
        if self._line() != "END":
            raise Unanswered("unknown")
        return name_of(value), words[4]


@dataclass(slots=True)
class Keys:
    """The keys in use: registers with unique values, and counters."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    used: list[str] = field(default_factory=list)
    current: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)

    def key(self, place: str) -> str:
        with self.lock:
            if self.unknown.get(self.current.get(place, ""), UNKNOWN_MAX) >= UNKNOWN_MAX:
                key = f"{place}-{len(self.used)}"
                self.current[place] = key
                self.unknown[key] = 0
                self.used.append(key)
            return self.current[place]

    def no_answer(self, key: str) -> None:
        with self.lock:
            self.unknown[key] += 1


REGISTERS = ("register-a", "register-b", "register-c")
PLACES = (*REGISTERS, "counter")
CHOICES = {"get": 30, "set": 25, "add": 10, "cas": 20, "delete": 10}
COUNTED = {"get": 25, "set": 5, "add": 15, "incr": 45, "delete": 5}


def names_of(client: int) -> Callable[[str], str]:
    """Return a function that names a new value: unique in the history, a number for a counter."""
    numbers = itertools.count(1)

    def name(place: str) -> str:
        number = next(numbers)
        return f"{client}{number:06}000000" if place == "counter" else f"v{client}-{number}"

    return name


@dataclass(slots=True)
class Client:
    """A client of one thread. Its operations follow from the seed, their interleaving does not."""

    number: int
    seed: int
    address: Callable[[], tuple[str, int]]
    keys: Keys
    weights: Mapping[str, int]
    """Of the commands on registers."""
    patience: float = 4.0
    history: list[Operation] = field(default_factory=list)
    connection: Connection | None = None
    _draw: random.Random = field(init=False)
    _name: Callable[[str], str] = field(init=False)

    def __post_init__(self) -> None:
        self._draw = random.Random(f"{self.seed} {self.number}")
        self._name = names_of(self.number)

    def once(self) -> None:
        place = self._draw.choice(PLACES)
        weights = COUNTED if place == "counter" else self.weights
        (verb,) = self._draw.choices(tuple(weights), tuple(weights.values()))
        key = self.keys.key(place)
        if verb == "get":
            self.read(key)
        elif verb == "cas":
            self._exchange(key, place)
        elif verb == "delete":
            self._write(key, verb, "", f"delete {key}")
        elif verb == "incr":
            by = str(self._draw.randrange(1, 100))
            self._write(key, verb, by, f"incr {key} {by}")
        else:
            self._store(key, verb, self._name(place))

    def read(self, key: str) -> tuple[str | None, str] | None:
        """Record a get; return None if it was not answered."""
        invoke = time.monotonic_ns()
        try:
            value, version = self._connected().gets(key)
        except (OSError, Unanswered) as error:
            self._failed(error)
            return None
        end = time.monotonic_ns()
        self.history.append(
            Operation(key=key, verb="get", outcome="ok", result=value, invoke=invoke, end=end)
        )
        return value, version

    def _exchange(self, key: str, place: str) -> None:
        found = self.read(key)
        if found is None or found[0] is None:
            return
        self._store(key, "cas", self._name(place), found[0], found[1])

    def _store(self, key: str, verb: str, name: str, expected: str = "", version: str = "") -> None:
        value = body(name)
        lifetime = self._draw.choice((0, DAY))
        line = f"{verb} {key} 0 {lifetime} {len(value)} {version}".rstrip()
        self._write(key, verb, name, line, value, expected)

    def _write(
        self, key: str, verb: str, argument: str, line: str, block: bytes | None = None, expected: str = ""
    ) -> None:
        try:
            connection = self._connected()
        except OSError as error:
            self._failed(error)
            return  # nothing was sent
        invoke = time.monotonic_ns()
        outcome, result = "ok", None
        try:
            result = connection.ask(line, block)
        except (OSError, Unanswered) as error:
            outcome = error.outcome if isinstance(error, Unanswered) else "unknown"
            self._failed(error)
        end = time.monotonic_ns()
        if outcome == "unknown":
            self.keys.no_answer(key)
        self.history.append(
            Operation(
                key=key,
                verb=verb,
                argument=argument,
                expected=expected,
                outcome=outcome,
                result=result,
                invoke=invoke,
                end=end,
            )
        )

    def _connected(self) -> Connection:
        if self.connection is None:
            self.connection = Connection(self.address(), self.patience)
        return self.connection

    def _failed(self, error: Exception) -> None:
        """After an error of the connection, begin another; in either case wait before the next operation."""
        if not (isinstance(error, Unanswered) and error.outcome == "fail"):
            self.close()
        time.sleep(0.02)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def work_during(clients: Sequence[Client], meanwhile: Callable[[], None]) -> None:
    """Let the clients work, each in a thread, until `meanwhile` has ended."""
    over = threading.Event()

    def work(client: Client) -> None:
        while not over.is_set():
            client.once()

    with ThreadPoolExecutor(len(clients)) as pool:
        working = [pool.submit(work, client) for client in clients]
        try:
            meanwhile()
        finally:
            over.set()
        for each in working:
            each.result()


def end_calmly(clients: Sequence[Client], keys: Keys) -> list[Operation]:
    """Let the clients work without faults, and read every key, which must succeed. Return their history."""
    for client in clients:
        for _ in range(CALM):
            client.once()
    for key in keys.used:
        assert clients[0].read(key) is not None, f"{key} cannot be read without faults"
    for client in clients:
        client.close()
    return [operation for client in clients for operation in client.history]


def verdict(checker: Path, history: list[Operation]) -> str:
    """Return the keys that are not linearizable, as the checker prints them; none: an empty text."""
    lines = "\n".join(operation.line() for operation in history)
    done = subprocess.run([checker], input=lines, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1, 3), done.stderr
    assert (done.returncode == 0) == (done.stdout == "")
    return done.stdout
