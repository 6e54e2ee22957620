"""Output of commands: one-line errors, JSON, tables, the progress of long work, and paths of output."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from rich.console import Console


BAD_INPUT = 2
CLOSED_PIPE = 128 + signal.SIGPIPE  #: as a shell reports a program that the signal ends
PIPE_INTERVAL = 15.0  #: seconds between two lines of progress in a pipe


class OutputPath(click.Path):
    """A path that a command writes. It refuses "-", which other programs use for standard output, and "", the
    value of a variable that a script has not set, which would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("'-' (standard output) is not supported; allowed: a path, such as ./-", param, ctx)
        if value == "":
            self.fail("'' is empty; allowed: a path, such as . for the current folder", param, ctx)
        return super().convert(value, param, ctx)


class InputPath(click.Path):
    """The path of a file that a command reads. "-" means standard input, as in other programs, and ./- means
    a file of this name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert("/dev/stdin" if value == "-" else value, param, ctx)


@cache
def out() -> Console:
    """Return the console for tables. Rich is imported on the first call, since it is slow to load."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # for the exit status of main.py

    return Output(markup=False, width=None if sys.stdout.isatty() else 160)


def fail(message: str, status: int = BAD_INPUT) -> NoReturn:
    """Print a one-line message on stderr and exit with `status`."""
    print(f"gfsmith: {message}", file=sys.stderr)
    raise SystemExit(status)


def buffer_output() -> None:
    """Give standard output a buffer if PYTHONUNBUFFERED has taken it.

    Without one, Python loses the bytes that a short write has not taken."""
    text = sys.stdout
    own = text is sys.__stdout__  # not that of a program or test that calls the command
    if own and isinstance(text, io.TextIOWrapper) and isinstance(text.buffer, io.RawIOBase):
        encoding, errors = text.encoding, text.errors
        raw = text.detach()
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=True)


def occupy_streams() -> None:
    """Occupy closed standard streams, so that no file gets the number of one. Results cannot be written then,
    and messages are lost."""
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "w", closefd=False)))


def discard_output() -> None:
    """Connect standard output with the null device, since Python writes its buffer when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Exit without a message if the reader of standard output leaves, such as `head`."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        raise SystemExit(CLOSED_PIPE) from None


def print_json(data: Any) -> None:
    print(json.dumps(data, indent=1))


@contextmanager
def progress(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal, and in a pipe a line every PIPE_INTERVAL seconds. The value is the
    function that advances it."""
    if not sys.stderr.isatty():
        with _lines(text, total) as advance:
            yield advance
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


@contextmanager
def _lines(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Print the number of completed steps every PIPE_INTERVAL seconds, from a thread, since a step may take
    longer."""
    done, ended = 0, threading.Event()

    def advance(steps: int) -> None:
        nonlocal done
        done += steps

    def report() -> None:
        while not ended.wait(PIPE_INTERVAL):
            print(f"gfsmith: {text}: {done} of {total}", file=sys.stderr, flush=True)

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield advance
    finally:
        ended.set()
        thread.join()
