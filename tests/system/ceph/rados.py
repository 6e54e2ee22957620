"""A client of a Ceph cluster: commands, and objects in pools, through librados."""

from __future__ import annotations

import ctypes
import json
import threading
from pathlib import Path
from typing import Any

TIMEOUT = "200"  #: seconds that a command or an operation may take


class RadosError(Exception):
    """A call that failed. `status`: the negative errno."""

    def __init__(self, what: str, status: int) -> None:
        super().__init__(f"{what}: {status}")
        self.status = status


def _checked(what: str, status: int) -> int:
    if status < 0:
        raise RadosError(what, status)
    return status


class Client:
    """A connection. Threads may share it."""

    def __init__(self, configuration: Path) -> None:
        self._library = ctypes.CDLL("librados.so.2")
        self._cluster = ctypes.c_void_p()
        self._pools: dict[str, ctypes.c_void_p] = {}
        self._lock = threading.Lock()
        _checked("create", self._library.rados_create(ctypes.byref(self._cluster), None))
        _checked("configure", self._library.rados_conf_read_file(self._cluster, str(configuration).encode()))
        for option in (b"rados_osd_op_timeout", b"rados_mon_op_timeout", b"client_mount_timeout"):
            self._library.rados_conf_set(self._cluster, option, TIMEOUT.encode())
        _checked("connect", self._library.rados_connect(self._cluster))

    def close(self) -> None:
        for pool in self._pools.values():
            self._library.rados_ioctx_destroy(pool)
        self._library.rados_shutdown(self._cluster)

    def command(self, prefix: str, to: str = "mon", **arguments: Any) -> Any:
        """Run a command of the monitor (or "mgr"), and return its answer from JSON, None if it is empty."""
        text = json.dumps({"prefix": prefix, "format": "json", **arguments}).encode()
        answer, said = ctypes.c_void_p(), ctypes.c_void_p()
        size, length = ctypes.c_size_t(), ctypes.c_size_t()
        status = getattr(self._library, f"rados_{to}_command")(
            self._cluster,
            (ctypes.c_char_p * 1)(text),
            ctypes.c_size_t(1),
            b"",
            ctypes.c_size_t(0),
            *(ctypes.byref(each) for each in (answer, size, said, length)),
        )
        output = ctypes.string_at(answer, size.value) if answer else b""
        message = ctypes.string_at(said, length.value).decode() if said else ""
        for buffer in (answer, said):
            self._library.rados_buffer_free(buffer)
        _checked(f"{text.decode()}: {message}", status)
        return json.loads(output) if output.strip() else None

    def _pool(self, name: str) -> ctypes.c_void_p:
        with self._lock:
            if name not in self._pools:
                pool = ctypes.c_void_p()
                create = self._library.rados_ioctx_create
                _checked(name, create(self._cluster, name.encode(), ctypes.byref(pool)))
                self._pools[name] = pool
            return self._pools[name]

    def write(self, pool: str, name: str, data: bytes) -> None:
        """Write an object."""
        write = self._library.rados_write_full
        status = write(self._pool(pool), name.encode(), data, ctypes.c_size_t(len(data)))
        _checked(f"write {pool}/{name}", status)

    def read(self, pool: str, name: str, most: int = 1 << 22) -> bytes:
        """Read an object."""
        buffer = ctypes.create_string_buffer(most)
        length, start = ctypes.c_size_t(most), ctypes.c_uint64(0)
        status = self._library.rados_read(self._pool(pool), name.encode(), buffer, length, start)
        return buffer.raw[: _checked(f"read {pool}/{name}", status)]
