"""The search: the variants that it tries, resumption, and the state after an interruption."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import optuna
import pytest

from gfsmith.build import config
from gfsmith.build.target import CACHED, parse, path_of, reference
from gfsmith.explore.tune import search, space, study
from gfsmith.explore.tune.result import Phase, Regime
from gfsmith.explore.tune.space import Plan
from gfsmith.kernel.isa import BY_NAME
from gfsmith.kernel.limits import GENERIC, Limits
from gfsmith.kernel.spec import Order
from tests.support.paths import ROOT
from tests.unit.explore.tune.fake import FakeBench

TARGET = parse("dot:3x2@avx2", BY_NAME["sse"])
BUILD = '[[kernels]]\noperation = "dot"\nshapes = ["nx2", "3x2"]\n'
SPECS = config.specs(config.parse(BUILD, "build"), "build")


def _cost(plan: Plan) -> float:
    """Return a cost in which three vectors per iteration are best by far; six do not fit."""
    first = plan.specs[0]
    if first.unroll == 6:
        return math.inf
    return 80.0 if first.unroll == 3 and first.prefetch == 0 else 100.0 + first.unroll


def _settings(budget: int, lengths: tuple[int, ...] = (1024,)) -> study.Settings:
    return study.Settings(lengths, (Regime.CACHED,), budget, 5, 21, 1, "gfs")


def _run(bench: FakeBench, settings: study.Settings, journal: Path | None) -> tuple[study.Ledger, list[int]]:
    @contextmanager
    def opener(target: object) -> object:  # type: ignore[misc]
        yield bench

    ledger, told = study.Ledger("znver4"), []
    kept = search.storage(journal)
    with suppress(KeyboardInterrupt):
        study.run(ledger, [TARGET], SPECS, settings, opener, kept, told.append)  # type: ignore[arg-type]
    return ledger, told


@pytest.mark.parametrize("budget", [200, 40], ids=["grid", "tpe"])
def test_the_best_is_found_and_written(budget: int) -> None:
    bench = FakeBench(_cost, noise=0.005)
    ledger, told = _run(bench, _settings(budget, (1024, 4096)), None)
    assert sum(told) == 2 * budget == study.steps([TARGET], _settings(budget, (1024, 4096)))
    (choice,) = ledger.choices
    best = {space.plan(TARGET, "gfs", {"unroll": 3, "order": order.value}).symbols for order in Order}
    default = {space.plan(TARGET, "gfs", {"unroll": 3}).symbols}
    assert [won.symbols for won in ledger.winners] == [choice.symbols] * 2
    assert choice.symbols in (default if budget == 200 else best), "only the grid tries every order"
    assert set(choice.gains) == {1024, 4096}
    assert choice.gains[1024].median == pytest.approx(102 / 80, rel=0.01)
    assert all("_u6" not in m.symbol for m in ledger.measurements)
    assert ledger.study(True).winners == tuple(ledger.winners)


def test_a_small_space_is_tried_whole_and_equal_points_once() -> None:
    bench = FakeBench(_cost)
    ledger, _ = _run(bench, _settings(200), None)
    options = space.axes(TARGET, "cached")
    assert space.size(options) <= 200
    tried = {m.symbols for m in ledger.measurements if m.phase is Phase.SEARCH}
    # Without 6 vectors per iteration: 1 of 1 order, 4 of 3; tables in registers or memory; three distances.
    assert len(tried) == (1 + 4 * 3) * 2 * 3
    searched = [p for p in bench.loaded if p.specs[0].unroll != 6]
    assert len(set(searched)) == len(tried)


def test_the_sampler_depends_on_the_size() -> None:
    start = Plan(reference(TARGET, "cached", SPECS, "gfs"))
    (cell,) = study.cells(TARGET, _settings(1))["cached"]
    size = space.size(space.axes(TARGET, "cached"))

    def sampler(budget: int) -> object:
        return search._sampler(search.Search("n", cell, TARGET, "gfs", start, (), budget, 5, 1))

    assert isinstance(sampler(size), optuna.samplers.GridSampler)
    assert isinstance(sampler(size - 1), optuna.samplers.TPESampler)


def test_equal_code_is_measured_once() -> None:
    """Variants whose orders give equal bytes share their trials."""

    def digest(plan: Plan) -> str:
        return str(plan.specs[0].unroll)

    bench = FakeBench(_cost, digest=digest)
    ledger, _ = _run(bench, _settings(200), None)
    batches = -(-space.size(space.axes(TARGET, "cached")) // 16)
    assert bench.samples < 1.2 * (2 * 5 * 5 * batches + 2 * 21 * 5)
    assert len(ledger.winners) == 1


@pytest.mark.parametrize("budget", [200, 48], ids=["grid", "tpe"])
def test_an_interrupted_study_resumes(tmp_path: Path, budget: int) -> None:
    settings = _settings(budget, (1024, 4096))
    whole = FakeBench(_cost)
    complete, _ = _run(whole, settings, None)
    journal = tmp_path / "tune.journal"
    first = FakeBench(_cost, stop=whole.samples // 2)
    partial, _ = _run(first, settings, journal)
    assert len(partial.winners) < 2
    second = FakeBench(_cost)
    resumed, told = _run(second, settings, journal)
    assert sum(told) == 2 * budget
    assert second.samples < 0.8 * whole.samples
    assert resumed.winners == complete.winners
    assert resumed.choices == complete.choices
    third = FakeBench(_cost)
    again, _ = _run(third, settings, journal)
    assert third.samples == 0 and again.winners == resumed.winners, "everything is in the journal"
    assert again.measurements == resumed.measurements


def test_a_study_that_was_killed_while_it_wrote_resumes(tmp_path: Path) -> None:
    """The journal's path is relative, as by default."""
    journal = Path(".gfsmith-cache/tune.journal")
    begin = f"import optuna; kept = {search.storage.__module__}.storage(Path({str(journal)!r})); "
    script = (
        f"import os, signal; from pathlib import Path; import {search.storage.__module__}\n"
        "{before}" + begin + 'optuna.create_study(study_name="s", storage=kept, load_if_exists=True)'
    )
    kill = "os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)\n"

    def run(before: str) -> int:
        command = [sys.executable, "-c", script.format(before=before)]
        return subprocess.run(command, cwd=tmp_path, check=False, timeout=60).returncode

    assert run(kill) == -signal.SIGKILL
    assert run("") == 0


