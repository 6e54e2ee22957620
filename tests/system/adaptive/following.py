"""`gfsmith adapt --live` as a separate process."""

from __future__ import annotations

import codecs
import errno
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.system.adaptive.builds import GFSMITH

ALONE = "from gfsmith.cli.adapt import command; command()"
DEADLINE = 60  #: seconds, for steps that take one or two


class Following:
    """The running command; its output is a pipe or a terminal."""

    def __init__(self, *words: str | Path, terminal: bool, whole: bool) -> None:
        """whole: start it through `gfsmith`, which also imports the generator; else only the command."""
        program = (GFSMITH, "adapt") if whole else (sys.executable, "-c", ALONE)
        ours = pty.openpty() if terminal else os.pipe()
        self._end, theirs = ours
        self.process = subprocess.Popen(
            [str(word) for word in (*program, "--live", *words)],
            stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "150", "LINES": "30"},
        )  # fmt: skip
        os.close(theirs)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.said = ""

    def until(self, enough: Callable[[str], bool]) -> None:
        """Read until the output satisfies `enough`, or the process ends."""
        end = time.monotonic() + DEADLINE
        while not enough(self.said):
            assert time.monotonic() < end, self.said
            if not select.select([self._end], [], [], 1)[0]:
                continue
            try:
                new = os.read(self._end, 1 << 16)
            except OSError as error:
                assert error.errno == errno.EIO  # a terminal whose other end is closed
                return
            if not new:
                return
            self.said += self._decoder.decode(new)

    def interrupt(self) -> tuple[int, str]:
        """Send Ctrl-C; return the status and stderr. `said` has the rest of the output."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        self.until(lambda _: False)
        assert self.process.stderr is not None
        errors = self.process.stderr.read().decode()
        return self.process.wait(DEADLINE), errors

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()
        os.close(self._end)
