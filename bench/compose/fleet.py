"""Drivers, one process for each rank, and the page that they share."""

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

#: As driver/turns.h has them: turns of two times and two counts, then room for semaphores.
TURNS, RANKS = 4096, 32
TURN = struct.Struct("=QQII")
PAGE = TURNS * TURN.size + 64 + RANKS * 64
NEVER = (1 << 64) - 1

CONNECT_MS = 20000
#: What a driver says that fails because of another.
VICTIM = "another rank failed"


@dataclass(frozen=True, slots=True)
class Roles:
    """Who has a part in a graph, who begins (nothing is sent to it), who ends up with a shard."""

    part: frozenset[int]
    leaf: frozenset[int]
    sink: frozenset[int]

    def words(self) -> str:
        return " ".join(str(sum(1 << rank for rank in ranks)) for ranks in (self.part, self.leaf, self.sink))


def roles(graph: dict[str, Any]) -> Roles:
    """From a graph's JSON."""
    vertices = graph["vertices"]
    return Roles(
        frozenset(v["rank"] for v in vertices),
        frozenset(v["rank"] for v in vertices if not v["receives"]),
        frozenset(place["rank"] for place in graph["wanted"]),
    )


class Runs(Protocol):
    """What measuring needs of a fleet; tests have one without processes or a clock."""

    def open(self, cell: Cell) -> dict[str, Any]: ...
    def run(self, contender: str, count: int) -> list[tuple[float, float]]: ...
    def close(self) -> None: ...


class _Driver:
    """One process."""

    def __init__(self, command: Sequence[str], key: str, rank: int) -> None:
        self.rank = rank
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        pipe = subprocess.PIPE
        # Ctrl-C is for whoever measures; a driver whose input ends, ends.
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
        """Raises RunError if it ended instead."""
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

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):  # what could not be written is still in the buffer
                pipe.close()
        self._errors.close()


class Fleet:
    """So many ranks that know each other. All methods raise RunError if one of them stops, as it does when
    bytes are wrong or an operation fails."""

    def __init__(self, driver: Path, ranks: int, provider: str) -> None:
        self._shared = tempfile.NamedTemporaryFile(prefix="gfsmith-turns-")  # noqa: SIM115
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
        """Of all ranks."""
        return [one.pid for one in self._drivers]

    def stop(self) -> None:
        for one in self._drivers:
            one.stop()
        self._page.close()
        self._shared.close()

    @staticmethod
    def _all(drivers: Sequence[_Driver], line: str) -> list[dict[str, Any]]:
        """The same to several of them, at the same time. Who failed by itself is named, at once: others may
        be waiting for it."""
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
                        if VICTIM not in str(error):
                            raise
                        victims.append(error)
        if victims:
            raise victims[0]
        return [answers[one.rank] for one in drivers]

    def open(self, cell: Cell) -> dict[str, Any]:
        """Open a cell where it has a part; gives its graph."""
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
        """When the first leaf began each operation and the last sink had it, in seconds."""
        turn = TURN.pack(NEVER, 0, 0, 0)
        self._page[: count * TURN.size] = turn * count
        self._all(self._playing, f"run {self._job} {count} {contender}")
        self._job += count
        found = list(TURN.iter_unpack(self._page[: count * TURN.size]))
        if any(start == NEVER or end == 0 for start, end, _, _ in found):
            raise RunError("an operation without beginning or end")
        return [(start / 1e9, end / 1e9) for start, end, _, _ in found]

    def close(self) -> None:
        self._all(self._playing, "close")

    def calc(self, inputs: int, outputs: int, length: int, count: int) -> float:
        """Nanoseconds of an encoding in one process, without a network."""
        return float(self._all(self._drivers[:1], f"calc {inputs} {outputs} {length} {count}")[0]["ns"])
