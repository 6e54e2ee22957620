"""Direct access to a memcached behind a Unix socket."""

from __future__ import annotations

import socket
from pathlib import Path
from types import TracebackType


class Memcached:
    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        self._socket.connect(str(path))
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> Memcached:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._socket.close()

    def all_keys(self) -> list[str]:
        self._socket.sendall(b"lru_crawler metadump hash\r\n")
        keys = []
        while (line := self._file.readline()) != b"END\r\n":
            keys.append(line.split()[0].removeprefix(b"key=").decode())
        return keys

    def get(self, key: str) -> bytes:
        self._socket.sendall(b"get %s\r\n" % key.encode())
        length = int(self._file.readline().split()[3])
        value = self._file.read(length + 2)[:-2]
        assert self._file.readline() == b"END\r\n"
        return value

    def set(self, key: str, value: bytes) -> None:
        self._socket.sendall(b"set %s 0 0 %d\r\n%s\r\n" % (key.encode(), len(value), value))
        assert self._file.readline() == b"STORED\r\n"
