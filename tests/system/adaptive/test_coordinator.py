"""runtime/adaptive: prefetches of calls, results, decisions, threads, messages, costs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from signal import SIGFPE

import pytest

from tests.support import needs
from tests.support.folders import once
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.adaptive.conftest import SANITIZE, THREADS
from tests.system.adaptive.support import INCLUDES, NATIVE, PURE, SOURCES, compile_c, program, run

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
    "row,d=28,pages",
    "rows4,d=28,first=32,nt,pages",
    "block,d=0,pages",
)
CALLS = 1553  #: calls of results.c per policy
#: Additional instructions per call with a coordinator that has settled on `default`; docs/adaptive.md states
#: the figure, which other compilers may slightly exceed.
COST = 25


def test_results(plain: Path, build: Path, tmp_path: Path, optane: Path) -> None:
    """The bytes are those of the library without a coordinator."""
    output, _ = run(program("results", tmp_path, plain, build, "-O2"), optane, *POLICIES)
    calls = int(output.split()[0])
    assert calls == len(POLICIES) * CALLS


def test_results_under_sanitizers(sanitized: Path, build: Path, tmp_path: Path, optane: Path) -> None:
    """No access outside of shards happens: prefetched pointers are never dereferenced."""
    native = program("results", tmp_path, sanitized, build, *SANITIZE)
    assert run(native, optane, "rows4,d=28,first=32,nt")[0] == f"{CALLS} calls\n"


def test_order(plain: Path, build: Path, tmp_path: Path, optane: Path) -> None:
    """Every visit prefetches the line `distance` visits later, and only lines of the call."""
    assert run(program("order", tmp_path, plain, build, "-O2"), optane)[0] == "1056 cases\n"


def test_decisions(tmp_path: Path, optane: Path) -> None:
    """Candidates, equation (1), trials under noise, climbing, recovery, on artificial times."""
    native = compile_c(tmp_path / "state", *SANITIZE, *INCLUDES, NATIVE / "state.c", *PURE, "-lm")
    assert run(native, optane)[0] == "ok\n"


#: Errors in the sources of PURE; state.c must detect each.
MUTANTS = (
    Mutant("trial->time[gfs_trial_challenges(trial)]", "trial->time[trial->half]"),
    Mutant("return gfs_median($ratio, trial->rounds);", "return 1 / gfs_median($ratio, trial->rounds);"),
    Mutant("trial->ratio[n] < wins", "trial->ratio[n] > wins"),
    Mutant("search->step /= 2", "search->step = 0"),
    Mutant("note_rival($$rest, INFINITY, GFS_RIVALS_MAX);", ";"),
    Mutant("!same_policy(best->policy, unasked->policy)", "true"),
    Mutant("!same_policy(best->policy, search->climber.policy)", "true"),
    Mutant("search->rival[search->next - 1] = beaten;", ";"),
    Mutant("!search->whole", "search->whole"),
    Mutant("search->best_score = 1;", ";"),
    Mutant("$rival > score", "$rival < score"),
    Mutant("search->next < search->rivals", "search->next < 1 && search->next < search->rivals"),
    Mutant(
        "note_rival($search, search->climber, 0, $why)", "note_rival($search, search->climber, 1000, $why)"
    ),
    Mutant("$final ? GFS_FINAL_TIMES : 1", "1"),
    Mutant("search->direction = -1;", "search->direction = 1; search->step /= 2;"),
    Mutant("lines <= 16", "lines <= 8"),
    Mutant("halves += 2", "halves += 3"),
    Mutant("gfs_least(8 * k, whole)", "gfs_least(16 * k, whole)"),
    Mutant("gfs_least(4 * k, l->whole)", "k"),
    Mutant("{GFS_WALK_ROW, k, 0, true, false}", "{GFS_WALK_ROW, k, 0, false, false}"),
    Mutant("policy.streaming = !policy.streaming", "policy.streaming = policy.streaming"),
    Mutant("search->best = outcome->challenger", "search->best = search->candidate[0]"),
    Mutant("batch->end_ns != 0", "true"),
    Mutant("between <= 2 * $call + $learning", "between >= 2 * $call + $learning"),
    Mutant("enough > sample", "enough < sample"),
    Mutant("moved < -(float)options->moved", "false"),
    Mutant("way * drift->away > 0", "way != 0"),
    Mutant("$times >= GFS_DRIFT_INSIST", "$times >= 1"),
    Mutant("now_ms == drift->last_ms", "now_ms < drift->last_ms"),
    Mutant("drift->windows < GFS_DRIFT_FIRST", "drift->windows < 1"),
    Mutant("pause *= TIMES", "pause += TIMES"),
    Mutant("n < stood && pause < MOST", "n < stood"),
    Mutant("l->s->len <= BLOCK_BYTES", "l->s->len < BLOCK_BYTES"),
    Mutant("trial->piece == 0 ? 1 : counted", "1000000"),
    Mutant("(distance + each.visits - 1) / each.visits", "distance / each.visits"),
    Mutant("distance + extra", "distance"),
    Mutant("l->s->have[walk][true]", "false"),
    Mutant("(k + 1) / 2", "k"),
    Mutant("walk == GFS_WALK_BLOCK || $shuffled", "$shuffled"),
    Mutant("{s->device->line / GFS_CACHE_LINE, 1}", "{s->device->line / GFS_CACHE_LINE, s->k}"),
    Mutant("!wide && !pages && s->len > o->page", "!pages && s->len > o->page"),
    Mutant("!wide && !pages && s->len > o->page", "!wide && s->len > o->page"),
    Mutant("!wide && !pages && s->len > o->page", "!wide && !pages"),
    Mutant("l->s->have[GFS_WALK_SHUFFLED][streaming]", "true"),
    Mutant("gfs_walk_shuffled(read.walk) == GFS_WALK_DEFAULT", "false"),
    Mutant("policy.pages ? UINT32_C(1) << 28 : 0u", "0u"),
)
#: Errors in pipeline.c that order.c must detect.
PAGES_MUTANTS = (
    Mutant("len / granules.page * granules.page", "len"),
    Mutant("len / granules.page * granules.page", "0"),
    Mutant("gfs_walk_shuffled(policy.walk)", "policy.walk"),
    Mutant("src[j] + pages", "src[j]"),
)
#: Errors in pipeline.c and order.c that order.c must detect with batches of stripes.
STRIPES_MUTANTS = (
    Mutant("s.next = s.src + inputs;", "s.next = s.src;"),
    Mutant("other.src = next;", ";"),
    Mutant("pointers[j] = ahead->src[j] + ahead->piped;", "pointers[j] = ahead->src[j];"),
    Mutant("return whole - ahead->piped;", "return 0;"),
)
QUICKLY = ("-O0", "-Wno-error", "-w", *(f"-I{ROOT / word.removeprefix('-I')}" for word in INCLUDES))


@pytest.fixture(scope="session")
def decisions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the objects of state.c and of the sources of PURE, compiled once for all mutants."""

    def compile_all(folder: Path) -> None:
        for source in (NATIVE / "state.c", *PURE):
            compile_c(folder / f"{source.stem}.o", *QUICKLY, "-c", source)

    return once(tmp_path_factory, "adaptive_decisions", compile_all)


