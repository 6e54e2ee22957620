"""Operations: native/primitives, over a mock network that draws the next event, and over loopback."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.levels import first, share
from tests.support.mutation import Mutant
from tests.system.compose.support import CLOCK, CLOCK_OPTIONS, NATIVE, Library, with_error

HERE = NATIVE / "primitives"
SHARED = ("network", "scenario")
PROGRAMS = {
    "faults": ("mock", "mock_links", "mock_events", "scenario", "faults"),
    "loopback": (*SHARED, "loopback"),
    "shapes": (*SHARED, "shapes"),
    "starved": (*SHARED, "life", "starved"),
    "broken": (*SHARED, "life", "broken"),
    "cases": (*SHARED, "transfer", "invalid", "refused", "damaged", "killed", "triggered", "cases"),
}
#: Programs with a clock that a test stops.
STOPPED = {"cases"}
#: The functions that each program of lives replaces.
FAILING = {
    "starved": ("malloc", "calloc", "realloc", "aligned_alloc"),
    "broken": (
        *(
            "pthread_mutex_init",
            "pthread_cond_init",
            "pthread_create",
            "eventfd",
            "epoll_create1",
            "epoll_ctl",
        ),
        *("fi_getinfo", "fi_dupinfo", "fi_fabric"),
    ),
}
CASES = re.findall(r"^void (\w+)\(const char \*provider", (HERE / "cases.h").read_text(), re.MULTILINE)
CASES.remove("child_main")
#: Lengths and slices, in pairs; the slices divide the lengths or do not.
SMALL = "0 0 1 0 1 1 127 0 127 16 128 0 128 128 128 1000 4096 1000 65537 4096 1000000 65536 1000000 99999"
LARGE = "16777216 0 16777216 262144"
#: In the order of mock_fault. FAULT_NONE never occurs.
FAULTS = 14

#: Program, its arguments, and the error for which it fails.
MUTANTS = (
    ("faults", "0 2000", Mutant("$read != checksum(trailer, payload, bytes)", "$read == UINT64_MAX")),
    ("faults", "0 2000", Mutant("get(&at, 4) != slice", "get(&at, 4) > 65535")),
    ("faults", "0 2000", Mutant("s == end->landed && s < operation->slices", "s < operation->slices")),
    ("faults", "0 2000", Mutant("operation->sealed && bytes > 0", "false")),
    ("faults", "0 2000", Mutant("operation->sealed ? part(at, operation->length) : $bytes", "$bytes")),
    ("shapes", "tcp 3 2 1000000 0", Mutant("input[j].bytes + from", "input[j].bytes")),
    ("shapes", "tcp 3 2 1000000 0", Mutant("operation->within += count", "operation->within = bytes")),
    (
        "faults",
        "0 2000",
        Mutant(
            "gfc_tell($engine, $rank, GFC_LANDED, $$body);", "gfc_tell($engine, $rank, GFC_RELEASE, $$body);"
        ),
    ),
    ("faults", "0 2000", Mutant("$open || operation->flying > 0", "$open")),
    (
        "faults",
        "0 2000",
        Mutant("end->key.role == GFC_RECEIVER && end->state == GFC_GRANTED", "end->slot == 0xffff"),
    ),
    ("faults", "0 2000", Mutant("gfc_pending_take_refusal($all, &end->key, &refusal)", "refusal.known")),
    ("faults", "0 2000", Mutant("end->state == GFC_REVOKED || end->flying > 0", "end->flying > 9999")),
    ("faults", "0 2000", Mutant("gfc_pending_link_down($all, rank);", ";")),
    ("faults", "0 2000", Mutant("release(all, rank, &refusal);", ";")),
    ("broken", "", Mutant("status != 0", "false", within="gfc_fabric_register")),
    ("broken", "", Mutant("status == 0", "true", within="open_endpoint", everywhere=True)),
    ("cases", "tcp invalid", Mutant("source->rank == own", "false")),
    ("cases", "tcp invalid", Mutant("request->job->deadline_ms > DEADLINE_MAX", "false")),
    ("cases", "tcp invalid", Mutant("calc->matrix != NULL", "true")),
    ("cases", "tcp mismatches", Mutant("grant->hash != operation->job.hash", "grant->hash == 1")),
    ("cases", "tcp mismatches", Mutant("grant->slice != operation->slice", "grant->slice == 1")),
    ("cases", "tcp memory_limit", Mutant("size <= memory->limit - memory->used", "size < SIZE_MAX")),
)


def sources(name: str) -> list[Path]:
    return [*(HERE / f"{source}.c" for source in PROGRAMS[name]), *([CLOCK] if name in STOPPED else [])]


def options(name: str) -> list[str]:
    clock = CLOCK_OPTIONS if name in STOPPED else ()
    return [*(f"-Wl,--wrap={function}" for function in FAILING.get(name, ())), *clock]


def program(library: Library, name: str) -> Path:
    return library.program(name, *sources(name), options=options(name))


def run(command: Path, *words: str, status: int = 0) -> str:
    """Run a program and return its output. Memory that libfabric itself does not free is ignored."""
    known = command.parent / "known-leaks"
    known.write_text("leak:libfabric.so\n")
    done = subprocess.run(
        [command, *words],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=command.parent,
        env={
            **os.environ,
            "LSAN_OPTIONS": f"suppressions={known}:print_suppressions=0",
            "TSAN_OPTIONS": "halt_on_error=1",
        },
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_every_fault(sanitized: Library) -> None:
    """Each fault occurs in more than a hundred random jobs; faults.c states the conditions that must hold
    then.
    """
    met = [int(word) for word in run(program(sanitized, "faults"), "0", "4000").split()]
    assert len(met) == FAULTS and met[0] == 0 and min(met[1:]) > 100


@pytest.mark.parametrize("name", FAILING)
def test_every_call_fails(sanitized: Library, name: str) -> None:
    """Takes half a second of CPU time, and ten seconds: nodes repeat attempts, and wait for deadlines."""
    count = re.fullmatch(r"(\d+) (allocations|calls)\n", run(program(sanitized, name)))
    assert count is not None and int(count[1]) > 80


@pytest.mark.parametrize("provider", first(["tcp", "sockets"]))
def test_random_jobs(sanitized: Library, provider: str) -> None:
    assert run(program(sanitized, "loopback"), provider, "8") == "128 jobs\n"


@pytest.mark.campaign
def test_random_jobs_threads(threaded: Library) -> None:
    assert run(program(threaded, "loopback"), "tcp", "6") == "96 jobs\n"


@pytest.mark.parametrize("shape", first([(6, 3), (12, 4), (3, 2), (1, 1)], 2))
def test_shapes(plain: Library, shape: tuple[int, int]) -> None:
    k, m = shape
    lengths = SMALL if k == 6 else f"{SMALL} {LARGE}"
    run(program(plain, "shapes"), "tcp", str(k), str(m), *lengths.split())


def test_shapes_sockets(plain: Library) -> None:
    run(program(plain, "shapes"), "sockets", "6", "3", *SMALL.split())


@pytest.mark.parametrize("case", first((case for case in CASES if not case.startswith("triggered")), 4))
def test_tcp(sanitized: Library, case: str) -> None:
    run(program(sanitized, "cases"), "tcp", case)


@pytest.mark.campaign
@pytest.mark.parametrize("case", CASES)
def test_sockets(plain: Library, case: str) -> None:
    run(program(plain, "cases"), "sockets", case)


@pytest.mark.parametrize("case", first(["canceled", "from_callbacks", "destroyed", "damaged_messages"]))
def test_threads(threaded: Library, case: str) -> None:
    run(program(threaded, "cases"), "tcp", case)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "words", "mutant"), share((pytest.param(*each) for each in MUTANTS), 2), ids=str
)
def test_mutant(sanitized: Library, tmp_path: Path, name: str, words: str, mutant: Mutant) -> None:
    """With one line of the library changed, the program fails."""
    made = with_error(sanitized, mutant, tmp_path, name, *sources(name), options=options(name))
    # libfabric's psm provider writes a file into the working directory when a program aborts.
    done = subprocess.run([made, *words.split()], capture_output=True, timeout=300, cwd=tmp_path)
    assert done.returncode != 0, f"{name} does not detect {mutant}"