def test_the_name_of_a_study_is_the_same_in_every_process() -> None:
    """Hashes of strings, and with them the order of sets, differ between processes."""
    script = (
        f"from {__name__} import *; from {__name__} import _settings\n"
        'start = Plan(reference(TARGET, "cached", SPECS, "gfs"))\n'
        "settings = _settings(1)\n"
        '(cell,) = study.cells(TARGET, settings)["cached"]\n'
        'print(study._name("znver4", cell, start, settings))'
    )
    names = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(names) == 1


def test_measurements_survive_an_interruption() -> None:
    whole = FakeBench(_cost)
    _run(whole, _settings(40, (1024, 4096)), None)
    ledger, _ = _run(FakeBench(_cost, stop=whole.samples - 5), _settings(40, (1024, 4096)), None)
    found = ledger.study(False)
    assert not found.complete
    assert len(found.winners) == 1 and len(found.measurements) > 20
    assert not found.choices, "an unfinished path has no choice"


def test_cells_keep_the_regimes_apart() -> None:
    limits = Limits(32 << 10, 512 << 10, 1024)
    settings = study.Settings((512, 1024, 16384, 1 << 20), tuple(Regime), 1, 5, 9, 1, "gfs", limits)
    found = study.cells(TARGET, settings)
    assert {p: [(c.regime, c.length) for c in cs] for p, cs in found.items()} == {
        "cached": [(Regime.CACHED, 512), (Regime.CACHED, 1024)],
        "second": [(Regime.CACHED, 16384)],
        "nearby": [(Regime.MEMORY, 512)],
        "distant": [(Regime.MEMORY, 1024)],
        "bulk": [(Regime.MEMORY, 16384), (Regime.MEMORY, 1 << 20)],
    }
    assert path_of(TARGET, False, 1 << 20, GENERIC) is None


def test_the_reference_is_the_kernel_of_the_build() -> None:
    text = BUILD + '[[kernels]]\noperation = "dot"\nshapes = ["nx2"]\nstore = "streaming"\n'
    text += '[[kernels]]\noperation = "dot"\nshapes = ["3x2"]\nprefetch = 256\nisas = ["avx2"]\n'
    specs = config.specs(config.parse("[generator]\nisas = ['avx2']\n" + text, "build"), "build")
    found = {p: reference(TARGET, p, specs, "gfs")[0].symbol for p in (*CACHED, "nearby", "distant", "bulk")}
    assert found == {
        "cached": "gfs_dot_3x2__avx2_u2_steps",
        "second": "gfs_dot_3x2__avx2_u2_steps",
        "nearby": "gfs_dot_3x2__avx2_u2_steps_p256t0",
        "distant": "gfs_dot_nx2__avx2_u2_nt",
        "bulk": "gfs_dot_nx2__avx2_u2_nt",
    }
    alone = reference(parse("dot:9x3@avx2", BY_NAME["sse"]), "cached", specs, "gfs")
    assert [spec.symbol for spec in alone] == ["gfs_dot_9x3__avx2_u2_steps"]
    twelve = reference(parse("dot:9x10@gfni_avx512", BY_NAME["sse"]), "cached", specs, "gfs")
    assert [spec.outputs for spec in twelve] == [5, 5], "passes are balanced as in map.c"