@pytest.mark.campaign
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_decisions_can_be_refuted(decisions: Path, tmp_path: Path, optane: Path, mutant: Mutant) -> None:
    """state.c detects the error in the sources."""
    source, wrong = plant(mutant, PURE, tmp_path)
    changed = compile_c(tmp_path / "changed.o", *QUICKLY, "-c", wrong)
    others = [path for path in decisions.glob("*.o") if path.stem != source.stem]
    native = compile_c(tmp_path / "state", changed, *others, "-lm")
    done = subprocess.run([native, optane], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout.startswith("line "), done.stdout


@pytest.mark.campaign
@pytest.mark.parametrize("mutant", (*PAGES_MUTANTS, *STRIPES_MUTANTS), ids=str)
def test_order_can_be_refuted(plain: Path, build: Path, tmp_path: Path, optane: Path, mutant: Mutant) -> None:
    sources = [ROOT / f"runtime/adaptive/src/{name}.c" for name in ("pipeline", "order")]
    _, wrong = plant(mutant, sources, tmp_path)
    changed = compile_c(tmp_path / "changed.o", *QUICKLY, "-c", wrong)
    words = (*INCLUDES, f"-I{NATIVE}", NATIVE / "order.c", changed, plain, build / "libgfsmith.a")
    native = compile_c(tmp_path / "order", *words, "-lm", "-pthread")
    done = subprocess.run([native, optane], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stdout
    assert ("row,pages" if mutant in PAGES_MUTANTS else "stripes") in done.stdout


def read_trace(path: Path) -> list[dict[str, object]]:
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert all({"t", "event"} <= event.keys() for event in events)
    assert [event["event"] for event in events].count("start") == 1
    return events


def test_interface(sanitized: Path, build: Path, tmp_path: Path) -> None:
    """Arguments and options, and the trace that the program writes."""
    trace = tmp_path / "trace.jsonl"
    output, errors = run(program("interface", tmp_path, sanitized, build, *SANITIZE), trace)
    assert output == "ok\n"
    # More shapes than cells: one message.
    assert errors.count("\n") == 1 and "the table of shapes and lengths is full" in errors
    events = read_trace(trace)
    assert {"start", "cell", "trial", "decide", "blind"} <= {str(event["event"]) for event in events}
    for event in events:
        if event["event"] in ("trial", "decide"):
            assert {"k", "m", "len", "threads", "policy", "before", "why", "calls", "ratio"} <= event.keys()
    decided = next(event for event in events if event["event"] == "decide")
    assert isinstance(decided["calls"], int) and 0 < decided["calls"] <= 500  # search_calls


def test_threads_under_sanitizer(threaded: Path, build: Path, tmp_path: Path) -> None:
    """Four threads share codecs. Searches change threads after 1 ms; after a second, all threads are counted,
    however late the system runs them."""
    trace = tmp_path / "trace.jsonl"
    native = program("threads", tmp_path, threaded, build, *THREADS)
    assert run(native, tmp_path / "brief.jsonl", "1")[0] == "ok\n"
    assert run(native, trace, "1000")[0] == "ok\n"
    counts = [event["threads"] for event in read_trace(trace) if event["event"] == "pressure"]
    assert max(int(str(count)) for count in counts) > 1


def test_numbers_of_a_trace(plain: Path, build: Path, tmp_path: Path) -> None:
    assert run(program("decimal", tmp_path, plain, build, "-O2")) == ("ok\n", "")


def test_numbers_do_not_depend_on_the_locale() -> None:
    """In many locales, which a program may choose, printf writes a comma, so the trace would not be JSON."""
    point = re.compile(r'"[^"\n]*%[-+#0]*\d*(?:\.[1-9*]\d*)?[efgEFG]')
    assert point.search('"ratio: %.4f"') and point.search('"%g"') and not point.search('"%+.0f %%"')
    sources = sorted((ROOT / "runtime").glob("*/src/*.[ch]"))
    assert len(sources) > 100
    assert [source.name for source in sources if point.search(source.read_text())] == []


WRAPPED = "-Wl,--wrap=clock_gettime"


def test_calls_in_signal_handlers(plain: Path, build: Path, tmp_path: Path) -> None:
    """A handler encodes with the codec of the interrupted call, in which a search may run."""
    assert run(program("signals", tmp_path, plain, build, "-O2", WRAPPED)) == ("ok\n", "")


def _mutated(name: str, mutant: Mutant, flag: str, plain: Path, build: Path, folder: Path) -> Path:
    """Link native/<name>.c with the archive, in which one source has an error."""
    _, wrong = plant(mutant, SOURCES, folder)
    return compile_c(
        folder / name,
        *("-O2", flag, "-DGFSMITH_WITH_ADAPTIVE", *INCLUDES, NATIVE / f"{name}.c", wrong, plain),
        *(build / "libgfsmith.a", "-lm", "-pthread"),
    )


@pytest.mark.campaign
def test_a_handler_that_shares_the_state_is_detected(plain: Path, build: Path, tmp_path: Path) -> None:
    """The program divides by zero if a handler's call uses the state that the interrupted call uses."""
    shared = Mutant("uint32_t map = enter(s);", "uint32_t map = attached->key;")
    native = _mutated("signals", shared, WRAPPED, plain, build, tmp_path)
    assert subprocess.run([native], env={"GFSMITH_ISA": "scalar"}, capture_output=True).returncode == -SIGFPE


HELD = "-Wl,--wrap=fwrite"


@pytest.mark.parametrize("event", ["fork", "cancel", "alternate"])
def test_an_unfinished_search(plain: Path, build: Path, tmp_path: Path, event: str) -> None:
    """The program forks, or cancels the thread, while a thread works on a search: the cell is not lost.
    Or one thread alternates between coordinators."""
    native = program("left", tmp_path, plain, build, "-O2", HELD)
    trace = tmp_path / "trace.jsonl"
    assert run(native, event, trace, "60")[0] == "ok\n"


LEFT = {
    "alternate": Mutant("this_thread.of[adaptive->id % STATES]", "this_thread.of[0]"),
    "fork": Mutant("is_torn(driver, mine)", "(is_torn(driver, mine), false)"),
    "cancel": Mutant("s->cancel = gfs_cancel_forbid();", "s->cancel = 0;"),
}


@pytest.mark.campaign
@pytest.mark.parametrize("event", LEFT)
def test_a_lost_search_is_detected(plain: Path, build: Path, tmp_path: Path, event: str) -> None:
    native = _mutated("left", LEFT[event], HELD, plain, build, tmp_path)
    said = "registers again\n" if event == "alternate" else "no search ends\n"
    assert run(native, event, tmp_path / "trace.jsonl", "5", status=1)[0] == said


def test_decisions_are_reviewed(threaded: Path, build: Path, tmp_path: Path) -> None:
    """The coordinator reviews decisions after a period, or never."""
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
            # Half of the period, because an event is written a little later than its time is taken.
            assert 0 <= ended[threads] <= at - 0.010
    trace.unlink()
    assert run(native, trace, "0", "1")[0] == "0 reviews\n"
    assert "decide" in {event["event"] for event in read_trace(trace)}


@pytest.fixture
def threads(plain: Path, build: Path, tmp_path: Path) -> Path:
    return program("threads", tmp_path, plain, build, "-O2")


def test_the_rights_of_a_program(plain: Path, build: Path, tmp_path: Path) -> None:
    """A privileged one writes no file that its user names, and no other program inherits the trace."""
    native, trace = program("privileged", tmp_path, plain, build), tmp_path / "trace"
    assert run(native, "1", GFSMITH_ADAPT_TRACE=str(trace))[0] == "0\n"
    assert not trace.exists()
    assert run(native, "0", GFSMITH_ADAPT_TRACE=str(trace))[0] == "0\n"
    assert trace.read_text().count("\n") >= 2


def test_environment(threads: Path, tmp_path: Path) -> None:
    """The coordinator is off by default; if enabled, codecs attach a common one automatically."""
    trace = tmp_path / "trace.jsonl"
    assert run(threads, GFSMITH_ADAPT_TRACE=str(trace)) == ("ok\n", "")
    assert run(threads, GFSMITH_ADAPT="0", GFSMITH_ADAPT_TRACE=str(trace)) == ("ok\n", "")
    assert not trace.exists()
    output, _ = run(threads, GFSMITH_ADAPT="1", GFSMITH_ADAPT_TRACE=str(trace))
    assert output == "ok\n"
    assert any(event["event"] == "cell" for event in read_trace(trace))
    trace.unlink()
    run(threads, GFSMITH_ADAPT="1", GFSMITH_ADAPT_TRACE=str(trace), GFSMITH_ADAPT_POLICY="row,d=9")
    assert all(event["event"] in ("start", "blind") for event in read_trace(trace))  # nothing to search


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("", "yes", "GFSMITH_ADAPT: allowed: 0 (off), 1 (on); taken as 0"),
        ("_POLICY", "fast", "GFSMITH_ADAPT_POLICY is not a policy"),
        ("_DEVICE", "/nowhere/x.toml", "/nowhere/x.toml: it cannot be read; going on as for DRAM"),
        ("_DEVICE", '/now"he\nre', "/now?he?re: it cannot be read"),
        ("_TRACE", "/nowhere/x.jsonl", "/nowhere/x.jsonl: the trace cannot be written"),
    ],
)
def test_unusable_settings_are_reported_once(
    threads: Path, tmp_path: Path, name: str, value: str, said: str
) -> None:
    """The message appears once on stderr and in the trace, and the program continues."""
    trace = tmp_path / "trace.jsonl"
    environment = {"GFSMITH_ADAPT": "1", "GFSMITH_ADAPT_TRACE": str(trace), f"GFSMITH_ADAPT{name}": value}
    output, errors = run(threads, **environment)
    assert output == "ok\n"
    assert errors.count(said) == 1
    if name != "_TRACE":
        blind = [str(event["why"]) for event in read_trace(trace) if event["event"] == "blind"]
        assert sum(why.startswith(said) for why in blind) == 1


