"""Ranks of a graph as separate processes (native/graph_node.c) that are halted and killed."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tests.system.compose.output_lines import OutputLines
from tests.system.compose.support import NATIVE

#: Calls of the library that native/graph_node.c intercepts.
WRAPPED = ("gfc_send_granted", "gfc_write", "gfc_send_over", "gfc_receive_landed", "gfc_compute")
#: gfsmith_compose_status
OK, EPEER = 0, -33


SOURCES = (NATIVE / "graph_node.c", NATIVE / "graph_case.c")
OPTIONS = [f"-Wl,--wrap={name}" for name in WRAPPED]


@dataclass(frozen=True, slots=True)
class Outcome:
    """words: the reason, or "right" or "wrong" of the shards."""

    status: int
    rank: int
    words: str


class Rank:
    """One process."""

    def __init__(self, program: Path, provider: str, rank: int) -> None:
        self.rank = rank
        pipe = subprocess.PIPE
        command = [str(program), provider, str(rank)]
        # without this variable libfabric searches all its providers
        chosen = {**os.environ, "FI_PROVIDER": provider}
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=program.parent, env=chosen)
        self.expect = OutputLines(self._process, f"rank {rank}").expect
        self.port = 0

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def outcome(self) -> Outcome:
        status, rank, words = self.expect("over").split(" ", 2)
        return Outcome(int(status), int(rank), words)

    def kill(self) -> None:
        """Send SIGKILL."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


class Ranks:
    """All ranks of a graph, with links between them."""

    def __init__(self, program: Path, provider: str, ranks: Iterable[int]) -> None:
        self._program, self._provider = program, provider
        self.alive: dict[int, Rank] = {}
        self.start(ranks)

    def __enter__(self) -> Ranks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for one in self.alive.values():
            one.kill()

    def start(self, ranks: Iterable[int]) -> None:
        """Start the ranks that do not run, and wait for all links."""
        fresh = [rank for rank in ranks if rank not in self.alive]
        for rank in fresh:
            self.alive[rank] = Rank(self._program, self._provider, rank)
        for rank in fresh:
            self.alive[rank].port = int(self.alive[rank].expect("port"))
        pairs = [(a, b) for a in self.alive for b in self.alive if a != b and (a in fresh or b in fresh)]
        for a, b in pairs:
            self.alive[a].tell(f"peer {b} {self.alive[b].port}")
        for a, b in pairs:
            self.alive[a].tell(f"linked {b}")
        for a, b in pairs:
            assert self.alive[a].expect("linked") == str(b)

    def post(
        self, ranks: Iterable[int], job: int, milliseconds: int, case: str, halts: int | None = None
    ) -> None:
        """Post a job and wait until the engines have begun it; the engine of `halts`
        may have halted before.
        """
        for rank in ranks:
            self.alive[rank].tell(f"post {job} {milliseconds} {case}")
        for rank in ranks:
            if rank != halts:
                self.alive[rank].expect("posted")

    def kill(self, rank: int) -> None:
        self.alive.pop(rank).kill()
