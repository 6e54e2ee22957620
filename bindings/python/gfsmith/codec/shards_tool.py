"""The command gfsmith-shards of a wheel: it becomes the program next to this file."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Replace this process by the program."""
    program = Path(__file__).with_name("gfsmith-shards")
    if not program.exists():
        sys.exit(
            f"gfsmith-shards: {program} is missing; in a checkout, `make shards` builds build/gfsmith-shards"
        )
    os.execv(program, [os.fspath(program), *sys.argv[1:]])
