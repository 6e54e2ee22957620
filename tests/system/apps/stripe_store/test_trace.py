"""--trace: a line for every operation, graph, read and write; degraded reads apart from healthy ones."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest

from bench.compose.primitives import traces
from tests.system.apps.stripe_store.support import wait_for
from tests.system.apps.stripe_store.test_run import running

VALUES = 6


def recorded(folder: Path) -> int:
    """Return the number of operations that chunk servers recorded so far."""
    return sum((folder / str(rank)).read_text().count(" operation ") for rank in range(1, 6))


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_reads_and_graphs_are_traced(programs: Path, tmp_path: Path, lost: int) -> None:
    """TriEC(3, 2) with none, one and two lost chunks, as in figure 13 of INEC."""
    at = tmp_path / "trace"
    at.mkdir()
    degraded = () if lost == 0 else ("--degraded", f"weibull:0.75:1:{lost}")
    options = ("--scheme", "triec", "-k", "3", "-m", "2", *degraded, "--trace", str(at))
    with running(programs, tmp_path / "store", *options) as (_, client):
        began = time.monotonic_ns()
        for number in range(VALUES):
            value = random.Random(number).randbytes(9000)
            assert client.set(f"key-{number}", value) and client.get(f"key-{number}") == value
        # A chunk server may end its part of a graph after the client has its answer: 5 parts encode, each
        # chunk that is present is fetched, and 3 parts repair. A store that stops makes open parts fail.
        parts = 5 + (3 - lost) + (3 if lost else 0)
        wait_for("all parts to be recorded", lambda: recorded(at) == parts * VALUES)
        ended = time.monotonic_ns()
    found = traces.read(at, [(began, ended)])
    kind = traces.HEALTHY if lost == 0 else traces.DEGRADED
    assert {name: len(rounds[0]) for name, rounds in found.whole.items()} == {
        traces.WRITE: VALUES,
        kind: VALUES,
    }
    numbers = {part.title: len(rounds[0]) for part, rounds in found.parts.items()}
    assert numbers["encode: recv-ec-send at chunk servers"] == 3 * VALUES
    assert numbers["encode: recv-xor at chunk servers"] == 2 * VALUES
    repairs = [words for words in (at / "0").read_text().splitlines() if words.endswith(" repair")]
    assert len(repairs) == (VALUES if lost else 0)
    reads = [line.split()[2] for line in (at / "0").read_text().splitlines() if line.split()[1] == "read"]
    assert reads == [str(lost)] * VALUES
    assert all(value > 0 for rounds in found.parts.values() for value in rounds[0])


def test_a_folder_that_is_missing(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("00" * 32)
    (tmp_path / "key").chmod(0o600)
    command = [programs / "stripe-agent", "--trace", tmp_path / "none", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert done.stderr == f"stripe-agent: --trace {tmp_path}/none/0: No such file or directory\n"
