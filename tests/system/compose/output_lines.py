"""The lines that a program prints, read with a time limit and in any order.

The threads of a node do not wait for each other: a link may be up before the program has reported the
peer's address. Lines that were not requested are therefore kept for later requests.
"""

from __future__ import annotations

import itertools
import os
import select
import time
from subprocess import Popen
from typing import Any

#: Time limit in seconds for one line; operations have a much shorter deadline.
PATIENCE = 60.0


class OutputLines:
    """lines: the lines that were printed and not yet requested. patience: the time limit for one line."""

    def __init__(self, process: Popen[Any], name: str, patience: float = PATIENCE) -> None:
        self.lines: list[str] = []
        self.patience = patience
        self._process, self._name = process, name
        self._text = b""

    def expect(self, words: str) -> str:
        """Return the rest of the first line, printed before or later, that starts with these words."""
        until = time.monotonic() + self.patience
        for index in itertools.count():
            if index == len(self.lines):
                self.lines.append(self._line(words, until))
            if f"{self.lines[index]} ".startswith(f"{words} "):
                return self.lines.pop(index)[len(words) + 1 :]
        raise AssertionError("unreachable")

    def _line(self, words: str, until: float) -> str:
        assert self._process.stdout is not None
        file = self._process.stdout.fileno()
        while b"\n" not in self._text:
            left = until - time.monotonic()
            ready = left > 0 and select.select([file], [], [], left)[0]
            assert ready, f"{self._name}: no {words!r} within {self.patience:g} s; lines: {self.lines}"
            more = os.read(file, 4096)
            assert more, f"{self._name} has ended without {words!r}; lines: {self.lines}"
            self._text += more
        line, self._text = self._text.split(b"\n", 1)
        return line.decode()