def test_a_trace_that_is_emptied(plain: Path, build: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    run(program("rotated", tmp_path, plain, build), trace)
    assert [json.loads(line)["event"] for line in trace.read_text().splitlines()] == ["cell"]


def test_a_pipe_as_trace(threads: Path, tmp_path: Path) -> None:
    """A program waits neither for a reader nor for one that does not read."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    environment = {"GFSMITH_ADAPT": "1", "GFSMITH_ADAPT_TRACE": str(pipe)}
    output, errors = run(threads, **environment)
    assert output == "ok\n" and errors.count(f"{pipe}: the trace cannot be written") == 1
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    fill(pipe)
    output, errors = run(threads, **environment)
    assert output == "ok\n" and "the trace cannot be written" not in errors
    os.close(end)


@pytest.mark.parametrize("kind", ["pipe", "limit"])
def test_a_trace_that_takes_no_more(plain: Path, build: Path, tmp_path: Path, kind: str) -> None:
    """A pipe whose reader ends, and a file at the limit of its size: the program goes on, with its signals
    as they were."""
    native, trace = program("full_trace", tmp_path, plain, build), tmp_path / "trace"
    if kind == "pipe":
        os.mkfifo(trace)
    assert run(native, trace, kind)[0] == "ok\n"


def fill(pipe: Path) -> None:
    end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(end, bytes(4096))
    os.close(end)


@pytest.mark.needs("valgrind")
def test_cost(plain: Path, build: Path, tmp_path: Path) -> None:
    """Instructions of a call, counted by valgrind: a coordinator that has settled adds few."""
    native = program("cost", tmp_path, plain, build, "-O2")

    def instructions(calls: int, *words: str) -> int:
        out = f"--callgrind-out-file={tmp_path / 'callgrind'}"
        command = ("valgrind", "--tool=callgrind", out, native, str(calls), *words)
        found = re.search(r"Collected : (\d+)", run(*command)[1])
        assert found is not None
        return int(found[1])

    def each(*words: str) -> float:
        # A delay of the process can reopen the search, which takes 42,000 instructions: two a call here.
        return (instructions(25000, *words) - instructions(5000, *words)) / 20000

    without = each()
    assert without > 500  # the kernel itself
    added = each("attached") - without
    assert 5 < added < COST, added
    forced = each("attached", "row,d=4") - without
    assert forced > 2 * COST, "a pipelined policy takes more"
    later = each("attached", "row,d=4", "force") - without
    assert later > 0.9 * forced, "a forced policy runs immediately, without earlier prefetches"


@pytest.mark.parametrize("compiler", needs.params(["clang-14", "x86_64-w64-mingw32-gcc"]))
def test_compiles_without_warnings(tmp_path: Path, compiler: str) -> None:
    """Other compilers also compile it without warnings, and builds without pipelined kernels."""
    (tmp_path / "pipelined.inc").write_text("")
    flags = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
    flags += ("-DGFSMITH_WITH_ADAPTIVE",)
    includes = [f"-I{ROOT / word.removeprefix('-I')}" for word in INCLUDES]
    command = [compiler, *flags, "-iquote", tmp_path, *includes, "-c", *SOURCES]
    done = subprocess.run([str(word) for word in command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_library_without_pipelined_kernels(plain: Path, build: Path, tmp_path: Path) -> None:
    """With another set than that of the fake kernels: one message, and everything else works."""
    native = program("threads", tmp_path, plain, build, "-O2")
    trace = tmp_path / "trace.jsonl"
    output, errors = run(native, trace, GFSMITH_ISA="sse")
    assert output == "ok\n"
    assert errors.count("default and plain are all there is") == 1
