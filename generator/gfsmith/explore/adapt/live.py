"""Growing traces, of another process or of the workload, which this module builds and runs."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.live import Live

from gfsmith.emit.files import share
from gfsmith.explore.adapt import show
from gfsmith.explore.adapt.trace import Trace, TraceError

WORKLOAD = Path(__file__).parent / "workload.c"
_POLL = 0.1  #: seconds between reads of a file
_PATIENCE = 10  #: seconds in which a workload must exit


class LiveError(Exception):
    """A workload or trace that cannot be run. The message is one line."""


@dataclass(slots=True)
class Tail:
    """A growing file. If it is shorter than before, it is read again from its beginning."""

    path: Path
    _read: int = 0
    _rest: bytes = b""

    def lines(self) -> list[str]:
        """Return the complete lines that were written since the last call. Raises TraceError."""
        try:
            with self.path.open("rb") as file:
                if file.seek(0, os.SEEK_END) < self._read:
                    self._read, self._rest = 0, b""
                file.seek(self._read)
                new = file.read()
        except OSError as error:
            raise TraceError(f"{self.path}: {error.strerror}") from None
        self._read += len(new)
        *whole, self._rest = (self._rest + new).split(b"\n")
        return [line.decode("utf-8", "replace") for line in whole]


def follow(tails: Sequence[Tail], console: Console, goes_on: Callable[[], bool]) -> Trace:
    """Show the events of the files until `goes_on` is false: a view on a terminal, otherwise a line for each
    new event. Raises TraceError."""
    trace = Trace()
    if console.is_terminal:
        with Live(show.view(trace), console=console, auto_refresh=False) as live:
            for fresh in _batches(tails, goes_on):
                for line in fresh:
                    trace.read(line)
                if fresh:
                    live.update(show.view(trace), refresh=True)
    else:
        for fresh in _batches(tails, goes_on):
            for line in fresh:
                event = trace.read(line)
                told = show.malformed(trace.malformed[-1:]) if event is None else show.line(trace, event)
                if told is not None:
                    print(told, flush=True)
    return trace


def _batches(tails: Sequence[Tail], goes_on: Callable[[], bool]) -> Iterator[list[str]]:
    """Yield new lines as they come, and once more after the end."""
    last = False
    while not last:
        last = not goes_on()
        yield [line for tail in tails for line in tail.lines()]
        if not last:
            time.sleep(_POLL)


def until(seconds: float | None) -> Callable[[], bool]:
    """Return a function that is true while time is left; always true without a number."""
    end = None if seconds is None else time.monotonic() + seconds
    return lambda: end is None or time.monotonic() < end


@dataclass(frozen=True, slots=True)
class Work:
    """The workload's parameters. seconds 0: until it is stopped."""

    k: int
    m: int
    length: int
    threads: int
    seconds: float
    policy: str = ""
    device: str = ""


@dataclass(slots=True)
class Running:
    """A running workload, its trace and its measured rate."""

    process: subprocess.Popen[bytes]
    folder: Path
    tails: list[Tail] = field(init=False)

    def __post_init__(self) -> None:
        self.tails = [Tail(self.folder / "trace.jsonl"), Tail(self.folder / "rates.jsonl")]

    def goes_on(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        """Close the workload's input, which makes it exit. Raises LiveError if it failed."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            status = self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise LiveError("the workload does not exit") from None
        if status != 0:
            said = (self.folder / "errors").read_text(encoding="utf-8", errors="replace").splitlines()
            raise LiveError(said[-1] if said else f"the workload ended with status {status}")


def build(library: Path, folder: Path) -> Path:
    """Build the workload, linked with the libgfsmith.a in `library`. Raises LiveError."""
    archive = library / "libgfsmith.a"
    if not archive.is_file():
        raise LiveError(
            f"{archive} is missing: build it with `make adaptive`, or name another folder with --library"
        )
    compiler = os.environ.get("CC", "cc")
    program = folder / "workload"
    command = [
        compiler,
        "-std=c11",
        "-O2",
        *(f"-I{share('runtime') / part / 'include'}" for part in ("core", "adaptive")),
        WORKLOAD,
        archive,
        "-pthread",
    ]
    try:
        done = subprocess.run(
            [*map(str, command), "-o", str(program)], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise LiveError(f"{compiler}: {error.strerror}; set CC to a C compiler") from None
    if done.returncode != 0:
        if "gfsmith_adaptive_create" in done.stderr:
            raise LiveError(f"{archive} has no coordinator: build one with `make adaptive`")
        raise LiveError(f"{compiler} failed: {(done.stderr.splitlines() or ['no message'])[0]}")
    return program


@contextmanager
def running(work: Work, library: Path) -> Iterator[Running]:
    """Run the workload in its own process group, so that Ctrl-C reaches gfsmith only. Raises LiveError."""
    with tempfile.TemporaryDirectory(prefix="gfsmith-adapt-") as name:
        folder = Path(name)
        program = build(library, folder)
        for file in ("trace.jsonl", "rates.jsonl"):
            (folder / file).touch()
        words = [work.k, work.m, work.length, work.threads, work.seconds, folder / "trace.jsonl", work.device]
        with (folder / "rates.jsonl").open("wb") as rates, (folder / "errors").open("wb") as errors:
            process = subprocess.Popen(
                [str(word) for word in (program, *words, work.policy)],
                stdin=subprocess.PIPE, stdout=rates, stderr=errors, start_new_session=True,
            )  # fmt: skip
        run = Running(process, folder)
        try:
            yield run
        except BaseException:
            process.kill()
            process.wait()
            raise
        run.end()
