"""Users' builds for other machines and for one instruction set: make and CMake, gcc and clang."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gfsmith.kernel.isa import ISAS
from tests.support import needs
from tests.support.compiler import Compiler
from tests.support.configurations import fewest_kernels, known_proofs
from tests.support.folders import once
from tests.support.levels import sample
from tests.support.library import NATIVE
from tests.support.machines import MACHINES, STRICT, Machine, call, emulated, includes, instruction_sets
from tests.support.paths import ROOT

CLANG = ("aarch64-linux-gnu", "riscv64-linux-gnu")  # with clang-19; the others with gcc
FAST = "-DCMAKE_BUILD_TYPE=Debug"  #: CMake compiles without optimisation
#: make builds for the first two machines and CMake for the others, each with clang and with gcc;
#: `make test-long` runs make for all.
each_machine = pytest.mark.parametrize("machine", sample(MACHINES, *MACHINES[:2]), ids=str)


def generate(folder: Path) -> None:
    """Generate few kernels, which compile fast, for every machine."""
    isas = [isa.name for isa in ISAS if isa.arch.value != "x86_64" or isa.name == "sse"]
    (folder / "gfsmith.toml").write_text(fewest_kernels(isas))
    known_proofs(folder / ".gfsmith-cache")
    command = [sys.executable, "-m", "gfsmith", "gen", "--jobs", "1", "-c", folder / "gfsmith.toml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return once(tmp_path_factory, "few", generate) / "gen_out"


@pytest.fixture(scope="module")
def expected(build: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    program = Compiler(build, tmp_path_factory.mktemp("stripes")).link("stripes")
    return call([program, "scalar"])


def make(generated: Path, build: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    folders = (f"BUILD={build}", f"GFSMITH_GENERATED={generated}")
    command = ["make", "lib", *folders, "CFLAGS=-O1 -g", *arguments]  # a later CFLAGS among them counts
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def cmake(generated: Path, build: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["cmake", "-S", ROOT, "-B", build, f"-DGFSMITH_GENERATED={generated}", *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def runs(machine: Machine, library: Path, output: Path, expected: str) -> None:
    """Check that a program with the library prints the same as here, on the best CPU and on the weakest."""
    program = output / "stripes"
    compiler = [f"{machine.triple}-gcc", *STRICT, *includes()]
    call([*compiler, NATIVE / "stripes.c", library, "-static", "-o", program])
    for cpu in (machine.best, next(iter(machine.cpus))):
        done = emulated(machine, program, "", cpu=cpu)
        assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


@pytest.mark.needs("clang", "qemu")
@each_machine
def test_make(machine: Machine, generated: Path, tmp_path: Path, expected: str) -> None:
    clang = [f"CC=clang-19 --target={machine.triple}"] if machine.triple in CLANG else []
    done = make(generated, tmp_path / "build", f"CROSS={machine.triple}", *clang)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    runs(machine, tmp_path / "build/libgfsmith.a", tmp_path, expected)
    shared = tmp_path / "build/libgfsmith.so"
    exported = call([f"{machine.triple}-nm", "-D", "--defined-only", shared])
    assert re.search(r" T gfsmith_encode\b", exported)
    assert " gfs_" not in exported
    symbols = call([f"{machine.triple}-nm", shared])
    for isa in instruction_sets(machine.arch, generated):
        assert f"__{isa.name}_" in symbols
    assert "__sse_" not in symbols


@pytest.mark.needs("build systems", "clang", "qemu")
@pytest.mark.parametrize("machine", MACHINES[2:], ids=str)
def test_cmake(machine: Machine, generated: Path, tmp_path: Path, expected: str) -> None:
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    toolchain = ROOT / "packaging/cmake/toolchains" / f"{machine.triple}.cmake"
    options = [f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", f"-DCMAKE_INSTALL_PREFIX={prefix}"]
    if machine.triple in CLANG:
        options += ["-DCMAKE_C_COMPILER=clang-19", f"-DCMAKE_C_COMPILER_TARGET={machine.triple}"]
    options += ["-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror", "-DCMAKE_C_FLAGS_RELEASE=-O1"]
    done = cmake(generated, build, *options)
    assert (done.returncode, done.stderr) == (0, "")
    call(["cmake", "--build", build])
    call(["cmake", "--install", build])
    for name in ("gfsmith.h", "gfsmith_plan.h", "gfsmith_parallel.h", "gfsmith_raid.h"):
        assert (prefix / "include" / name).exists()
    runs(machine, prefix / "lib/libgfsmith.a", tmp_path, expected)


@pytest.mark.needs("build systems", "mingw", "wine")
def test_windows(generated: Path, tmp_path: Path) -> None:
    """A static library of COFF objects, by make and by CMake."""
    done = make(generated, tmp_path / "make", "CROSS=x86_64-w64-mingw32", "ISA=sse", "CFLAGS=-O0")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    toolchain = ROOT / "packaging/cmake/toolchains/x86_64-w64-mingw32.cmake"
    done = cmake(generated, tmp_path / "cmake", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", FAST)
    assert done.returncode == 0, done.stderr
    call(["cmake", "--build", tmp_path / "cmake"])
    for folder in ("make", "cmake"):
        program, library = tmp_path / f"{folder}.exe", tmp_path / folder / "libgfsmith.a"
        compiler = ["x86_64-w64-mingw32-gcc", *STRICT, *includes(), "-D__USE_MINGW_ANSI_STDIO"]
        call([*compiler, NATIVE / "stripes.c", library, "-o", program])
        assert program.read_bytes()[:2] == b"MZ"


@pytest.mark.parametrize("way", needs.params(["make", "cmake"]))
def test_single_set(way: str, generated: Path, tmp_path: Path, expected: str) -> None:
    """One set on this machine: the shared library, without any symbol of CPU detection."""
    build = tmp_path / "build"
    if way == "make":
        done = make(generated, build, "ISA=sse", "CFLAGS=-O0")
    else:
        done = cmake(generated, build, "-DGFSMITH_SINGLE_ISA=sse", "-DBUILD_SHARED_LIBS=ON", FAST)
        call(["cmake", "--build", build])
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    exported = call(["nm", "-D", "--defined-only", build / "libgfsmith.so"])
    assert " gfsmith_encode\n" in exported and " gfs_" not in exported
    assert "x86 feature: IBT, SHSTK" in call(["readelf", "-nW", build / "libgfsmith.so"])
    symbols = call(["nm", build / "libgfsmith.so"])
    assert not re.search(r"\bgfs_cpu_|\bgetenv\b|__(scalar|neon)_", symbols)
    program = tmp_path / "stripes"
    linked = [NATIVE / "stripes.c", build / "libgfsmith.so", f"-Wl,-rpath,{build}"]
    call(["gcc", *STRICT, *includes(), *linked, "-o", program])
    assert call([program, ""]) == expected
    refused = subprocess.run([program, "scalar"], capture_output=True, text=True)
    assert refused.returncode == 1
    assert "gfsmith_set_isa" in refused.stderr


REFUSED = (
    (["ISA=nonsense"], "ISA=nonsense: allowed for x86_64-linux-gnu: sse scalar"),
    (["ISA=neon"], "ISA=neon: allowed for x86_64-linux-gnu: sse scalar"),
    pytest.param(
        ["CROSS=s390x-linux-gnu", "ISA=sse"],
        "ISA=sse: allowed for s390x-linux-gnu: ",
        marks=pytest.mark.needs("qemu"),
    ),
    (["CROSS=nowhere-linux"], "CROSS=nowhere-linux: the compiler nowhere-linux-gcc is missing; "),
    (["BUILD=x y"], "BUILD=x y: must be a folder without blanks"),
    (["BUILD="], "BUILD=: must be a folder without blanks"),
    (["PREFIX=here"], "PREFIX=here: must be an absolute path, such as /"),
    (["PREFIX=/it's"], "PREFIX=/it's: must not contain '; allowed: a path without ' \" ` | \\ #"),
    (["DESTDIR=/a#1"], "DESTDIR=/a#1: must not contain #; allowed: "),
)


@pytest.mark.parametrize(("arguments", "line"), REFUSED)
def test_make_refuses(arguments: Sequence[str], line: str, generated: Path, tmp_path: Path) -> None:
    done = make(generated, tmp_path / "build", *arguments)
    assert done.returncode == 2
    (error,) = done.stderr.splitlines()
    assert line in error
    assert not (tmp_path / "build").exists()


@pytest.mark.needs("build systems")
def test_cmake_refuses(generated: Path, tmp_path: Path) -> None:
    done = cmake(generated, tmp_path / "build", "-DGFSMITH_SINGLE_ISA=neon")
    assert done.returncode != 0
    assert "GFSMITH_SINGLE_ISA=neon: allowed for x86_64: sse scalar" in done.stderr
    done = cmake(tmp_path, tmp_path / "empty")
    assert done.returncode != 0
    assert "generate kernels first" in " ".join(done.stderr.split())  # CMake wraps lines


@pytest.mark.parametrize(("single", "line"), [("nonsense", "must be one of: "), ("neon", "neon is not for")])
def test_compiler_refuses(single: str, line: str, generated: Path) -> None:
    """A compiler called without a build system refuses too."""
    command = ["gcc", *includes(generated), f"-DGFSMITH_SINGLE_ISA={single}", "-fsyntax-only"]
    done = subprocess.run([*command, ROOT / "runtime/core/src/dispatch.c"], capture_output=True, text=True)
    assert done.returncode != 0
    assert f'#error "GFSMITH_SINGLE_ISA{":" if single == "neon" else ""} {line}' in done.stderr


#: Declarations from the headers of other systems.
HEADERS = {
    "sysctl": "int sysctlbyname(const char *, void *, __SIZE_TYPE__ *, void *, __SIZE_TYPE__);\n",
    "auxv": """
