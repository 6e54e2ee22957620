"""The library under AddressSanitizer with UBSan, under ThreadSanitizer, and with checked types of calls by
pointers; each detects wrong programs.

Runtime and scalar kernels are compiled with the sanitizer. The other kernels are machine code, which
sanitizers do not instrument: tests/system/kernels and tests/system/fuzz/api.c run them between guard pages
(docs/hardening.md).
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.compiler import Compiler
from tests.support.folders import once
from tests.support.library import NATIVE
from tests.support.machines import runtime_sources, set_source
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT

HERE = Path(__file__).resolve().parent
ADDRESS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
THREAD = ("-fsanitize=thread",)
#: Control-flow integrity: a call by a pointer to a function of another type ends the program.
TYPES = (
    *("-fsanitize=cfi-icall", "-fvisibility=hidden", "-flto", "-fuse-ld=lld-19"),
    "-Wno-unused-command-line-argument",
)
FLAGS = ("-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", *Compiler.INCLUDES)


class Sanitized:
    """A library compiled with a sanitizer, and programs that use it.

    Kernels in assembly come from `plain`, the library without sanitizers.
    """

    def __init__(self, folder: Path, flags: tuple[str, ...], plain: Path) -> None:
        self.folder, self.plain = folder, plain
        self.compiler = ["clang-19", *FLAGS, *flags]

    def make(self, folder: Path) -> None:
        """Compile the library at -O0, where the compiler removes no access that a sanitizer checks."""
        sources = [*runtime_sources(), set_source("scalar")]
        command = [
            *self.compiler,
            *(f"-I{ROOT / name}" for name in ("runtime/core/include", "runtime/core/src", "gen_out")),
        ]
        subprocess.run([*command, "-O0", "-c", *sources], cwd=folder, check=True)
        subprocess.run(["ar", "rcs", "libgfsmith.a", *folder.glob("*.o")], cwd=folder, check=True)

    def program(self, source: Path, output: Path, *instead: Path) -> Path:
        """Link a program; its own sources precede those of the library."""
        target = output / source.stem
        libraries = [self.folder / "libgfsmith.a", self.plain]
        subprocess.run([*self.compiler, source, *instead, *libraries, "-o", target], cwd=ROOT, check=True)
        return target


def built(factory: pytest.TempPathFactory, name: str, flags: tuple[str, ...], build: Path) -> Sanitized:
    plain = build / "libgfsmith.a"
    folder = once(factory, name, lambda folder: Sanitized(folder, flags, plain).make(folder))
    return Sanitized(folder, flags, plain)


@pytest.fixture(scope="session")
def address(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    return built(tmp_path_factory, "address", ADDRESS, build)


@pytest.fixture(scope="session")
def thread(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    return built(tmp_path_factory, "thread", THREAD, build)


@pytest.fixture(scope="session")
def types(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    return built(tmp_path_factory, "types", TYPES, build)


def run(program: Path, *arguments: str, isa: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "GFSMITH_ISA"}
    if isa is not None:
        environment["GFSMITH_ISA"] = isa
    environment["TSAN_OPTIONS"] = "halt_on_error=1"  # after a race, memory may be such that a loop never ends
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=environment)


def clean(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("shapes", ["scalar", "2"]),
        ("stripes", [""]),
        ("batches", ["brief"]),
        ("parallel", ["brief"]),
        ("pool", []),
        ("algebra", []),
        ("checksums", []),
        ("probe", []),
        ("features", []),
    ],
)
def test_programs_of_the_runtime(address: Sanitized, tmp_path: Path, name: str, arguments: list[str]) -> None:
    """With C kernels, all instrumented, and with those of this CPU; both print the same."""
    program = address.program(NATIVE / f"{name}.c", tmp_path)
    scalar = clean(run(program, *arguments, isa="scalar"))
    chosen = clean(run(program, *arguments))
    assert scalar != ""
    assert name == "probe" or scalar == chosen


def test_a_codec_that_threads_share(thread: Sanitized, tmp_path: Path) -> None:
    program = thread.program(HERE / "native/shared.c", tmp_path)
    assert clean(run(program, isa="scalar")) == "ok\n"
    assert clean(run(program)) == "ok\n"


@pytest.mark.parametrize(("name", "arguments"), [("parallel", ["brief"]), ("pool", []), ("threads", [])])
def test_calls_that_threads_share(thread: Sanitized, tmp_path: Path, name: str, arguments: list[str]) -> None:
    program = thread.program(NATIVE / f"{name}.c", tmp_path)
    assert clean(run(program, *arguments, isa="scalar")) == "ok\n"


@pytest.mark.parametrize("name", ["short_calls", "pool"])
def test_calls_by_pointers_have_the_types_of_the_functions(
    types: Sanitized, tmp_path: Path, name: str
) -> None:
    assert clean(run(types.program(NATIVE / f"{name}.c", tmp_path))) == "ok\n"


def test_calls_by_pointers_of_other_types_are_noticed(types: Sanitized, tmp_path: Path) -> None:
    program = types.program(HERE / "native/wrong.c", tmp_path)
    assert clean(run(program, "none")) == "ok\n"
    assert run(program, "type").returncode == -signal.SIGILL


def test_thread_sanitizer_notices_a_missing_barrier(thread: Sanitized, tmp_path: Path) -> None:
    """The caller of a pool must wait for the tasks of other threads, with a lock."""
    source = ROOT / "runtime/core/src/pool.c"
    _, wrong = plant(Mutant("job->ended < job->tasks", "false"), [source], tmp_path)
    found = run(thread.program(NATIVE / "pool.c", tmp_path, wrong), isa="scalar")
    assert found.returncode != 0


@pytest.mark.parametrize(
    ("mistake", "report"),
    [
        ("bounds", "heap-buffer-overflow"),
        ("leak", "LeakSanitizer: detected memory leaks"),
        ("undefined", "signed integer overflow"),
    ],
)
def test_address_sanitizer_notices(address: Sanitized, tmp_path: Path, mistake: str, report: str) -> None:
    program = address.program(HERE / "native/wrong.c", tmp_path)
    assert clean(run(program, "none", isa="scalar")) == "ok\n"
    found = run(program, mistake, isa="scalar")
    assert found.returncode != 0 and report in found.stderr
    if mistake == "bounds":  # in the kernel itself, not in its caller
        assert "__scalar_" in found.stderr


def test_thread_sanitizer_notices(thread: Sanitized, tmp_path: Path) -> None:
    found = run(thread.program(HERE / "native/wrong.c", tmp_path), "race", isa="scalar")
    assert found.returncode != 0
    assert "data race" in found.stderr and "gfsmith_codec_hint" in found.stderr
