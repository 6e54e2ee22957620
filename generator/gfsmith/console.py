"""What commands say and how: one line for a mistake, JSON, tables, a bar on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

BAD_INPUT = 2

errors = Console(stderr=True)
out = Console(markup=False, width=None if sys.stdout.isatty() else 160)


def fail(message: str, status: int = BAD_INPUT) -> NoReturn:
    """One line on stderr, and out."""
    print(f"gfsmith: {message}", file=sys.stderr)
    raise SystemExit(status)


def print_json(data: Any) -> None:
    print(json.dumps(data, indent=1))


@contextmanager
def progress(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, nothing in a pipe."""
    columns = (
        TextColumn(text),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task(text, total=total)
        yield lambda n: bar.advance(task, n)
