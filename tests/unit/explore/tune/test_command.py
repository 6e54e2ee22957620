"""`gfsmith tune` with given times; one test loads real kernels."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gfsmith.build import tuned
from gfsmith.build.target import parse
from gfsmith.cli import main, tune_stages
from gfsmith.explore.cost_model import target
from gfsmith.explore.pitch import pitch
from gfsmith.explore.tune import load, modelled, result, space, study
from gfsmith.explore.tune.result import Cell, Regime
from gfsmith.explore.tune.space import Plan
from gfsmith.kernel import microarch
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import BY_NAME
from gfsmith.lower import lower
from gfsmith.passes import check_frame
from tests.support.paths import ROOT
from tests.unit.explore.tune.fake import FakeBench

BUILD = """
[generator]
isas = ["sse", "scalar"]
[[kernels]]
operation = "dot"
shapes = ["nx2", "3x2"]
"""
QUICK = ("--lengths", "1k,4k", "--variants", "20", "--trials", "3", "--final", "15", "--jobs", "1")


def _cost(plan: Plan) -> float:
    first = plan.specs[0]
    return 80.0 if first.unroll == 3 else 100.0 + first.unroll + first.prefetch / 100


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build, on a Zen 4 with all features."""
    (tmp_path / "gfsmith.toml").write_text(BUILD)
    monkeypatch.setattr(tune_stages.microarch, "host", lambda: microarch.find("znver4"))
    flags = frozenset(flag for isa in BY_NAME.values() for flag in isa.cpu_flags)
    monkeypatch.setattr(tune_stages.microarch, "host_features", lambda: flags)
    return tmp_path


