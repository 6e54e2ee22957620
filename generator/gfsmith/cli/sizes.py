"""Numbers of bytes in options: `4096`, `64K`, `1M`, `2G`, the same in all commands and programs of apps/."""

from __future__ import annotations

import re

import click

_SIZE = re.compile(r"(?P<number>[1-9][0-9]{0,9})(?P<unit>[kmg]?)", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse(text: str) -> int | None:
    """Return the bytes in a text such as `4096`, `64K` or `1m`; None if it is none."""
    found = _SIZE.fullmatch(text)
    return int(found["number"]) * _UNITS[found["unit"].upper()] if found else None


class Size(click.IntRange):
    """The type of an option that is a number of bytes from `least` to `most`."""

    name = "bytes"

    def __init__(self, least: int, most: int) -> None:
        super().__init__(least, most)
        self._sizes = range(least, most + 1)
        self._allowed = f"{least} to {most} bytes, such as 4096, 64K or 1M"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        size = value if isinstance(value, int) else parse(value)
        if size is None or size not in self._sizes:
            self.fail(f"'{value}'; allowed: {self._allowed}", param, ctx)
        return size
