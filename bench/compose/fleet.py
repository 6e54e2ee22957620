"""The drivers of a fleet, one process for each rank, and their shared page."""

from __future__ import annotations

import contextlib
import json
import mmap
import secrets
import selectors
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

from bench.compose.plan import Cell
from bench.run import RunError

#: As in driver/rounds.h: rounds of two times and two counts, then space for semaphores.
ROUNDS, RANKS = 4096, 32
ROUND = struct.Struct("=QQII")
PAGE = ROUNDS * ROUND.size + 64 + RANKS * 64
NEVER = (1 << 64) - 1

CONNECT_MS = 20000
EXIT_S = 2.0  #: until a driver whose input has ended is killed
#: Messages of a driver that fails because another one failed.
VICTIM = ("another rank failed", "a peer has gone down or cannot be reached")


@dataclass(frozen=True, slots=True)
class Roles:
    """Ranks with a part in a graph, ranks that begin (they receive nothing), and ranks that end up with a
    shard."""

    part: frozenset[int]
    leaf: frozenset[int]
    sink: frozenset[int]

    def words(self) -> str:
        return " ".join(str(sum(1 << rank for rank in ranks)) for ranks in (self.part, self.leaf, self.sink))


def roles(graph: dict[str, Any]) -> Roles:
    """Return the roles in a graph, given as JSON."""
    vertices = graph["vertices"]
    return Roles(
        frozenset(v["rank"] for v in vertices),
        frozenset(v["rank"] for v in vertices if not v["receives"]),
        frozenset(place["rank"] for place in graph["wanted"]),
    )


class Runs(Protocol):
    """Fleet functions that a measurement needs; tests use a fake without processes or a clock."""

    def open(self, cell: Cell) -> dict[str, Any]: ...
    def run(self, contender: str, count: int) -> list[tuple[float, float]]: ...
    def close(self) -> None: ...


class _Driver:
    """One process."""

    def __init__(self, command: Sequence[str], key: str, rank: int) -> None:
        self.rank = rank
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        pipe = subprocess.PIPE
        # Ctrl-C is for the measuring process; a driver exits at the end of its input.
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=self._errors, text=True, start_new_session=True
        )
        self.tell(key)

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise RunError(self._why()) from None

    @property
    def output(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    def answer(self) -> dict[str, Any]:
        """Return the driver's answer. Raises RunError if the driver exited."""
        line = self.output.readline()
        if not line:
            raise RunError(self._why())
        found: dict[str, Any] = json.loads(line)
        return found

    def _why(self) -> str:
        status = self._process.wait()
        self._errors.seek(0)
        text = self._errors.read().strip().splitlines()
        return f"rank {self.rank}: {text[-1] if text else f'ended with status {status}'}"

    def end_input(self) -> None:
        """Let the driver exit, unless a command of it hangs."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # unwritten bytes are still in the buffer
            self._process.stdin.close()

    def stop(self) -> None:
        try:
            self._process.wait(EXIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.output.close()
        self._errors.close()


class Fleet:
    """A fleet of connected ranks. All methods raise RunError if a rank stops, for example because bytes are
    wrong or an operation fails."""

    def __init__(self, driver: Path, ranks: int, provider: str) -> None:
        self._shared = tempfile.NamedTemporaryFile(prefix="gfsmith-rounds-")  # noqa: SIM115
        self._shared.truncate(PAGE)
        self._page = mmap.mmap(self._shared.fileno(), PAGE)
        self._drivers: list[_Driver] = []
        self._playing: list[_Driver] = []
        self._job, self._window = 1, 1
        key = secrets.token_hex(32)
        try:
            for rank in range(ranks):
                command = [str(driver), str(rank), self._shared.name, provider]
                self._drivers.append(_Driver(command, key, rank))
            ports = [one.answer()["port"] for one in self._drivers]
            for rank, port in enumerate(ports):
                self._all([one for one in self._drivers if one.rank != rank], f"peer {rank} {port}")
            self._all(self._drivers, f"connect {CONNECT_MS}")
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Fleet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pids(self) -> list[int]:
        """Return the process ids of all ranks."""
        return [one.pid for one in self._drivers]

    def stop(self) -> None:
        for one in self._drivers:
            one.end_input()
        for one in self._drivers:
            one.stop()
        self._page.close()
        self._shared.close()

    @staticmethod
    def _all(drivers: Sequence[_Driver], line: str) -> list[dict[str, Any]]:
        """Send one command to several drivers at the same time. An error names at once the rank that failed
        by itself, because others may be waiting for it."""
        for one in drivers:
            one.tell(line)
        answers: dict[int, dict[str, Any]] = {}
        victims: list[RunError] = []
        with selectors.DefaultSelector() as waiting:
            for one in drivers:
                waiting.register(one.output, selectors.EVENT_READ, one)
            while waiting.get_map():
                for key, _ in waiting.select():
                    waiting.unregister(key.fileobj)
                    try:
                        answers[key.data.rank] = key.data.answer()
                    except RunError as error:
                        if not any(words in str(error) for words in VICTIM):
                            raise
                        victims.append(error)
        if victims:
            raise victims[0]
        return [answers[one.rank] for one in drivers]

    def open(self, cell: Cell) -> dict[str, Any]:
        """Open a cell on the ranks with a part in it; return its graph."""
        last = self._drivers[cell.ranks - 1]  # has a part in every graph
        self._all([last], f"open {cell.words()}")
        graph = self._all([last], "graph")[0]
        who = roles(graph)
        self._playing = [one for one in self._drivers if one.rank in who.part]
        self._all([one for one in self._playing if one is not last], f"open {cell.words()}")
        self._all(self._playing, f"roles {who.words()}")
        self._window = cell.window
        return graph

    def run(self, contender: str, count: int) -> list[tuple[float, float]]:
        """Return for each operation when the first leaf began it and the last sink finished it, in
        seconds."""
        empty = ROUND.pack(NEVER, 0, 0, 0)
        self._page[: count * ROUND.size] = empty * count
        self._all(self._playing, f"run {self._job} {count} {contender}")
        self._job += count
        found = list(ROUND.iter_unpack(self._page[: count * ROUND.size]))
        if any(start == NEVER or end == 0 for start, end, _, _ in found):
            raise RunError("an operation without beginning or end")
        return [(start / 1e9, end / 1e9) for start, end, _, _ in found]

    def choices(self, path: Path | None) -> None:
        """Set the choices of hybrid runs of the open cell."""
        self._all(self._playing, f"choices {path or '-'}")

    def counts(self) -> dict[int, dict[str, Any]]:
        """Return the library's counts of the last operation of each rank with a part in the open cell."""
        found = self._all(self._playing, "counts")
        return {one.rank: counted for one, counted in zip(self._playing, found, strict=True)}

    def close(self) -> None:
        self._all(self._playing, "close")

    def calc(self, inputs: int, outputs: int, length: int, count: int) -> float:
        """Return the nanoseconds of an encoding in one process, without a network."""
        return float(self._all(self._drivers[:1], f"calc {inputs} {outputs} {length} {count}")[0]["ns"])