Use = Callable[[FakeBench], FakeBench]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Makes `tune` measure with a fake bench."""

    def give(bench: FakeBench) -> FakeBench:
        @contextmanager
        def opener(target: object, jobs: int) -> Iterator[FakeBench]:
            yield bench

        monkeypatch.setattr(tune_stages, "_bench", opener)
        return bench

    return give


def _tune(project: Path, *arguments: str) -> Result:
    words = ["tune", *arguments, "--config", str(project / "gfsmith.toml")]
    return CliRunner().invoke(main.main, words, catch_exceptions=False)


def test_the_winner_is_proved_and_written_and_gen_takes_it(project: Path, use: Use) -> None:
    use(FakeBench(_cost))
    done = _tune(project, "dot:3x2@sse", *QUICK, "--regime", "cached", "--study", str(project / "s.json"))
    assert done.exit_code == 0, done.output
    path = project / "tuned" / "znver4.toml"
    assert "1 kernel, all proved" in done.stdout and "unroll = 3" in path.read_text()
    assert "speed over untuned" in done.stdout and done.stderr == ""
    proofs = json.loads((project / ".gfsmith-cache" / "tuned-proofs.json").read_text())
    assert len(proofs) == 2, "both ABIs"
    study = result.read(project / "s.json")
    assert study.complete and [won.cell.length for won in study.winners] == [1024, 4096]
    config = (project / "gfsmith.toml").read_text()
    (project / "gfsmith.toml").write_text(config.replace("[[", 'tuned = ["tuned/znver4.toml"]\n[[', 1))
    words = ["list", "--json", "--config", str(project / "gfsmith.toml")]
    kernels = json.loads(CliRunner().invoke(main.main, words).output)["kernels"]
    assert [k["symbol"] for k in kernels if k["symbol"].startswith("gfs_dot_3x2__sse_u3")]


def test_the_study_replaces_no_file_of_the_user(project: Path, use: Use) -> None:
    use(FakeBench(_cost))
    mine = project / "gfsmith.toml"
    done = _tune(project, "dot:3x2@sse", *QUICK, "--study", str(mine))
    line = f"gfsmith: --study: {mine}: exists and is no study; name another file, or move this one\n"
    assert (done.exit_code, done.stderr) == (2, line)
    assert mine.read_text() == BUILD and not (project / "tuned").exists()
    study = project / "s.json"
    study.touch()
    for _ in range(2):
        assert (
            _tune(project, "dot:3x2@sse", *QUICK, "--regime", "cached", "--study", str(study)).exit_code == 0
        )


def test_json_is_the_study(project: Path, use: Use) -> None:
    use(FakeBench(_cost))
    done = _tune(project, "dot:3x2@sse", *QUICK, "--regime", "cached", "--json")
    data = json.loads(done.stdout)
    assert data["format"] == result.FORMAT
    assert data["study"]["winners"][0]["cell"]["target"] == "dot:3x2@sse"
    kept = project / "copy.json"
    kept.write_text(done.stdout)
    assert result.read(kept).choices[0].gains[1024].median > 1.2


def test_ties_write_no_kernel(project: Path, use: Use) -> None:
    use(FakeBench(lambda plan: 100.0, noise=0.01))
    done = _tune(project, "dot:3x2@sse", *QUICK)
    assert done.exit_code == 0
    text = (project / "tuned" / "znver4.toml").read_text()
    assert "[[kernel]]" not in text and done.stdout.count("(untuned)") == 4
    last = done.stdout.splitlines()[-1]
    assert "znver4.toml: no kernel: the default stays the best, because " in last and "proved" not in last


def test_kernels_of_other_specs_stay(project: Path, use: Use) -> None:
    """Also a kernel that an edit has shortened to the keys that matter; those of the same SPEC go."""
    path = project / "tuned" / "znver4.toml"
    path.parent.mkdir(exist_ok=True)
    head = 'format = 1\nmicroarchitecture = "znver4"\nbasis = "measured"\n'
    gains = "gains = [{ length = 1024, speed = 1.16, low = 1.14, high = 1.19 }]\n"
    other = f'[[kernel]]\nspec = "dot:10x4@avx2"\npath = "cached"\nunroll = 2\n{gains}'
    same = '[[kernel]]\nspec = "dot:3x2@sse"\npath = "bulk"\nunroll = 2\n'
    path.write_text(head + other + same)
    (before, _) = tuned.read(path).kernel
    use(FakeBench(_cost))
    done = _tune(project, "dot:3x2@sse", *QUICK, "--regime", "cached")
    assert done.exit_code == 0 and "1 kernel, all proved; 1 kernel of other SPECs stay" in done.stdout
    kept, chosen = tuned.read(path).kernel
    assert (kept.spec, kept.unroll, kept.gains) == (before.spec, 2, before.gains)
    assert (chosen.spec, chosen.path, chosen.unroll) == ("dot:3x2@sse", "cached", 3)


def test_kernels_that_another_run_wrote_meanwhile_stay(project: Path, use: Use) -> None:
    path = project / "tuned" / "znver4.toml"

    def cost(plan: Plan) -> float:
        if not path.exists():
            path.parent.mkdir()
            head = 'format = 1\nmicroarchitecture = "znver4"\nbasis = "measured"\n'
            path.write_text(head + '[[kernel]]\nspec = "dot:10x4@avx2"\npath = "cached"\nunroll = 2\n')
        return _cost(plan)

    use(FakeBench(cost))
    done = _tune(project, "dot:3x2@sse", *QUICK, "--regime", "cached")
    assert done.exit_code == 0 and "1 kernel, all proved; 1 kernel of other SPECs stay" in done.stdout
    assert [entry.spec for entry in tuned.read(path).kernel] == ["dot:10x4@avx2", "dot:3x2@sse"]


@pytest.mark.parametrize("change", [("znver4", "znver3"), ("measured", "model")])
def test_kernels_of_other_cpus_or_of_a_model_do_not_stay(
    project: Path, use: Use, change: tuple[str, str]
) -> None:
    path = project / "tuned" / "znver4.toml"
    path.parent.mkdir(exist_ok=True)
    text = 'format = 1\nmicroarchitecture = "znver4"\nbasis = "measured"\n'
    path.write_text(text.replace(*change) + '[[kernel]]\nspec = "dot:10x4@avx2"\npath = "cached"\n')
    use(FakeBench(_cost))
    _tune(project, "dot:3x2@sse", *QUICK, "--regime", "cached")
    assert [entry.spec for entry in tuned.read(path).kernel] == ["dot:3x2@sse"]


def test_all_shapes_of_the_build_on_its_best_set_that_the_cpu_has(
    project: Path, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The CPU has better sets than the build."""
    use(FakeBench(_cost))
    quick = ("--all", *QUICK, "--regime", "cached", "--study", str(project / "s.json"))
    done = _tune(project, *quick)
    assert done.exit_code == 0, done.output
    measured = {m.cell.target for m in result.read(project / "s.json").measurements}
    assert measured == {"dot:nx2@sse", "dot:3x2@sse"}
    monkeypatch.setattr(tune_stages.microarch, "host_features", lambda: frozenset())
    done = _tune(project, *quick)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert "--all: this CPU runs no machine code of" in done.stderr


