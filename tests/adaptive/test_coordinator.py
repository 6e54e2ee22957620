"""runtime/adaptive: what calls ask memory for, results, decisions, threads, what is said, what it costs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from .conftest import SANITIZE, THREADS
from .support import INCLUDES, NATIVE, PURE, ROOT, SOURCES, compile_c, program, run

POLICIES = (
    "default",
    "plain",
    "row",
    "row,d=0,nt",
    "rows4,d=28,first=32,nt",
    "rows4,d=300",
    "block,d=13,nt",
    "block-shuffled,d=30,first=35",
    "shuffled,d=3,first=60,nt",
    "shuffled,d=4000",
)
CALLS = 1195  #: of results.c for a policy
#: Instructions that a call takes more if a coordinator has settled on `default`; docs/adaptive.md has the
#: figure, which other compilers may exceed a little.
COST = 25


def test_results(plain: Path, build: Path, tmp_path: Path, optane: Path) -> None:
    """Bytes are those of the library without a coordinator."""
    output, _ = run(program("results", tmp_path, plain, build, "-O2"), optane, *POLICIES)
    calls = int(output.split()[0])
    assert calls == len(POLICIES) * CALLS


def test_results_under_sanitizers(sanitized: Path, build: Path, tmp_path: Path, optane: Path) -> None:
    """With no byte read or written that is not a shard's: pointers to ask for are never followed."""
    native = program("results", tmp_path, sanitized, build, *SANITIZE)
    assert run(native, optane, "rows4,d=28,first=32,nt")[0] == f"{CALLS} calls\n"


def test_order(plain: Path, build: Path, tmp_path: Path, optane: Path) -> None:
    """Every visit asks for the line so many visits later, and for none that is not of the call."""
    assert run(program("order", tmp_path, plain, build, "-O2"), optane)[0] == "960 cases\n"


def test_decisions(tmp_path: Path, optane: Path) -> None:
    """Candidates, equation (1), trials under noise, climbing, recovery: on times that are made up."""
    sources = [ROOT / f"runtime/adaptive/{name}.c" for name in PURE]
    native = compile_c(tmp_path / "state", *SANITIZE, *INCLUDES, NATIVE / "state.c", *sources, "-lm")
    assert run(native, optane)[0] == "ok\n"


#: What is wrong in a copy of a source, by file: the text and what stands in its place.
MUTANTS = (
    ("trial", "trial->time[gfs_trial_challenges(trial)]", "trial->time[trial->half]"),
    (
        "trial",
        "return gfs_median(trial->ratio, trial->rounds)",
        "return 1 / gfs_median(trial->ratio, trial->rounds)",
    ),
    ("trial", "trial->ratio[n] < wins", "trial->ratio[n] > wins"),
    ("hunt", "hunt->step /= 2", "hunt->step = 0"),
    ("hunt", "note_rival(hunt, *unasked, INFINITY, GFS_RIVALS_MAX);", ";"),
    ("hunt", "if (!same_policy(best->policy, unasked->policy))", ""),
    ("hunt", " && !same_policy(best->policy, hunt->climber.policy)", ""),
    ("hunt", "hunt->rival[hunt->next - 1] = beaten;", ";"),
    ("hunt", "if (!hunt->whole)", "if (hunt->whole)"),
    ("hunt", "  hunt->best_score = 1;\n", ""),
    ("hunt", "score > score; at--", "score < score; at--"),
    ("hunt", "hunt->next < hunt->rivals", "hunt->next < 1 && hunt->next < hunt->rivals"),
    ("hunt", "note_rival(hunt, hunt->climber, 0,", "note_rival(hunt, hunt->climber, 1000,"),
    ("hunt", "? GFS_FINAL_TIMES : 1", "? 1 : 1"),
    ("hunt", "hunt->direction = -1;", "hunt->direction = 1; hunt->step /= 2;"),
    ("situation", "lines <= 16 &&", "lines <= 8 &&"),
    ("situation", "halves += 2", "halves += 3"),
    ("situation", "gfs_least(8 * k, whole)", "gfs_least(16 * k, whole)"),
    ("situation", "gfs_least(4 * k, l->whole)", "k"),
    ("situation", "{GFS_WALK_ROW, k, 0, true}", "{GFS_WALK_ROW, k, 0, false}"),
    ("hunt", "policy.streaming = !policy.streaming", "policy.streaming = policy.streaming"),
    ("hunt", "hunt->best = outcome->challenger", "hunt->best = hunt->candidate[0]"),
    ("batch", "batch->end_ns != 0 && ", ""),
    ("batch", "between <= 2", "between >= 2"),
    ("batch", "enough > sample", "enough < sample"),
    ("watch", "moved < -(float)options->moved", "false"),
    ("watch", "way * watch->away > 0", "way != 0"),
    ("watch", ">= GFS_WATCH_INSIST", ">= 1"),
    ("watch", "&& now_ms == watch->last_ms", "&& now_ms < watch->last_ms"),
    ("watch", "watch->windows < GFS_WATCH_FIRST", "watch->windows < 1"),
    ("watch", "pause *= TIMES", "pause += TIMES"),
    ("watch", "n < stood && pause < MOST", "n < stood"),
    ("situation", "l->s->len <= BLOCK_BYTES", "l->s->len < BLOCK_BYTES"),
    ("trial", "trial->piece == 0 ? 1 : counted", "1000000"),
    ("situation", "(distance + each.visits - 1) / each.visits", "distance / each.visits"),
    ("situation", "distance + extra, l->s", "distance, l->s"),
    ("situation", "l->s->have[walk][true]}", "false}"),
    ("situation", "(k + 1) / 2", "k"),
    ("situation", "walk == GFS_WALK_BLOCK || ", ""),
    ("situation", "s->device->line / GFS_CACHE_LINE, 1}", "s->device->line / GFS_CACHE_LINE, s->k}"),
)


