"""The parser of command lines, and the start of a program."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

from gfsmith.cli.console import reader_may_leave


class OneLineParser(argparse.ArgumentParser):
    """Parser that reports bad arguments in one line on stderr, with exit status 2."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message} (see --help)", file=sys.stderr)
        raise SystemExit(2)


def start(main: Callable[[], int | None]) -> NoReturn:
    """Run a program, and exit with the status that it returns, or quietly when its reader leaves."""
    with reader_may_leave():
        raise SystemExit(main())
