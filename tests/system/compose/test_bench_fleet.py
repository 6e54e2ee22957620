"""bench/compose: a fleet of real processes over loopback. The tests check results, never times."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.compose import build as bench_build
from bench.compose import plan
from bench.compose.fleet import Fleet
from bench.compose.measure import measure
from bench.compose.plan import Cell
from bench.run import RunError
from tests.support.bench_graphs import record
from tests.support.folders import built, once
from tests.support.paths import ROOT

RANKS = 6  #: of all graphs below: five shards, and one more rank
EFFORT = plan.Effort(rounds=2, least=2, least_wide=2, milliseconds=1, most=3)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver, and a second one whose library writes its results to other memory."""
    built("lib", "compose")

    def link(folder: Path) -> None:
        idle = ROOT / "tests" / "system" / "compose" / "native" / "bench_idle.c"
        wraps = [f"-Wl,--wrap=gfsmith_graph_{how}" for how in ("post", "incoherent")]
        bench_build.link(folder / "driver", [], [])
        bench_build.link(folder / "idle", [idle], wraps)

    return once(tmp_path_factory, "bench_driver", link) / "driver"


@pytest.fixture(scope="module")
def fleet(driver: Path) -> Iterator[Fleet]:
    with Fleet(driver, RANKS, "tcp") as found:
        yield found


CELLS = [
    Cell(scheme, task, 3, 2, length, slice=1024 if scheme == "ecpipe" else 0, window=window)
    for scheme, tasks in plan.TASKS.items()
    if scheme != "lrc"
    for task in tasks
    for length, window in ((128, 1), (70001, 1), (4096, plan.WINDOW))
]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.id)
def test_every_scheme_both_ways(fleet: Fleet, cell: Cell) -> None:
    """The ranks compare their results themselves; times run from a beginning to an end."""
    found = measure(fleet, cell, EFFORT)
    assert all(value > 0 for who in plan.CONTENDERS for some in found.rounds[who] for value in some)
    assert found.graph == record(cell), "the graph equals Python's for this cell"


def test_a_local_code(fleet: Fleet) -> None:
    cell = Cell("lrc", plan.REPAIR, 3, 2, 1000, 1, 1)
    assert measure(fleet, cell, EFFORT).graph == record(cell)


def test_products_without_a_network(fleet: Fleet) -> None:
    assert fleet.calc(6, 3, 4096, 3) > 0


@pytest.mark.parametrize("contender", plan.CONTENDERS)
@pytest.mark.parametrize("window", [1, plan.WINDOW])
def test_undelivered_bytes_are_detected(driver: Path, contender: str, window: int) -> None:
    with Fleet(driver.with_name("idle"), RANKS, "tcp") as idle:
        idle.open(Cell("rs", plan.REPAIR, 3, 2, 1000, window=window))
        with pytest.raises(RunError, match="rank 5: driver: wrong bytes"):
            idle.run(contender, 2 * window)


@pytest.mark.parametrize("gone", [True, False], ids=["before", "about when"])
def test_a_rank_that_is_killed_is_named(driver: Path, gone: bool) -> None:
    with Fleet(driver, RANKS, "tcp") as some:
        some.open(Cell("rs", plan.REPAIR, 3, 2, 1000))
        os.kill(some.pids[2], signal.SIGKILL)
        if gone:  # its pipe is broken when it gets the command to begin
            os.waitid(os.P_PID, some.pids[2], os.WEXITED | os.WNOWAIT)
        with pytest.raises(RunError, match="rank 2: ended with status -9"):
            some.run(plan.COMPOSED, 3)


def _marked(mark: str) -> list[str]:
    """Return the processes that have this text in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue  # it has ended, or belongs to another user
    return found


@pytest.mark.needs("tune")
def test_ctrl_c_leaves_results_and_no_processes(driver: Path, tmp_path: Path) -> None:
    """After an interrupt following the first cell, as from a terminal, the same command continues."""
    out, mark = tmp_path / "results.json", f"GFSMITH_TEST={tmp_path}"
    command = [sys.executable, "-m", "bench.compose", "--quick", "--ycsb", "", "--out", str(out), "--cells"]
    errors = tmp_path / "errors"
    with errors.open("w") as to:
        running = subprocess.Popen(
            [*command, "latency/rs/*"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=to,
            env={**os.environ, "GFSMITH_TEST": str(tmp_path)},
            start_new_session=True,
        )
        while not out.exists() and running.poll() is None:
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(60) == 130, errors.read_text()
    assert len(errors.read_text().splitlines()) == 1 and not _marked(mark)
    first = json.loads(out.read_text())["cells"]
    name = next(iter(first))
    assert len(first) < 8
    subprocess.run([*command, name], cwd=ROOT, check=True, capture_output=True, timeout=120)
    assert json.loads(out.read_text())["cells"] == first


def test_a_code_that_is_none(driver: Path) -> None:
    with Fleet(driver, RANKS, "tcp") as some, pytest.raises(RunError, match="rank 5: driver: "):
        some.open(Cell("ppr", plan.ENCODE, 3, 2, 1000))


def test_a_provider_that_is_none(driver: Path) -> None:
    with pytest.raises(RunError, match=r"rank 0: driver: .*nonesuch"):
        Fleet(driver, RANKS, "nonesuch")
