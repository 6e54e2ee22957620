"""A model of a disk that loses power, from the records of native/power.c.

The writes to a file since its last flush may be on the disk, or not, or in part, in any
combination, and so may the names that were made or removed since the last flush of their folder.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

SECTOR = 512
HEADER = struct.Struct("=QQQQ")


class Type(IntEnum):
    WRITE = 0
    TRUNCATE = 1
    FLUSH = 2
    FLUSHED = 3
    NAME = 4
    UNNAME = 5
    NOTE = 6


@dataclass(frozen=True, slots=True)
class Entry:
    type: Type
    file: int
    at: int
    content: bytes


def entries(record: Path) -> list[Entry]:
    """Return the entries of a record; its process may have been killed within the last one."""
    data, at, found = record.read_bytes(), 0, []
    while at + HEADER.size <= len(data):
        kind, file, where, length = HEADER.unpack_from(data, at)
        at += HEADER.size
        if at + length > len(data):
            break
        found.append(Entry(Type(kind), file, where, data[at : at + length]))
        at += length
    return found


def _apply(content: bytearray, change: Entry) -> None:
    if change.type is Type.TRUNCATE:
        del content[change.at :]
        content.extend(bytes(change.at - len(content)))
        return
    end = change.at + len(change.content)
    content.extend(bytes(max(0, end - len(content))))
    content[change.at : end] = change.content


def _sectors(write: Entry) -> Iterator[Entry]:
    """Split a write at the borders of sectors."""
    at, end = write.at, write.at + len(write.content)
    while at < end:
        stop = min(end, (at // SECTOR + 1) * SECTOR)
        yield Entry(Type.WRITE, write.file, at, write.content[at - write.at : stop - write.at])
        at = stop


@dataclass(slots=True)
class File:
    safe: bytearray = field(default_factory=bytearray)
    pending: list[Entry] = field(default_factory=list)
    flushing: int = 0
    """Number of the pending changes that the flush that runs will make permanent."""

    def flushed(self) -> None:
        for change in self.pending[: self.flushing]:
            _apply(self.safe, change)
        del self.pending[: self.flushing]
        self.flushing = 0

    def state(self, draw: random.Random) -> bytes:
        """Return a content that may be on the disk."""
        content = bytearray(self.safe)
        style = draw.choice(("none", "all", "some", "torn"))
        for change in self.pending:
            if style == "torn" and change.type is Type.WRITE:
                for part in _sectors(change):
                    if draw.random() < 0.7:
                        _apply(content, part)
            elif style == "all" or (style != "none" and draw.random() < 0.5):
                _apply(content, change)
        return bytes(content)


class Disk:
    """The files of a folder, without those in its folders."""

    def __init__(self, folder: Path) -> None:
        """All that is in the folder now is permanent."""
        self.folder = folder
        self.number = folder.stat().st_ino
        self.files: dict[int, File] = {}
        self.names: dict[str, int] = {}
        for path in folder.iterdir():
            if path.is_file():
                self.names[path.name] = path.stat().st_ino
                self.files[path.stat().st_ino] = File(bytearray(path.read_bytes()))
        self.safe_names = dict(self.names)
        self.flushing: dict[str, int] | None = None

    def _name(self, path: bytes) -> str | None:
        """Return the name in the folder of a path; None if it is elsewhere."""
        found = Path(os.fsdecode(path))
        return found.name if found.parent == self.folder else None

    def replay(self, entry: Entry) -> None:
        if entry.type in (Type.NAME, Type.UNNAME):
            name = self._name(entry.content)
            if name is not None and entry.type is Type.NAME:
                self.names[name] = entry.file
                self.files.setdefault(entry.file, File())
            elif name is not None:
                self.names.pop(name, None)
        elif entry.file == self.number and entry.type is Type.FLUSH:
            self.flushing = dict(self.names)
        elif entry.file == self.number and entry.type is Type.FLUSHED:
            assert self.flushing is not None
            self.safe_names = self.flushing
        elif entry.file in self.files:
            self._change(self.files[entry.file], entry)

    @staticmethod
    def _change(file: File, entry: Entry) -> None:
        if entry.type is Type.FLUSH:
            file.flushing = len(file.pending)
        elif entry.type is Type.FLUSHED:
            file.flushed()
        else:
            file.pending.append(entry)

    def cut(self, draw: random.Random) -> dict[str, tuple[int, bytes]]:
        """Return the number and the content of each file after a loss of power."""
        style = draw.choice(("none", "all", "some"))
        found = {}
        for name in sorted({*self.names, *self.safe_names}):
            new = style == "all" or (style == "some" and draw.random() < 0.5)
            number = (self.names if new else self.safe_names).get(name)
            if number is not None:
                found[name] = (number, self.files[number].state(draw))
        return found


@dataclass(slots=True)
class Restorer:
    """Writes a state of the disk into the folder. Files keep their numbers, as they do on a disk."""

    folder: Path
    kept: Path

    def keep(self) -> None:
        """Remember the files that exist now."""
        self.kept.mkdir(exist_ok=True)
        for path in self.folder.iterdir():
            with_number = self.kept / str(path.stat().st_ino)
            if path.is_file() and not with_number.exists():
                os.link(path, with_number)

    def restore(self, state: dict[str, tuple[int, bytes]]) -> None:
        self.keep()
        for path in self.folder.iterdir():
            if path.is_file():
                path.unlink()
        for name, (number, content) in state.items():
            kept = self.kept / str(number)
            if kept.exists():
                os.link(kept, self.folder / name)
            with (self.folder / name).open("r+b" if kept.exists() else "wb") as file:
                file.truncate()
                file.write(content)

    def forget(self) -> None:
        shutil.rmtree(self.kept, ignore_errors=True)