enum { AT_HWCAP = 25, AT_HWCAP2 = 26 };
unsigned long getauxval(unsigned long);
int elf_aux_info(int, void *, int);
""",
}
ELSEWHERE = (  # target, file, the function that it calls
    ("arm64-apple-macos11", "aarch64", "sysctlbyname", 2),
    ("aarch64-w64-mingw32", "aarch64", "IsProcessorFeaturePresent", 3),
    ("aarch64-unknown-freebsd14", "aarch64", "elf_aux_info", 2),
    ("powerpc64le-unknown-freebsd14", "power", "elf_aux_info", 2),
    ("loongarch64-linux-gnu", "loongarch", "getauxval", 2),
)


@pytest.mark.needs("clang", "mingw")
@pytest.mark.parametrize(("target", "file", "function", "calls"), ELSEWHERE)
def test_other_systems(target: str, file: str, function: str, calls: int, tmp_path: Path) -> None:
    """Detection compiles for these systems without a warning, and calls the functions that docs/cross.md
    states.
    """
    (tmp_path / "sys").mkdir()
    for name, text in HEADERS.items():
        (tmp_path / f"sys/{name}.h").write_text(text)
    system = ["-isystem", "/usr/x86_64-w64-mingw32/include"] if "mingw" in target else ["-ffreestanding"]
    command = ["clang-19", f"--target={target}", *STRICT, *includes(), f"-I{tmp_path}", *system, "-O1"]
    source = ROOT / f"runtime/core/src/cpu_{file}.c"
    text = call([*command, "-S", "-emit-llvm", source, "-o", "-"])
    assert len(re.findall(rf"call .*@{function}\(", text)) >= calls
    for name in ("gfs_cpu_features", *(["gfs_cpu_identify"] if file == "aarch64" else [])):
        assert re.search(rf"define .*@{name}\(", text)
