"""The command gfsmith-shards: it becomes the program of the wheel, or that of `make shards` in a checkout."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HERE = Path(__file__).resolve()
_PROGRAMS = (_HERE.with_name("gfsmith-shards"), _HERE.parents[4] / "build" / "gfsmith-shards")


def main() -> None:
    """Replace this process by the program. Exits with 2 if there is none: 1 would mean damaged shards."""
    program = next((path for path in _PROGRAMS if path.exists()), None)
    if program is None:
        sys.stderr.write("gfsmith-shards: the program is missing; in a checkout, `make shards` builds it\n")
        sys.exit(2)
    os.execv(program, [os.fspath(program), *sys.argv[1:]])
