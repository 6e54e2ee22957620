"""The kernels that this machine's CPU executes, and the C harness in which they are executed.

The lists of kernels are gen_out/kernels.inc and gen_out/baked.inc, for Python (lists.py) as for C.
The harness (harness/*.c, harness/x86_64) is compiled together with all generated sources into one shared
library: the System V objects, and a second copy of each assembly source for the Microsoft x64 ABI,
whose symbols end in `_ms`.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pytest

from bench.build_lock import locked
from tests.support.cpu import CPU_FLAGS, missing_flags
from tests.support.folders import shared_folder
from tests.support.paths import ROOT
from tests.system.kernels.emulated import (
    EMULATIONS,
    POLYNOMIALS,
    Emulation,
    Machine,
    build_generated,
    build_selftest,
    covered_by,
    unity_sources,
)
from tests.system.kernels.emulator import Emulator, Emulators, Tracer
from tests.system.kernels.lists import WIDTHS, Kernel, all_kernels_of, kernels_of

HERE = Path(__file__).parent
GENERATED = ROOT / "gen_out"

#: A source to compile: the file, the flags, and the suffix of its object's name.
Source = tuple[Path, Sequence[str], str]

ABIS = ("sysv", "ms")  # in the order of `enum abi`

if platform.machine() != "x86_64":  # the trampoline is x86-64
    collect_ignore_glob = ["test_*.py"]


def _pairs(kernels: Sequence[Kernel]) -> Iterator[Any]:
    """Yield the kernels in each of their ABIs; of the Microsoft copies, whose instructions in the loops are
    the same, `make test` runs the first of each instruction set, `make test-all` the first of each kind.
    """
    isas: set[str] = set()
    kinds: set[tuple[str, str, bool]] = set()
    for kernel in kernels:
        yield pytest.param(kernel, "sysv", id=f"{kernel.symbol}-sysv")
        if kernel.in_assembly:
            kind = (kernel.isa, kernel.operation, kernel.matrix is None)
            marks = [pytest.mark.campaign] if kernel.isa in isas else []
            marks += [pytest.mark.long] if kind in kinds else []
            isas.add(kernel.isa)
            kinds.add(kind)
            yield pytest.param(kernel, "ms", marks=marks, id=f"{kernel.symbol}-ms")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`kernel`, `abi`: every x86-64 kernel of gen_out, in each of its ABIs. `emulation`, `kernel`: every
    kernel on each emulated CPU, with vectors of 256 bits only in `make test-long`. `isa`: each name.
    """
    if "emulation" in metafunc.fixturenames:
        pairs = [
            pytest.param(emulation, kernel, marks=marks, id=f"{kernel.symbol}-{emulation}")
            for emulation in EMULATIONS
            for marks in [[] if emulation.vector_bytes in (8, 16, 64) else [pytest.mark.long]]
            for kernel in covered_by(emulation, all_kernels_of(GENERATED))
        ]
        metafunc.parametrize("emulation, kernel", pairs or [pytest.param(None, None, id="no-kernels")])
    elif "kernel" in metafunc.fixturenames:
        pairs = list(_pairs(kernels_of(GENERATED)))
        # Without a list one test remains; its fixture reports the missing file.
        metafunc.parametrize("kernel, abi", pairs or [pytest.param(None, "", id="no-kernels")])
    if "isa" in metafunc.fixturenames:
        metafunc.parametrize("isa", list(CPU_FLAGS))


@pytest.fixture(scope="session")
def kernels() -> list[Kernel]:
    return kernels_of(GENERATED)


