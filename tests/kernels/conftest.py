"""The kernels under test, and the C harness in which they are executed.

The list of kernels is gen_out/kernels.inc, for Python as for C. The harness (harness/*.c, *.S) is
compiled together with all generated sources into one shared library: the System V objects, and a
second copy of each assembly source for the Microsoft x64 ABI, whose symbols end in `_ms`.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
GENERATED = ROOT / "gen_out"

#: What to compile: the file, the flags, and what its object's name ends in.
Source = tuple[Path, Sequence[str], str]

ABIS = ("sysv", "ms")  # in the order of `enum abi`

#: What /proc/cpuinfo must show before kernels of an instruction set may be executed.
CPU_FLAGS: dict[str, frozenset[str]] = {
    "scalar": frozenset(),
    "sse": frozenset({"ssse3"}),
    "avx2": frozenset({"avx2"}),
    "avx512": frozenset({"avx512f", "avx512bw", "bmi2"}),
    "gfni_sse": frozenset({"ssse3", "gfni"}),
    "gfni_avx2": frozenset({"avx2", "gfni"}),
    "gfni_avx512": frozenset({"avx512f", "avx512bw", "bmi2", "gfni"}),
}

FIELDS = tuple(
    "symbol isa operation inputs outputs unroll store prefetch tables".split()  # noqa: SIM905
)
KERNEL_LINE = re.compile(r"^\s*GFSMITH_KERNEL\(([^()]*)\)", re.MULTILINE)

if platform.machine() != "x86_64":  # the trampoline is x86-64
    collect_ignore_glob = ["test_*.py"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """One line of kernels.inc."""

    symbol: str
    isa: str
    operation: str
    inputs: int
    outputs: int
    tables: str

    @property
    def in_assembly(self) -> bool:
        return self.isa != "scalar"


def parse_kernels(text: str) -> list[Kernel]:
    """The kernels of a file in the form of kernels.inc, in its order."""
    kernels = []
    for match in KERNEL_LINE.finditer(text):
        field = dict(zip(FIELDS, (part.strip() for part in match[1].split(",")), strict=True))
        kernels.append(
            Kernel(
                symbol=field["symbol"],
                isa=field["isa"],
                operation=field["operation"],
                inputs=int(field["inputs"]),
                outputs=int(field["outputs"]),
                tables=field["tables"],
            )
        )
    return kernels


def generated_kernels() -> list[Kernel]:
    """The kernels of gen_out, none before `make gen`."""
    path = GENERATED / "kernels.inc"
    return parse_kernels(path.read_text()) if path.exists() else []


@lru_cache(maxsize=1)
def cpu_flags() -> frozenset[str]:
    match = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return frozenset(match[1].split()) if match else frozenset()


def missing_flags(isa: str) -> list[str]:
    return sorted(CPU_FLAGS[isa] - cpu_flags())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`kernel`, `abi`: every kernel of gen_out in each ABI that it exists for. `isa`: each name."""
    if "kernel" in metafunc.fixturenames:
        pairs = [
            pytest.param(kernel, abi, id=f"{kernel.symbol}-{abi}")
            for kernel in generated_kernels()
            for abi in (ABIS if kernel.in_assembly else ABIS[:1])
        ]
        # Without a list one test remains, for its fixture to say what is missing.
        metafunc.parametrize("kernel, abi", pairs or [pytest.param(None, "", id="no-kernels")])
    if "isa" in metafunc.fixturenames:
        metafunc.parametrize("isa", list(CPU_FLAGS))


@pytest.fixture(scope="session")
def kernels() -> list[Kernel]:
    return generated_kernels()


@pytest.fixture
def require_isa() -> Callable[[str], None]:
    """Skips the test where the CPU lacks the instruction set."""

    def require(isa: str) -> None:
        if missing := missing_flags(isa):
            pytest.skip(f"{isa}: this CPU has no {', '.join(missing)}")

    return require


# ---- the oracle ----