@pytest.mark.parametrize("mutant", range(len(MUTANTS)))
def test_decisions_can_be_refuted(tmp_path: Path, optane: Path, mutant: int) -> None:
    """A mistake in the sources is found."""
    wrong, text, instead = MUTANTS[mutant]
    sources = [ROOT / f"runtime/adaptive/{name}.c" for name in PURE if name != wrong]
    original = (ROOT / f"runtime/adaptive/{wrong}.c").read_text()
    assert original.count(text) >= 1
    changed = tmp_path / f"{wrong}.c"
    changed.write_text(original.replace(text, instead))
    flags = ("-O0", "-Wno-error", "-w", *INCLUDES)
    native = compile_c(tmp_path / "state", *flags, NATIVE / "state.c", changed, *sources, "-lm")
    done = subprocess.run([native, optane], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout.startswith("line "), done.stdout


def read_trace(path: Path) -> list[dict[str, object]]:
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert all({"t", "event"} <= event.keys() for event in events)
    assert [event["event"] for event in events].count("start") == 1
    return events


def test_interface(sanitized: Path, build: Path, tmp_path: Path) -> None:
    """Arguments and options; and the trace of what it does there."""
    trace = tmp_path / "trace.jsonl"
    output, errors = run(program("interface", tmp_path, sanitized, build, *SANITIZE), trace)
    assert output == "ok\n"
    # More shapes than cells: said once.
    assert errors.count("\n") == 1 and "more shapes and lengths than there is room for" in errors
    events = read_trace(trace)
    assert {"start", "cell", "trial", "decide", "blind"} <= {str(event["event"]) for event in events}
    for event in events:
        if event["event"] in ("trial", "decide"):
            assert {"k", "m", "len", "threads", "policy", "before", "why", "calls", "ratio"} <= event.keys()
    decided = next(event for event in events if event["event"] == "decide")
    assert isinstance(decided["calls"], int) and 0 < decided["calls"] <= 500  # search_calls


def test_threads_under_sanitizer(threaded: Path, build: Path, tmp_path: Path) -> None:
    """Four threads, codecs in common, searches that change hands."""
    trace = tmp_path / "trace.jsonl"
    native = program("threads", tmp_path, threaded, build, *THREADS)
    assert run(native, trace)[0] == "ok\n"
    counts = [event["threads"] for event in read_trace(trace) if event["event"] == "pressure"]
    assert max(int(str(count)) for count in counts) > 1


def test_decisions_are_looked_at_again(threaded: Path, build: Path, tmp_path: Path) -> None:
    """A while after each, or never."""
    native = program("review", tmp_path, threaded, build, *THREADS)
    trace = tmp_path / "trace.jsonl"
    assert int(run(native, trace, "20", "2")[0].split()[0]) >= 2
    events = [event for event in read_trace(trace) if event.get("k") == 4]
    assert "recover" not in {event["event"] for event in events}
    ended = {event["threads"]: -1.0 for event in events}
    for event in events:
        threads, at = event["threads"], float(str(event["t"]))
        if event["event"] == "decide":
            ended[threads] = at
        elif event["event"] == "review":
            assert 0 <= ended[threads] <= at - 0.019, "in milliseconds, cut off"
    trace.unlink()
    assert run(native, trace, "0", "1")[0] == "0 reviews\n"
    assert "decide" in {event["event"] for event in read_trace(trace)}


@pytest.fixture
def threads(plain: Path, build: Path, tmp_path: Path) -> Path:
    return program("threads", tmp_path, plain, build, "-O2")


def test_environment(threads: Path, tmp_path: Path) -> None:
    """Off unless asked for; then codecs have a common coordinator by themselves."""
    trace = tmp_path / "trace.jsonl"
    assert run(threads, GFSMITH_ADAPT_TRACE=str(trace)) == ("ok\n", "")
    assert run(threads, GFSMITH_ADAPT="0", GFSMITH_ADAPT_TRACE=str(trace)) == ("ok\n", "")
    assert not trace.exists()
    output, _ = run(threads, GFSMITH_ADAPT="1", GFSMITH_ADAPT_TRACE=str(trace))
    assert output == "ok\n"
    assert any(event["event"] == "cell" for event in read_trace(trace))
    trace.unlink()
    run(threads, GFSMITH_ADAPT="1", GFSMITH_ADAPT_TRACE=str(trace), GFSMITH_ADAPT_POLICY="row,d=9")
    assert all(event["event"] in ("start", "blind") for event in read_trace(trace))  # nothing to learn


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("", "yes", "GFSMITH_ADAPT: allowed are 0 (off) and 1 (on); taken as 0"),
        ("_POLICY", "fast", "GFSMITH_ADAPT_POLICY is no policy"),
        ("_DEVICE", "/nowhere/x.toml", "/nowhere/x.toml: it cannot be read; going on as for DRAM"),
        ("_DEVICE", '/now"he\nre', "/now?he?re: it cannot be read"),
        ("_TRACE", "/nowhere/x.jsonl", "/nowhere/x.jsonl: the trace cannot be written"),
    ],
)
def test_what_cannot_be_used_is_said_once(
    threads: Path, tmp_path: Path, name: str, value: str, said: str
) -> None:
    """On stderr and in the trace; and it goes on."""
    trace = tmp_path / "trace.jsonl"
    environment = {"GFSMITH_ADAPT": "1", "GFSMITH_ADAPT_TRACE": str(trace), f"GFSMITH_ADAPT{name}": value}
    output, errors = run(threads, **environment)
    assert output == "ok\n"
    assert errors.count(said) == 1
    if name != "_TRACE":
        blind = [str(event["why"]) for event in read_trace(trace) if event["event"] == "blind"]
        assert sum(why.startswith(said) for why in blind) == 1


