"""A second reader of device descriptions, built on Python's TOML parser and pydantic's checks.

It shares only the limits with runtime/adaptive/src/device.c: the allowed values of each key, and the part
of TOML that descriptions may use.
"""

from __future__ import annotations

import re
import tomllib
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

FILE_MAX = 4096  #: bytes of a file
LINE_MAX = 255  #: bytes of one of its lines
NAME = r"[A-Za-z0-9 ._+-]{1,47}"

#: A line that the C reader accepts: an empty one, the table, or a key with a number or plain text.
_VALUE = r"(?:0|[1-9](?:_?[0-9])*|\"[^\"\\]*\")"
_LINE = re.compile(rf"[ \t]*(?:\[[ \t]*device[ \t]*\]|[A-Za-z]+[ \t]*=[ \t]*{_VALUE})?[ \t]*(?:#.*)?")


class DeviceError(Exception):
    """The text is not a valid description."""


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError("not a power of two")
    return value


class Device(BaseModel):
    """line: bytes per access of the memory. buffer: bytes of its read buffer, 0: none. latency: nanoseconds
    of a load at low pressure, 0: unknown. streams: number of streams that the processor's prefetcher follows.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Annotated[str, Field(pattern=f"^{NAME}$")] = "dram"
    line: Annotated[int, Field(ge=64, le=4096), AfterValidator(_power_of_two)] = 64
    buffer: Annotated[int, Field(ge=1, le=1 << 30)] = 0
    latency: Annotated[int, Field(ge=1, le=1_000_000)] = 0
    streams: Annotated[int, Field(ge=1, le=4096)] = 32
    channels: Annotated[int, Field(ge=1, le=64)] = 1


def parse(raw: bytes) -> Device:
    """Return the device that the bytes of a file describe. Raises DeviceError."""
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
        raise DeviceError(str(error)) from None


def _text(raw: bytes) -> str:
    """Return the text if the C reader accepts each of its lines. Raises DeviceError."""
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
