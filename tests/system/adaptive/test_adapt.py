"""`gfsmith adapt`: summarizing and following traces, and a workload."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gfsmith.cli.adapt import POLICIES
from gfsmith.cli.main import main
from gfsmith.explore.adapt import live, trace
from tests.support.paths import ROOT
from tests.system.adaptive.builds import library
from tests.system.adaptive.following import Following

DEVICES = ROOT / "tuned" / "devices"
CELL = {"k": 28, "m": 4, "len": 1024, "threads": 2}
OTHER = {"k": 12, "m": 4, "len": 1000, "threads": 1}
BATCHED = {**CELL, "batched": True}
START: dict[str, Any] = {
    "t": 0.0, "event": "start", "version": 1, "isa": "avx2", "counters": False,
    "why": "perf_event_open: EPERM", "device": {"name": "dram"}, "options": {},
}  # fmt: skip
EVENTS: list[dict[str, Any]] = [
    START,
    {"t": 0.1, "event": "blind", "why": "no counters"},
    {"t": 0.2, "event": "cell", **CELL, "policy": "default"},
    {"t": 0.3, "event": "trial", **CELL, "policy": "plain", "before": "default", "why": "w",
     "calls": 9, "ratio": 1.1},
    {"t": 0.4, "event": "decide", **CELL, "policy": "rows4,d=28", "before": "default", "why": "hill climbing",
     "calls": 99, "ratio": 1.3},
    {"t": 0.5, "event": "cell", **OTHER, "policy": "default"},
    {"t": 0.6, "event": "pressure", "threads": 2, "why": "threads in calls: 1 before"},
    {"t": 0.7, "event": "recover", **CELL, "policy": "rows4,d=28", "before": "rows4,d=28",
     "why": "moved by 20 %", "calls": 0, "ratio": 1.2},
    {"t": 0.8, "event": "decide", **CELL, "policy": "rows4,d=28", "before": "rows4,d=28", "why": "as before",
     "calls": 50, "ratio": 1.0},
    {"t": 0.85, "event": "review", **OTHER, "policy": "default", "before": "default", "why": "once more",
     "calls": 0, "ratio": None},
    {"t": 0.9, "event": "rate", **CELL, "gbps": 3.25},
    {"t": 0.95, "event": "cell", **BATCHED, "policy": "default"},
    {"t": 1.0, "event": "an event of the future", "colour": 3},
]  # fmt: skip


def _lines(*events: dict[str, Any]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def _invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["adapt", *map(str, words)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_text(_lines(*EVENTS))
    return path


def test_a_summary(file: Path) -> None:
    done = _invoke("--trace", file)
    assert (done.exit_code, done.stderr) == (0, "")
    rows = [re.split(r"\s*│\s*", line)[1:-1] for line in done.stdout.splitlines() if line.startswith("│")]
    assert rows == [
        ["28+4, 1 KiB, 2 threads", "rows4,d=28", "0.400 s", "50", "2", "3.25", "as before; before: default"],
        ["12+4, 1000 B, 1 thread", "default (searching)", "0.500 s", "", "0", "", "once more"],
        ["28+4, 1 KiB, 2 threads, batch calls", "default (searching)", "0.950 s", "", "0", "", "first guess"],
    ]
    for line in (
        "avx2 on dram, measures time only (perf_event_open: EPERM)",
        "not available: no counters",
        "pressure: threads in calls: 1 before",
        "13 events in 1.000 s, 3 cells, 2 decisions",
    ):
        assert line in done.stdout.splitlines()


def test_a_summary_of_one_cell(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(_lines(*EVENTS[1:3]))
    assert _invoke("--trace", path).stdout.splitlines()[-1] == "2 events in 0.200 s, 1 cell, 0 decisions"


def test_a_summary_as_json(file: Path) -> None:
    told = json.loads(_invoke("--trace", file, "--json").stdout)
    cell, other, batched = told["cells"]
    assert {name: cell[name] for name in CELL} == CELL
    assert (cell["policy"], cell["since"], cell["before"], cell["calls"]) == (
        "rows4,d=28",
        0.4,
        "default",
        50,
    )
    assert (cell["decisions"], cell["trials"], cell["searching"], cell["gbps"]) == (2, 1, False, 3.25)
    assert other["searching"] and other["gbps"] is None
    assert batched["batched"] and not cell["batched"] and batched["calls"] is None
    assert told["start"]["why"] == START["why"] and told["blind"] == ["no counters"]
    assert (told["events"], told["malformed"]) == (13, [])


BAD = {
    "{": "not JSON",
    "": "not JSON",
    "[1, 2]": "not an object",
    '{"event": "cell"}': "no 't'",
    '{"t": 1}': "no 'event'",
    '{"t": "1", "event": "cell"}': "'t': input should be a valid number",
    '{"t": -1, "event": "x"}': "'t': input should be greater than or equal to 0",
    _lines({"t": 1, "event": "cell", **CELL}).strip(): "'cell' without 'policy'",
    _lines({"t": 1, "event": "decide", **CELL, "policy": "row"}).strip(): "'decide' without 'why'",
    _lines({"t": 1, "event": "cell", **CELL, "k": 0}).strip(): "'k': input should be greater than 0",
    _lines({"t": 1, "event": "cell", "policy": 3}).strip(): "'policy': input should be a valid string",
    '{"t": 1, "event": "decide", "k": \ufffd}': "not JSON",
}  # fmt: skip


@pytest.mark.parametrize("line", BAD)
def test_a_malformed_line(line: str, file: Path) -> None:
    """The command names the malformed line and still reads the others."""
    before = json.loads(_invoke("--trace", file, "--json").stdout)
    file.write_text(_lines(START) + line + "\n" + _lines(*EVENTS[1:]))
    after = json.loads(_invoke("--trace", file, "--json").stdout)
    assert after.pop("malformed") == [{"line": 2, "why": BAD[line]}]
    assert after == {name: value for name, value in before.items() if name != "malformed"}
    assert f"1 malformed line left out: line 2: {BAD[line]}" in _invoke("--trace", file).stdout


def test_many_malformed_lines(file: Path) -> None:
    file.write_text(_lines(START) + "x\n" * 9)
    told = _invoke("--trace", file).stdout
    assert "9 malformed lines left out: line 2: not JSON; line 3: not JSON; " in told
    assert "line 6: not JSON; and 4 more" in told and "line 7" not in told


def test_a_line_that_is_being_written(file: Path) -> None:
    file.write_text(_lines(START) + '{"t": 1, "ev')
    assert json.loads(_invoke("--trace", file, "--json").stdout)["malformed"] == []


@pytest.mark.parametrize(
    "content,why",
    [
        ("", "no trace of a coordinator: it is empty"),
        ("a\nb\n", "no trace of a coordinator; line 1: not JSON"),
    ],
)
def test_files_that_are_no_traces(content: str, why: str, file: Path) -> None:
    file.write_text(content)
    done = _invoke("--trace", file)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"gfsmith: {file}: {why}\n")


@pytest.mark.parametrize(
    "words,why",
    [
        ((), "allowed: --trace FILE, --live FILE, --live --k N --m N --len N --threads N, or --device FILE"),
        (("--trace", "none"), "none: No such file or directory"),
        (("--live", "none"), "none: No such file or directory"),
        (("--device", "none"), "none: No such file or directory"),
        (("--trace", "a", "--live", "b"), "--trace and --live exclude each other; leave one out"),
        (("--trace", "a", "--seconds", "1"), "--seconds: has no effect with --trace"),
        (("--live", "a", "--json"), "--json: has no effect with --live FILE"),
        (("--live", "a", "--len", "64"), "--len: has no effect with --live FILE"),
        (("--device", "a", "--k", "1"), "--k: has no effect with --device alone"),
        (("--live",), "--live without a file runs its own workload and needs --k, --m, --len, --threads"),
        (
            ("--live", "--k", "4", "--len", "64"),
            "--live without a file runs its own workload and needs --m, --threads",
        ),
    ],
)
def test_refusals(words: tuple[str, ...], why: str) -> None:
    done = _invoke(*words)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"gfsmith: {why}\n")


WORK = ("--live", "--k", "4", "--m", "2", "--len", "1000", "--threads", "2")


def test_refusals_of_a_workload(tmp_path: Path) -> None:
    none = tmp_path / "none"
    for words, why in (
        (
            (*WORK, "--library", none),
            f"{none}/libgfsmith.a is missing: build it with `make adaptive`, or name ",
        ),
        ((*WORK, "--k", "200", "--m", "56"), "--k 200 --m 56: allowed: k + m <= 255"),
        ((*WORK, "--device", none), f"{none}: No such file or directory"),
    ):
        done = _invoke(*words)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"gfsmith: {why}") and done.stderr.count("\n") == 1


def test_a_library_without_a_coordinator(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int nothing;\n")
    subprocess.run(["gcc", "-c", tmp_path / "a.c", "-o", tmp_path / "a.o"], check=True)
    subprocess.run(["ar", "rc", tmp_path / "libgfsmith.a", tmp_path / "a.o"], check=True)
    done = _invoke(*WORK, "--library", tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")
    why = "has no coordinator: build one with `make adaptive`"
    assert done.stderr == f"gfsmith: {tmp_path}/libgfsmith.a {why}\n"


# ---- traces that grow


def test_a_file_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "growing"
    path.write_bytes(b"one\ntw")
    tail = live.Tail(path)
    assert tail.lines() == ["one"]
    assert tail.lines() == []
    with path.open("ab") as file:
        file.write(b"o\nthree\n\xc3")
    assert tail.lines() == ["two", "three"]
    path.write_bytes(b"new\n")  # rewritten, and shorter
    assert tail.lines() == ["new"]
    path.unlink()
    with pytest.raises(trace.TraceError, match="No such file"):
        tail.lines()


@pytest.fixture
def following() -> Iterator[Callable[..., Following]]:
    begun: list[Following] = []

    def begin(*words: str | Path, terminal: bool = False, whole: bool = False) -> Following:
        begun.append(Following(*words, terminal=terminal, whole=whole))
        return begun[-1]

    yield begin
    for one in begun:
        one.close()


PIPED = """0.000 s: avx2 on dram, measures time only (perf_event_open: EPERM)
0.100 s: not available: no counters
0.200 s: 28+4, 1 KiB, 2 threads: default: first call
0.400 s: 28+4, 1 KiB, 2 threads: rows4,d=28 (before: default): hill climbing, after 99 timed calls
0.500 s: 12+4, 1000 B, 1 thread: default: first call
0.600 s: pressure: threads in calls: 1 before
0.700 s: 28+4, 1 KiB, 2 threads: rows4,d=28: searches again: moved by 20 %
0.800 s: 28+4, 1 KiB, 2 threads: rows4,d=28: as before, after 50 timed calls
0.850 s: 12+4, 1000 B, 1 thread: default: reviews: once more
0.900 s: 28+4, 1 KiB, 2 threads: 3.25 GB/s
0.950 s: 28+4, 1 KiB, 2 threads, batch calls: default: first call
1 malformed line left out: line 13: not JSON
"""


def test_a_pipe(tmp_path: Path, following: Callable[..., Following]) -> None:
    """The command prints a line for each new event as it is written, until Ctrl-C."""
    path = tmp_path / "growing"
    path.write_text(_lines(*EVENTS[:4]))
    seen = following(path, whole=True)
    seen.until(lambda said: said.count("\n") >= 3)
    assert seen.said == "".join(PIPED.splitlines(keepends=True)[:3])
    with path.open("a") as file:
        file.write(_lines(*EVENTS[4:12]) + "nonsense\n" + '{"t": 2, "ev')
    seen.until(lambda said: "malformed" in said and said.endswith("\n"))
    assert seen.interrupt() == (130, "")
    assert seen.said == PIPED


def test_a_terminal(tmp_path: Path, following: Callable[..., Following]) -> None:
    """The command redraws the view as the trace grows; Ctrl-C restores view and cursor."""
    path = tmp_path / "growing"
    path.write_text(_lines(*EVENTS[:3]))
    seen = following(path, terminal=True)
    seen.until(lambda said: "default (searching)" in said)
    with path.open("a") as file:
        file.write(_lines(*EVENTS[3:]))
    seen.until(lambda said: "3.25" in said and "pressure" in said)
    assert seen.interrupt() == (130, "")
    assert seen.said.count("\x1b[?25l") == seen.said.count("\x1b[?25h") == 1  # hidden, then shown again
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.said).split("avx2 on dram")[-1]
    assert "rows4,d=28" in last and "as before; before: default" in last and last.endswith("\n")


def test_it_ends_after_seconds(file: Path, following: Callable[..., Following]) -> None:
    seen = following(file, "--seconds", "0.1")
    assert seen.wait() == (0, "")
    assert seen.said == "".join(PIPED.splitlines(keepends=True)[:-1])


# ---- the workload

RATE = re.compile(r"^\d+\.\d+ s: 4\+2, 1000 B, 2 threads: \d+\.\d\d GB/s$", re.MULTILINE)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return library(tmp_path_factory)


def test_a_workload(built: Path, following: Callable[..., Following]) -> None:
    """The command writes its own trace with rate and memory, and leaves no process behind."""
    words = (*WORK[1:], "--seconds", "0.2", "--device", DEVICES / "optane-100.toml", "--library", built)
    seen = following(*words)
    assert seen.wait() == (0, "")
    assert re.search(r"^\d+\.\d+ s: \w+ on optane-100, measures ", seen.said, re.MULTILINE)
    assert re.search(r"^\d+\.\d+ s: 4\+2, 1000 B, \d threads?: \S+: first call$", seen.said, re.MULTILINE)
    assert RATE.search(seen.said)


def test_a_workload_with_one_policy(built: Path, following: Callable[..., Following]) -> None:
    seen = following(*WORK[1:], "--seconds", "0.2", "--policy", "plain", "--library", built)
    assert seen.wait() == (0, "")
    assert "timed calls" not in seen.said
    wrong = following(*WORK[1:], "--seconds", "0.2", "--policy", "purple", "--library", built)
    assert wrong.wait() == (2, "gfsmith: workload: unknown policy\n")


def test_a_workload_is_interrupted(built: Path, following: Callable[..., Following]) -> None:
    seen = following(*WORK[1:], "--library", built)
    seen.until(lambda said: len(RATE.findall(said)) >= 2)
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(seen.process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(children) == 1
    assert seen.interrupt() == (130, "")
    assert len(RATE.findall(seen.said)) >= 2 and seen.said.endswith("\n")
    assert not Path(f"/proc/{children[0]}").exists()


def test_words_to_complete() -> None:
    """Completion offers the policies of the runtime."""
    text = (ROOT / "runtime/adaptive/include" / "gfsmith_adaptive.h").read_text()
    for policy in POLICIES:
        assert f"`{policy.removesuffix(',nt')}`" in text or f" {policy} " in text, policy
