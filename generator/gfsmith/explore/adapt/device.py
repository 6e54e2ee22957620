"""Descriptions of memory, for example tuned/devices/*.toml, read by the library
(runtime/adaptive/src/device.h)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class DeviceError(Exception):
    """A file that is not a description. The message is one line."""


@dataclass(frozen=True, slots=True)
class Device:
    """line: bytes of one access of the memory. buffer: bytes of its read buffer, 0: none. latency:
    nanoseconds of a load without contention, 0: not known. streams: number of streams that the processor's
    prefetcher follows."""

    name: str
    line: int
    buffer: int
    latency: int
    streams: int
    channels: int


def read(path: Path) -> bytes:
    """Return the content of a file. Raises DeviceError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DeviceError(f"{path}: {error.strerror}") from None


def parse(path: Path, text: bytes) -> Device:
    """Return the description in `text`, the content of `path`. Raises DeviceError. The library must be
    installed (library.need)."""
    from gfsmith.codec import _native

    try:
        return Device(*_native.device(text))
    except ValueError as error:
        raise DeviceError(f"{path}: {error}") from None