@pytest.fixture(scope="session")
def listed() -> dict[str, dict[str, Any]]:
    """Return the entry of `gfsmith list` for every kernel of gfsmith.toml, by symbol."""
    command = [sys.executable, "-m", "gfsmith", "list", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {row["symbol"]: row for row in json.loads(done.stdout)["kernels"]}


@pytest.fixture
def require_isa() -> Callable[[str], None]:
    """Return a function that skips the test if the CPU lacks the instruction set."""

    def require(isa: str) -> None:
        if missing := missing_flags(isa):
            pytest.skip(f"{isa}: this CPU has no {', '.join(missing)}")

    return require


# ---- the oracle ----


@lru_cache(maxsize=8)
def multiplication_table(polynomial: int) -> bytes:
    """Return the bytes 256 * c + x -> c * x in GF(2)[a] / polynomial, from the sympy model."""
    from gfsmith.field import Field

    field = Field(polynomial)
    return bytes(field.multiply(c, x) for c in range(256) for x in range(256))


@pytest.fixture(scope="session")
def multiplication() -> Callable[[int], bytes]:
    return multiplication_table


# ---- the library ----


class Harness:
    """The shared library of the harness and some kernels."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._run = self._library.harness_run
        self._run.restype = ctypes.c_long
        self._run.argtypes = [
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_bool,
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_size_t,
        ]
        self._address = self._library.harness_address
        self._address.restype = ctypes.c_void_p
        self._address.argtypes = [ctypes.c_char_p, ctypes.c_int]

        self._block_bytes = self._library.harness_block_bytes
        self._block_bytes.restype = ctypes.c_size_t
        self._block_bytes.argtypes = [ctypes.c_char_p]

    def run(self, symbol: str, abi: str, sweep: str, polynomial: int) -> tuple[int, str]:
        """Return (calls made, ""), or (-1, the failure). Sweeps: see harness/sweeps.c."""
        report = ctypes.create_string_buffer(1024)
        calls = self._run(
            symbol.encode(),
            ABIS.index(abi),
            sweep.encode(),
            False,
            multiplication_table(polynomial),
            report,
            len(report),
        )
        return calls, report.value.decode(errors="replace")

    @property
    def kernel_count(self) -> int:
        """Return the number of kernels that the C compiler found in the lists."""
        return ctypes.c_size_t.in_dll(self._library, "harness_kernel_count").value

    def address(self, symbol: str, abi: str) -> int | None:
        """Return the address of the kernel's code, None if the kernel does not exist."""
        address: int | None = self._address(symbol.encode(), ABIS.index(abi))
        return address

    def block_bytes(self, symbol: str) -> int:
        """Return the bytes of one iteration of the main loop, as the harness computes them."""
        block: int = self._block_bytes(symbol.encode())
        return block


def compile_all(sources: Sequence[Source], folder: Path) -> list[Path]:
    """Compile each (source, flags, suffix of the object's name), in parallel."""
    compiler = os.environ.get("CC", "gcc")

    def compile_one(job: Source) -> Path:
        source, flags, suffix = job
        output = folder / f"{source.parent.name}-{source.name}{suffix}.o"
        command = [compiler, "-c", "-fPIC", *flags, str(source), "-o", str(output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
        return output

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, sources))


def build(
    folder: Path,
    lists: Path,
    sources: Callable[[Path], Sequence[Source]],
    harness_flags: Sequence[str] = (),
) -> Harness:
    """Compile the harness for the lists in a folder, link it with the sources that `sources` may write into
    that folder, load it."""
    library = folder / "libharness.so"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock"):
        if not library.exists():
            flags = [
                *("-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"),
                WIDTHS,
                f"-I{lists}",
                *harness_flags,
            ]
            parts = sorted([*HERE.glob("harness/*.c"), *HERE.glob("harness/x86_64/*.[cS]")])
            objects = compile_all([*((part, flags, ".harness") for part in parts), *sources(folder)], folder)
            new = folder / "new.so"
            command = ["gcc", "-shared", "-o", str(new), *map(str, objects)]
            subprocess.run([*command, "-Wl,-z,noexecstack"], check=True)
            new.rename(library)
    return Harness(library)


def sources_of(generated: Path, folder: Path) -> list[Source]:
    """Return sources in `folder` that include those which the generator wrote, for both ABIs."""
    flags = ["-std=c11", "-O2", f"-I{generated}"]
    flags += [f"-I{ROOT / folder}" for folder in ("runtime/core/include", "runtime/core/src")]
    microsoft = [*flags, "-DGFSMITH_MS_ABI", "-DGFSMITH_SYMBOL_SUFFIX=_ms"]
    sources: list[Source] = []
    for path in unity_sources(folder, generated, kernels_of(generated)):
        sources.append((path, flags, ".sysv"))
        if path.suffix == ".S":
            sources.append((path, microsoft, ".ms"))
    return sources


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    """The harness with all generated kernels."""
    if not (GENERATED / "kernels.inc").exists():
        pytest.fail("gen_out/kernels.inc does not exist: run make gen first")
    folder = shared_folder(tmp_path_factory) / "kernels"
    return build(folder, GENERATED, partial(sources_of, GENERATED))


@pytest.fixture(scope="session")
def selftest_library(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    """The harness with the kernels of selftest/.

    They are compiled without red zones, because the Microsoft copies share helpers with the System V ones
    and have none.
    """
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-mno-red-zone"]
    paths = [*HERE.glob("selftest/*.c"), *HERE.glob("selftest/x86_64/*.[cS]")]
    sources = [(path, flags, "") for path in sorted(paths)]
    folder = shared_folder(tmp_path_factory) / "selftest"
    short = ["-DHARNESS_WATCHDOG_SECONDS=3", f"-I{HERE / 'selftest' / 'x86_64'}"]
    return build(folder, HERE / "selftest", lambda _: sources, short)


# ---- the programs ----


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The multiplication tables of POLYNOMIALS, in that order."""
    path = shared_folder(tmp_path_factory) / "tables"
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            path.write_bytes(b"".join(map(multiplication_table, POLYNOMIALS)))
    return path


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Machine], Path]:
    """The program with the generated kernels, for each machine."""

    def build(machine: Machine, folder: Path) -> Path:
        return build_generated(machine, folder, GENERATED)

    return partial(program_of, tmp_path_factory, "emulated", build)


def program_of(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    build: Callable[[Machine, Path], Path],
    machine: Machine,
) -> Path:
    """Return the program that `build` makes in a folder shared by all processes of pytest-xdist."""
    folder = shared_folder(tmp_path_factory) / f"{name}-{machine.name}"
    folder.mkdir(exist_ok=True)
    with locked(folder / "lock"):
        program = folder / "harness"
        return program if program.exists() else build(machine, folder)


@pytest.fixture(scope="session")
def emulators(programs: Callable[[Machine], Path], tables: Path) -> Iterator[Emulators[Emulator]]:
    """The generated kernels on emulated CPUs."""
    emulators = Emulators(programs, partial(Emulator, tables=tables))
    yield emulators
    emulators.close()


@pytest.fixture(scope="session")
def tracers(programs: Callable[[Machine], Path], tables: Path) -> Iterator[Emulators[Tracer]]:
    """The generated kernels on emulated CPUs that log the executed instructions."""

    def start(program: Path, emulation: Emulation) -> Tracer:
        kernels = covered_by(emulation, all_kernels_of(GENERATED))
        return Tracer(program, emulation, tables, [kernel.symbol for kernel in kernels])

    tracers = Emulators(programs, start)
    yield tracers
    tracers.close()


@pytest.fixture(scope="session")
def selftest_programs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Machine], Path]:
    """The program with the kernels of selftest/, for each machine."""
    return partial(program_of, tmp_path_factory, "emulated-selftest", build_selftest)


@pytest.fixture(scope="session")
def selftest_emulators(
    selftest_programs: Callable[[Machine], Path], tables: Path
) -> Iterator[Emulators[Emulator]]:
    """The kernels of selftest/ on emulated CPUs."""
    emulators = Emulators(selftest_programs, partial(Emulator, tables=tables))
    yield emulators
    emulators.close()