def test_a_tuned_file_that_cannot_be_read_stays(project: Path, use: Use) -> None:
    path = project / "tuned" / "znver4.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text("format = 7\n")
    bench = use(FakeBench(_cost))
    done = _tune(project, "dot:3x2@sse", *QUICK, "--regime", "cached")
    assert done.exit_code == 2 and "format = 7; allowed: 1" in done.stderr
    assert path.read_text() == "format = 7\n" and bench.samples == 0


def test_ctrl_c_shows_and_keeps_the_measurements(project: Path, use: Use) -> None:
    whole = use(FakeBench(_cost))
    _tune(project, "dot:3x2@sse", *QUICK, "--fresh", "-o", str(project / "other.toml"))
    use(FakeBench(_cost, stop=3 * whole.samples // 4))
    done = _tune(project, "dot:3x2@sse", *QUICK)
    assert done.exit_code == 130
    assert "gfs_dot_3x2__sse_u3" in done.stdout and "variants in" in done.stdout
    *progress, last = done.stderr.splitlines()
    assert "interrupted; no tuned file was written; the measurements are kept" in last
    assert all(line.startswith("gfsmith: ") and "interrupted" not in line for line in progress)
    assert not (project / "tuned").exists()
    use(FakeBench(_cost, stop=120))
    early = _tune(project, "dot:3x2@sse", *QUICK, "--fresh")
    assert (
        early.exit_code == 130
        and "so far, no final" in early.stdout
        and " variants in 1 cell, 0 finals" in early.stdout
    )
    resumed = use(FakeBench(_cost))
    assert _tune(project, "dot:3x2@sse", *QUICK).exit_code == 0
    assert resumed.samples < 0.8 * whole.samples
    assert (project / "tuned" / "znver4.toml").read_text() == (project / "other.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dot:3"], "SPEC 'dot:3' cannot be read; allowed: dot:10x4"),
        (["sum:3x2"], "'sum' is neither operation nor code; allowed: dot, mad, xor, vandermonde"),
        (["dot:3x2@avx3"], "'avx3' has no machine code to tune; allowed: gfni_avx512"),
        (["dot:3x2@scalar"], "'scalar' has no machine code to tune"),
        (["cauchy:nx2"], "a code needs a number of inputs, such as cauchy:10x4"),
        (["dot:250x20"], "270 shards; allowed: up to 255"),
        (["xor:3x2@sse"], "outputs = 2; xor has exactly 1 output"),
        (["vandermonde:30x5@sse"], "vandermonde 30+5 is not MDS"),
        (["dot:3x2", "--lengths", "1x"], "'1x' is not a shard length; allowed: 64 .. 16m bytes"),
        (["dot:3x2", "--lengths", "32"], "'32' is not a shard length"),
        (["dot:3x2", "--lengths", "1m", "--regime", "cached"], "with none of them do all shards fit"),
        (["dot:3x2", "--config", "nowhere.toml"], "nowhere.toml: no such file"),
    ],
)
def test_bad_input_gets_one_line(project: Path, use: Use, arguments: list[str], words: str) -> None:
    bench = use(FakeBench(_cost))
    if "--config" in arguments:
        done = CliRunner().invoke(main.main, ["tune", *arguments], catch_exceptions=False)
    else:
        done = _tune(project, *arguments)
    assert done.exit_code == 2, done.output
    assert words in done.stderr and done.stderr.count("\n") == 1
    assert bench.samples == 0 and not (project / "tuned").exists()


