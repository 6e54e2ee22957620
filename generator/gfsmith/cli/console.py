"""Output of commands: one-line errors, JSON, tables, and a progress bar on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rich.console import Console


BAD_INPUT = 2


@cache
def out() -> Console:
    """Return the console for tables. Rich is imported on the first call, since it is slow to load."""
    from rich.console import Console

    return Console(markup=False, width=None if sys.stdout.isatty() else 160)


def fail(message: str, status: int = BAD_INPUT) -> NoReturn:
    """Print a one-line message on stderr and exit with `status`."""
    print(f"gfsmith: {message}", file=sys.stderr)
    raise SystemExit(status)


def print_json(data: Any) -> None:
    print(json.dumps(data, indent=1))


@contextmanager
def progress(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal and nothing in a pipe. The value is the function that advances it."""
    if not sys.stderr.isatty():
        yield lambda n: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(text),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=total)
        yield lambda n: bar.advance(task, n)
