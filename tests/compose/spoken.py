"""What a program says on its standard output, a line each, heard with patience and in any order.

The threads of a node do not wait for each other: a link may be up before the program has said that it was
told of the peer. So a line that was not asked for is kept until somebody asks.
"""

from __future__ import annotations

import itertools
import os
import select
import time
from subprocess import Popen
from typing import Any

#: Seconds for anything at all; operations have a deadline far below.
PATIENCE = 60.0


class Spoken:
    """lines: what was said, and nobody has asked for."""

    def __init__(self, process: Popen[Any], name: str, patience: float = PATIENCE) -> None:
        self.lines: list[str] = []
        self._process, self._name, self._patience = process, name, patience
        self._text = b""

    def hear(self, words: str) -> str:
        """Of lines that nobody has asked for, the first that starts with these words: what follows them."""
        until = time.monotonic() + self._patience
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
            assert ready, f"{self._name}: no {words!r} within {self._patience:g} s, but {self.lines}"
            more = os.read(file, 4096)
            assert more, f"{self._name} has ended, and not said {words!r}, but {self.lines}"
            self._text += more
        line, self._text = self._text.split(b"\n", 1)
        return line.decode()
