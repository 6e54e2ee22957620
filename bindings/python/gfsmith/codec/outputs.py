"""Files that get their paths together, after all of them are complete and on disk."""

from __future__ import annotations

import errno
import io
import os
import secrets
from contextlib import suppress
from typing import Any, BinaryIO, cast

from gfsmith.codec.errors import InvalidError


class Outputs:
    """Outputs of a call: each has a temporary name until the call succeeds; after an error none remains."""

    def __init__(self) -> None:
        self._files: list[tuple[BinaryIO, str, str]] = []

    def __enter__(self) -> Outputs:
        return self

    def open(self, path: str) -> BinaryIO:
        """Create the temporary file of a path."""
        self._check(path)
        temporary = f"{folder_of(path)}/.gfsmith-shards.tmp.{secrets.token_hex(8)}"
        # Not from tempfile, whose files have other permissions: a program cannot read its umask without
        # changing that of its other threads.
        file = cast("BinaryIO", open(temporary, "xb", 0))  # noqa: PTH123, SIM115
        self._files.append((file, temporary, path))
        return file

    def _check(self, path: str) -> None:
        """Raise for a path whose temporary file cannot be created, or whose device the file would replace."""
        if not os.path.isdir(folder_of(path)):  # noqa: PTH112
            raise FileNotFoundError(errno.ENOENT, "the folder of this path does not exist", os.fspath(path))
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):  # noqa: PTH110, PTH112, PTH113
            raise InvalidError(f"{os.fspath(path)!r}: a device or pipe; allowed: a file, or a file object")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._publish()
        finally:
            for file, temporary, _path in self._files:
                file.close()
                with suppress(FileNotFoundError):
                    os.unlink(temporary)  # noqa: PTH108

    def _publish(self) -> None:
        for file, _, _ in self._files:
            os.fsync(file.fileno())
        new = []
        try:
            for _, temporary, path in self._files:
                exists = os.path.lexists(path)
                os.replace(temporary, path)  # noqa: PTH105
                new += [] if exists else [path]
        except OSError:
            for path in new:
                os.unlink(path)  # noqa: PTH108
            raise
        for folder in {folder_of(path) for _, _, path in self._files}:
            _flush(folder)


def ready(result: Any, file: object) -> Any:
    """Return the result of a read. Raises BlockingIOError for None, which is not the end of the file."""
    if result is None:
        raise BlockingIOError(errno.EAGAIN, f"{file!r} is not ready; allowed: a file object that blocks")
    return result


def write_all(file: BinaryIO, view: memoryview) -> None:
    """Write all bytes: one call of a raw file may write less, or nothing if the file does not block."""
    done = 0
    while done < len(view):
        with view[done:] as left:
            written = file.write(left)
            if isinstance(file, io.RawIOBase):
                ready(written, file)
            done += len(left) if written is None else written


def folder_of(path: str) -> str:
    """Return the folder of a path, without symbolic links."""
    return os.path.realpath(os.path.dirname(path))  # noqa: PTH120  # a path of any type


def _flush(folder: str) -> None:
    """Make the names in a folder permanent, if its file system can do this."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)