def test_cost(plain: Path, build: Path, tmp_path: Path) -> None:
    """Instructions of a call, by valgrind: a coordinator that has settled adds few."""
    native = program("cost", tmp_path, plain, build, "-O2")

    def instructions(calls: int, *words: str) -> int:
        out = f"--callgrind-out-file={tmp_path / 'callgrind'}"
        command = ("valgrind", "--tool=callgrind", out, native, str(calls), *words)
        found = re.search(r"Collected : (\d+)", run(*command)[1])
        assert found is not None
        return int(found[1])

    def each(*words: str) -> float:
        return (instructions(5000, *words) - instructions(1000, *words)) / 4000

    without = each()
    assert without > 500  # the kernel itself
    added = each("attached") - without
    assert 5 < added < COST, added
    forced = each("attached", "row,d=4") - without
    assert forced > 2 * COST, "a pipelined policy takes more"
    later = each("attached", "row,d=4", "force") - without
    assert later > 0.9 * forced, "what is forced runs at once, though nothing was asked for before"


@pytest.mark.parametrize("compiler", ["clang-14", "x86_64-w64-mingw32-gcc"])
def test_compiles_without_warnings(tmp_path: Path, compiler: str) -> None:
    """By other compilers too, and where a build has no pipelined kernels."""
    (tmp_path / "adaptive.inc").write_text("")
    flags = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
    flags += ("-DGFSMITH_WITH_ADAPTIVE",)
    includes = [f"-I{ROOT / word.removeprefix('-I')}" for word in INCLUDES]
    command = [compiler, *flags, "-iquote", tmp_path, *includes, "-c", *SOURCES]
    done = subprocess.run([str(word) for word in command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_library_without_pipelined_kernels(plain: Path, build: Path, tmp_path: Path) -> None:
    """Another set than that of the stand-ins: said once, and the rest works."""
    native = program("threads", tmp_path, plain, build, "-O2")
    trace = tmp_path / "trace.jsonl"
    output, errors = run(native, trace, GFSMITH_ISA="sse")
    assert output == "ok\n"
    assert errors.count("default and plain are all there is") == 1
