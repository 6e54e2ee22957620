"""A proxy between two nodes, on loopback, that changes the traffic of their link.

The module parses the messages of libfabric's `tcp` provider. On a connection, the first one in each direction
is a greeting: 32 bytes, then data whose length is at offset 2 (big-endian). Each later one begins with a
header: the operation at offset 1, the length of the header at offset 6, that of the whole message at offset 8
(8 bytes, little-endian).
"""

from __future__ import annotations

import ctypes
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

GREETING, HEADER = 32, 16
#: Operations of the provider.
SEND, WRITE = 0, 4


@dataclass(frozen=True, slots=True)
class Message:
    header: bytes
    payload: bytes

    @property
    def operation(self) -> int:
        return self.header[1]

    def with_payload(self, payload: bytes) -> Message:
        """Return the message with this payload, and with its length."""
        size = struct.pack("<Q", len(self.header) + len(payload))
        return Message(self.header[:8] + size + self.header[HEADER:], payload)


#: An attack gets a message and an iterator over the later ones. It returns the messages to send instead.
Attack = Callable[[Message, Iterator[Message]], list[Message]]


def flip(message: Message, later: Iterator[Message]) -> list[Message]:
    """Change the last bit of the payload, or of the middle of a long one."""
    at = len(message.payload) // 2 if message.operation == WRITE else len(message.payload) - 1
    payload = bytearray(message.payload)
    payload[at] ^= 1
    return [message.with_payload(bytes(payload))]


def repeat(message: Message, later: Iterator[Message]) -> list[Message]:
    return [message, message]


def drop(message: Message, later: Iterator[Message]) -> list[Message]:
    return []


def swap(message: Message, later: Iterator[Message]) -> list[Message]:
    return [next(later), message]


def cut(message: Message, later: Iterator[Message]) -> list[Message]:
    return [message.with_payload(message.payload[:-1])]


_XXHASH = ctypes.CDLL("libxxhash.so.0")
_XXHASH.XXH3_64bits_withSeed.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)
_XXHASH.XXH3_64bits_withSeed.restype = ctypes.c_uint64
#: The magic number in the trailer of a slice, at offset 12; then come the length and the checksum.
TRAILER_MAGIC = b"1sfg"


def _checksum(data: bytes, seed: int = 0) -> int:
    return int(_XXHASH.XXH3_64bits_withSeed(data, len(data), seed))


def forge(message: Message, later: Iterator[Message]) -> list[Message]:
    """Change a bit, and then each checksum that needs no key: of a slice, and of messages of version 1."""
    changed = bytearray(flip(message, later)[0].payload)
    if message.operation == WRITE:
        trailer = changed.rindex(TRAILER_MAGIC) - 12
        bytes_ = struct.unpack_from("<Q", changed, trailer + 16)[0]
        seed = _checksum(bytes(changed[trailer : trailer + 24]))
        slice_ = bytes(changed[trailer - bytes_ : trailer])
        struct.pack_into("<Q", changed, trailer + 24, _checksum(slice_, seed))
    elif message.payload[:8] == struct.pack("<Q", _checksum(message.payload[8:])):
        struct.pack_into("<Q", changed, 0, _checksum(bytes(changed[8:])))
    return [message.with_payload(bytes(changed))]


ATTACKS: tuple[Attack, ...] = (flip, forge, repeat, drop, swap, cut)


def _exactly(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = source.recv(count - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


def _greeting(source: socket.socket) -> bytes:
    head = _exactly(source, GREETING)
    return head + _exactly(source, struct.unpack_from(">H", head, 2)[0])


def _messages(source: socket.socket) -> Iterator[Message]:
    while True:
        head = _exactly(source, HEADER)
        length, size = head[6], struct.unpack_from("<Q", head, 8)[0]
        head += _exactly(source, length - HEADER)
        yield Message(head, _exactly(source, size - length))


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@dataclass(slots=True)
class Attacker:
    """Passes connections to `target` on, until `plan` has set an attack.

    `upward`: attack messages to the node that listens, the target; otherwise messages from it.
    """

    target: int
    server: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    attacked: threading.Event = field(default_factory=threading.Event)
    _plan: tuple[Attack, bool, Callable[[Message], bool]] | None = None
    _open: list[socket.socket] = field(default_factory=list)

    def __post_init__(self) -> None:
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server.getsockname()[1])

    def plan(self, attack: Attack, which: Callable[[Message], bool], *, upward: bool = True) -> None:
        """Attack the next message of this direction for which `which` holds."""
        self.attacked.clear()
        self._plan = (attack, upward, which)

    def cut_off(self) -> None:
        """End the connections; the nodes may make new ones."""
        for each in self._open:
            _end(each)
        self._open.clear()

    def close(self) -> None:
        self.server.close()
        self.cut_off()

    def _accept(self) -> None:
        while True:
            try:
                caller = self.server.accept()[0]
            except OSError:
                return
            try:
                target = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                caller.close()
                continue
            self._open += (caller, target)
            for source, to, upward in ((caller, target, True), (target, caller, False)):
                threading.Thread(target=self._pass, args=(source, to, upward), daemon=True).start()

    def _pass(self, source: socket.socket, to: socket.socket, upward: bool) -> None:
        try:
            to.sendall(_greeting(source))
            messages = _messages(source)
            for message in messages:
                for sent in self._changed(message, messages, upward):
                    to.sendall(sent.header + sent.payload)
        except OSError:
            pass
        for each in (source, to):
            _end(each)

    def _changed(self, message: Message, later: Iterator[Message], upward: bool) -> list[Message]:
        plan = self._plan
        if plan is None or plan[1] != upward or not plan[2](message):
            return [message]
        self._plan = None
        self.attacked.set()
        return plan[0](message, later)