def test_variants_beyond_the_frame(project: Path, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = use(FakeBench(lambda plan: math.inf))
    frame = check_frame.check_frame
    monkeypatch.setattr(check_frame, "MAX_FRAME", -1)
    monkeypatch.setattr(study, "program", lambda spec: frame(lower(spec), spec))
    done = _tune(project, "dot:3x2@sse", *QUICK)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert "bytes of stack for spilled values; allowed: -1" in done.stderr
    assert bench.samples == 0 and not (project / "tuned").exists()


def test_an_unknown_cpu_and_one_that_lacks_the_instructions(
    project: Path, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(FakeBench(_cost))
    monkeypatch.setattr(tune_stages.microarch, "host_features", lambda: frozenset({"SSSE3"}))
    done = _tune(project, "dot:3x2@gfni_avx2")
    assert done.exit_code == 2 and "this CPU lacks AVX, AVX2, GFNI" in done.stderr
    monkeypatch.setattr(tune_stages.microarch, "host", lambda: microarch.identify("vendor_id : X\n"))
    done = _tune(project, "dot:3x2@sse")
    assert done.exit_code == 2 and "does not name the CPU" in done.stderr


@pytest.mark.parametrize("text", ["mine", "mine\n", '{"op_code": 0}\n[]\n', '{"a": 1}\n', "7\n"])
def test_a_journal_of_something_else_is_refused_and_left_alone(project: Path, use: Use, text: str) -> None:
    use(FakeBench(_cost))
    journal = project / "notes.txt"
    journal.write_text(text)
    done = _tune(project, "dot:3x2@sse", *QUICK, "--journal", str(journal))
    assert done.exit_code == 2 and "notes.txt: not a journal of gfsmith tune" in done.stderr
    assert done.stderr.count("\n") == 1 and journal.read_text() == text


def test_a_journal_whose_last_line_was_cut_off_is_used(project: Path, use: Use) -> None:
    first = use(FakeBench(_cost))
    _tune(project, "dot:3x2@sse", *QUICK)
    journal = project / ".gfsmith-cache" / "tune.journal"
    journal.write_bytes(journal.read_bytes()[:-20])
    second = use(FakeBench(_cost))
    assert _tune(project, "dot:3x2@sse", *QUICK).exit_code == 0
    assert second.samples < first.samples


def test_no_permission_to_pin(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: int, processors: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    done = _tune(project, "dot:3x2@sse", *QUICK)
    assert done.exit_code == 2
    assert done.stderr == "gfsmith: cannot pin this process to one processor: Operation not permitted\n"


def test_no_compiler(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    done = _tune(project, "dot:3x2@sse", *QUICK)
    assert done.exit_code == 2
    assert "no-such-compiler: No such file or directory; set CC to a C compiler" in done.stderr


def test_real_kernels_are_loaded_agree_and_can_be_timed(tmp_path: Path) -> None:
    """On any machine: SSE kernels of three kinds, with two passes among them, in both regimes."""
    if not set(BY_NAME["sse"].cpu_flags) <= microarch.host_features():
        pytest.skip("this CPU has no SSSE3")
    before = os.sched_getaffinity(0)
    target = parse("dot:3x6@sse", BY_NAME["sse"])
    points = [{"unroll": 1}, {"unroll": 1, "outputs": 3}, {"unroll": 2, "outputs": 3, "order": "steps"}]
    plans = [space.plan(target, "gfs", point) for point in (*points, {"unroll": 8, "order": "steps"})]
    bench = load.NativeBench(target, tmp_path, 1)
    try:
        ready = bench.load(plans)
        assert list(ready) == plans and len(set(ready.values())) == 4
        for regime, length in ((Regime.CACHED, 1000), (Regime.MEMORY, 5000)):
            bench.open(Cell(target.name, target.shape, "sse", regime, "cached", length), plans[0])
            assert all(bench.agree(plan, plans[0]) for plan in plans)
            assert all(bench.sample(plan, 64) > 0 for plan in plans)
        # The check detects that a kernel with another table computes different results.
        other = parse("dot:3x6@sse", BY_NAME["sse"])
        wrong = Plan((plans[1].specs[0], plans[2].specs[1]))
        bench._tables.clear()
        monkey = bench._table
        bench._table = lambda spec, first: monkey(spec, first + 1)  # type: ignore[method-assign]
        assert not bench.agree(wrong, plans[0]) and other == target
    finally:
        bench.close()
    assert os.sched_getaffinity(0) == before


def test_a_kernel_that_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    (spec,) = space.plan(parse("dot:3x2@sse", BY_NAME["sse"]), "gfs", {"unroll": 1}).specs
    assert load.attempt(spec) is not None
    monkeypatch.setattr(check_frame, "MAX_FRAME", -1)
    assert load.attempt(spec) is None


@pytest.mark.parametrize("length", [64, 1000, 1024, 1100, 4096, 4160, 65536, 1 << 20])
def test_shards_do_not_begin_at_the_same_place_of_their_pages(length: int) -> None:
    step = pitch(length)
    assert step >= length and step % 64 == 0 and step < length + 4096
    starts = [n * step % 4096 for n in range(64)]
    assert len(set(starts)) == 64
    apart = [min((a - b) % 4096, (b - a) % 4096) for a, b in itertools.pairwise(starts)]
    assert min(apart) >= 17 * 64


@pytest.mark.needs("clang")
def test_a_model_ranks_without_measuring_and_reports_it(project: Path, use: Use) -> None:
    bench = use(FakeBench(_cost))
    done = _tune(project, "dot:3x2@sse", "--model", "znver4,icelake-server", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert bench.samples == 0
    assert done.stdout.count("ranked by llvm-mca alone, not measured") == 2
    for name in ("znver4", "icelake-server"):
        file = tuned.read(project / "tuned" / f"{name}.toml")
        assert (file.microarchitecture, file.basis) == (name, "model")
        assert all(entry.path == "cached" and not entry.gains for entry in file.kernel)


@pytest.mark.needs("clang")
def test_a_model_that_lacks_the_instructions_reports_it(project: Path) -> None:
    done = _tune(project, "dot:3x1@gfni_avx512", "--model", "znver3", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "the model lacks its instructions" in done.stdout
    assert tuned.read(project / "tuned" / "znver3.toml").kernel == []


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "zen4"], "--model: 'zen4' is not a microarchitecture; allowed: haswell"),
        (["--model", "znver4,znver3", "-o", "x.toml"], "one file cannot hold several microarchitectures"),
        (["--model", "znver3"], "znver3.toml holds measurements, which a model must not replace"),
    ],
)
def test_bad_models_get_one_line(project: Path, arguments: list[str], words: str) -> None:
    (project / "tuned").mkdir()
    measured = project / "tuned" / "znver3.toml"
    measured.write_text('format = 1\nmicroarchitecture = "znver3"\nbasis = "measured"\n')
    before = measured.read_text()
    done = _tune(project, "dot:3x2@sse", *arguments)
    assert done.exit_code == 2, done.output
    assert words in done.stderr and done.stderr.count("\n") == 1
    assert measured.read_text() == before and len(list((project / "tuned").iterdir())) == 1


def test_the_model_s_choice_is_the_simplest_of_the_fewest_cycles() -> None:
    target = parse("dot:3x2@sse", BY_NAME["sse"])
    reference, simple, other = (
        space.plan(target, "gfs", point) for point in ({}, {"unroll": 3}, {"unroll": 3, "order": "steps"})
    )

    def chosen(*cycles: float) -> tuple[str, ...] | None:
        told = [
            result.Prediction("znver4", target.name, plan.symbols, plan.parameters, plan == reference, c)
            for plan, c in zip((reference, simple, other), cycles, strict=False)
        ]
        found = modelled.choose(target, [reference, simple, other], reference, told)
        return found and found.symbols

    assert chosen(10.0, 9.0, 8.0) == other.symbols
    assert chosen(10.0, 8.05, 8.0) == simple.symbols
    assert chosen(10.0, 9.95, 9.95) is None
    assert chosen() is None, "nothing is known of the reference"


@pytest.mark.needs("clang")
def test_a_report_has_the_limits_of_model_and_machine(project: Path, use: Use) -> None:
    use(FakeBench(lambda plan: 50.0 if plan.symbol.startswith("touch") else _cost(plan)))
    places = ["--report", str(project / "report"), "--study", str(project / "s.json")]
    done = _tune(project, "dot:3x2@sse", *QUICK, "--regime", "cached", *places)
    assert done.exit_code == 0, done.output
    assert [p.name for p in (project / "report").iterdir()] == ["index.html"]
    study = result.read(project / "s.json")
    assert [bound.memory for bound in study.bounds] == [3 * n / 50 for n in (1024, 4096)]
    assert all(bound.ports for bound in study.bounds) and len(study.correlations) == 2
    known = {m.symbols for m in study.measurements}
    foreseen = {p.symbols for p in study.predictions}
    # the fake bench also times variants that exceed the registers
    assert len(foreseen) >= 3 and foreseen <= known
    text = (project / "report" / "index.html").read_text()
    assert "rank correlation" in text and "Throughput against predicted cycles" in text


def test_a_report_combines_recorded_studies(project: Path, use: Use) -> None:
    bench = use(FakeBench(_cost))
    file = ROOT / "bench/results/studies/znver4/dot-8x8.json"
    other = project / "other.json"
    other.write_text(file.read_text().replace('"znver4"', '"zen9"'))
    recorded = ["--recorded", str(file), "--recorded", str(other), "--report", str(project / "report")]
    done = _tune(project, *recorded)
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith("report: the studies of 2 files\n") and bench.samples == 0
    page = project / "report" / "index.html"
    assert "Tuning for znver4, zen9" in page.read_text() and not (project / "tuned").exists()
    done = _tune(project, "dot:3x2@sse", *QUICK, "--regime", "cached", *recorded[2:], "--fresh")
    assert done.exit_code == 0 and bench.samples > 0
    assert "Tuning for zen9, znver4" in page.read_text() and "<td>3x2</td>" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--recorded", "a.json"], "--recorded adds studies to a report; name its folder with --report"),
        (["--recorded", "a.json", "--report", "r"], "--recorded: a.json: No such file or directory"),
        (["--recorded", "bad.json", "--report", "r"], "--recorded: bad.json: not a study: format: Field"),
        (["--recorded", "s.json", "--report", "r", "--json"], "--study, --output and --json need measure"),
        (["--recorded", "s.json", "--report", "r", "--model", "znver4"], "SPEC or --all: name targets"),
        (["--recorded", "s.json", "--report", "bad.json"], "--report: bad.json: not a folder"),
    ],
)
def test_recorded_studies_that_cannot_be_shown(
    project: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(project)
    (project / "bad.json").write_text("{}")
    (project / "s.json").write_bytes((ROOT / "bench/results/studies/znver4/dot-8x8.json").read_bytes())
    done = _tune(project, *arguments)
    assert done.exit_code == 2 and words in done.stderr and done.stderr.count("\n") == 1
    assert not (project / "r").exists()


def test_a_report_that_cannot_be_is_refused_before_anything_is_measured(project: Path, use: Use) -> None:
    bench = use(FakeBench(_cost))
    (project / "mine").mkdir()
    (project / "mine" / "notes.txt").write_text("mine")
    done = _tune(project, "dot:3x2@sse", *QUICK, "--report", str(project / "mine"))
    assert done.exit_code == 2 and bench.samples == 0
    assert "holds 'notes.txt'; allowed: a new folder" in done.stderr and done.stderr.count("\n") == 1
    done = _tune(project, "dot:3x2@sse", "--model", "znver4", "--report", str(project / "new"))
    assert done.exit_code == 2 and "--report and --model exclude each other" in done.stderr
    assert [p.name for p in (project / "mine").iterdir()] == ["notes.txt"]


@pytest.mark.needs("clang")
def test_the_model_knows_every_microarchitecture() -> None:
    target.check_cpus(Arch.X86_64, "a kernel", list(microarch.BY_NAME))
