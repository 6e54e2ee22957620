"""A description of the memory, as runtime/adaptive/device.c reads it: TOML with one table [device].

The limits are the C reader's, and so is what it does not take of TOML: device.c has a line for each, and
tests/adaptive/test_adapt.py compares the two."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

FILE_MAX = 4096  #: bytes of a file
LINE_MAX = 255  #: bytes of one of its lines
NAME = r"[A-Za-z0-9 ._+-]{1,47}"

#: A line of what the C reader takes of TOML: nothing, the table, or a key with a number or plain text.
_VALUE = r"(?:0|[1-9](?:_?[0-9])*|\"[^\"\\]*\")"
_LINE = re.compile(rf"[ \t]*(?:\[[ \t]*device[ \t]*\]|[A-Za-z]+[ \t]*=[ \t]*{_VALUE})?[ \t]*(?:#.*)?")


class DeviceError(Exception):
    """A file that is no description, in one line."""


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError("not a power of two")
    return value


class Device(BaseModel):
    """line: bytes that the memory reads at once. buffer: bytes of its read buffer, 0: none. latency:
    nanoseconds of a load at low pressure, 0: not known. streams: that the processor's stream prefetcher
    follows."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Annotated[str, Field(pattern=f"^{NAME}$")] = "dram"
    line: Annotated[int, Field(ge=64, le=4096), AfterValidator(_power_of_two)] = 64
    buffer: Annotated[int, Field(ge=1, le=1 << 30)] = 0
    latency: Annotated[int, Field(ge=1, le=1_000_000)] = 0
    streams: Annotated[int, Field(ge=1, le=4096)] = 32
    channels: Annotated[int, Field(ge=1, le=64)] = 1


#: What is allowed, for messages.
ALLOWED = {
    "name": "1 to 47 letters, digits, blanks and . _ + - in double quotes",
    "line": "a power of two from 64 to 4096",
    "buffer": "a number from 1 to 1073741824",
    "latency": "a number from 1 to 1000000",
    "streams": "a number from 1 to 4096",
    "channels": "a number from 1 to 64",
}


def load(path: Path) -> Device:
    """Raises DeviceError."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DeviceError(f"{path}: {error.strerror}") from None
    try:
        return parse(raw)
    except DeviceError as error:
        raise DeviceError(f"{path}: {error}") from None


def parse(raw: bytes) -> Device:
    """Raises DeviceError."""
    text = _text(raw)
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeviceError(f"not TOML: {error}") from None
    if set(tables) != {"device"} or not isinstance(tables["device"], dict):
        raise DeviceError("allowed: the one table [device]")
    try:
        return Device.model_validate(tables["device"])
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        if key not in ALLOWED:
            raise DeviceError(f"device: unknown key '{key}'; allowed: {', '.join(ALLOWED)}") from None
        raise DeviceError(f"device.{key}: {tables['device'][key]!r}; allowed: {ALLOWED[key]}") from None


def _text(raw: bytes) -> str:
    """The text, if it is such that the C reader takes its every line. Raises DeviceError."""
    if len(raw) > FILE_MAX:
        raise DeviceError(f"more than {FILE_MAX} bytes")
    text = raw.decode("latin-1")
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if re.fullmatch(r"[\t\x20-\x7e]*\r?", line) is None:
            raise DeviceError(f"line {number}: not ASCII text")
        if len(line) > LINE_MAX:
            raise DeviceError(f"line {number}: more than {LINE_MAX} bytes")
        if _LINE.fullmatch(line.removesuffix("\r")) is None:
            raise DeviceError(
                f"line {number}: allowed: [device], or a key = a decimal number or text in double quotes"
            )
    return text