@lru_cache(maxsize=8)
def multiplication_table(polynomial: int) -> bytes:
    """Byte 256 * c + x is c * x in GF(2)[a] / polynomial, as the sympy model has it."""
    from gfsmith.field import Field

    field = Field(polynomial)
    return bytes(field.multiply(c, x) for c in range(256) for x in range(256))


@pytest.fixture(scope="session")
def multiplication() -> Callable[[int], bytes]:
    return multiplication_table


# ---- the library ----


class Harness:
    """The shared library made of the harness and some kernels."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._run = self._library.harness_run
        self._run.restype = ctypes.c_long
        self._run.argtypes = [
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_size_t,
        ]
        self._address = self._library.harness_address
        self._address.restype = ctypes.c_void_p
        self._address.argtypes = [ctypes.c_char_p, ctypes.c_int]

    def run(self, symbol: str, abi: str, sweep: str, polynomial: int) -> tuple[int, str]:
        """(calls made, ""), or (-1, what went wrong). Sweeps: see harness/sweeps.c."""
        report = ctypes.create_string_buffer(1024)
        calls = self._run(
            symbol.encode(),
            ABIS.index(abi),
            sweep.encode(),
            multiplication_table(polynomial),
            report,
            len(report),
        )
        return calls, report.value.decode(errors="replace")

    @property
    def kernel_count(self) -> int:
        """How many kernels the C compiler saw in the list."""
        return ctypes.c_size_t.in_dll(self._library, "harness_kernel_count").value

    def address(self, symbol: str, abi: str) -> int | None:
        """Where the kernel's code is, None where it does not exist."""
        return self._address(symbol.encode(), ABIS.index(abi))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One of the processes of pytest-xdist at a time."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compile_all(sources: Sequence[Source], folder: Path) -> list[Path]:
    """Compile each (source, flags, suffix of the object's name) on all CPUs."""
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
    kernels_inc: Path,
    sources: Sequence[Source],
    harness_flags: Sequence[str] = (),
) -> Harness:
    """Compile the harness for the list `kernels_inc`, link it with `sources`, load it."""
    library = folder / "libharness.so"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock"):
        if not library.exists():
            flags = [
                *("-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"),
                f'-DHARNESS_KERNELS_INC="{kernels_inc}"',
                *harness_flags,
            ]
            parts = sorted(HERE.glob("harness/*.[cS]"))
            objects = compile_all([*((part, flags, ".harness") for part in parts), *sources], folder)
            new = folder / "new.so"
            command = ["gcc", "-shared", "-o", str(new), *map(str, objects)]
            subprocess.run([*command, "-Wl,-z,noexecstack"], check=True)
            new.rename(library)
    return Harness(library)


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of one test run have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    """The harness with all generated kernels."""
    if not (GENERATED / "kernels.inc").exists():
        pytest.fail("gen_out/kernels.inc does not exist: run make gen first")
    listed = (GENERATED / "sources.mk").read_text()
    flags = ["-std=c11", "-O2"]
    flags += [f"-I{ROOT / folder}" for folder in ("runtime/include", "gen_out", "runtime/src")]
    microsoft = [*flags, "-DGFSMITH_MS_ABI", "-DGFSMITH_SYMBOL_SUFFIX=_ms"]
    sources: list[Source] = []
    for name in re.findall(r"\$\(GFSMITH_GENERATED\)/(\S+\.[cS])\b", listed):
        path = GENERATED / name
        sources.append((path, flags, ".sysv"))
        if path.suffix == ".S":
            sources.append((path, microsoft, ".ms"))
    folder = shared_folder(tmp_path_factory) / "kernels"
    return build(folder, GENERATED / "kernels.inc", sources)


@pytest.fixture(scope="session")
def selftest_library(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    """The harness with the kernels of selftest/.

    Without red zones: the Microsoft copies share helpers with the System V ones, and have none.
    """
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-mno-red-zone"]
    sources = [(path, flags, "") for path in sorted(HERE.glob("selftest/*.[cS]"))]
    folder = shared_folder(tmp_path_factory) / "selftest"
    short = ["-DHARNESS_WATCHDOG_SECONDS=3"]
    return build(folder, HERE / "selftest/bad_kernels.inc", sources, short)
