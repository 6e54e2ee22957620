"""The library on other machines under qemu-user, also big-endian ones: detection, dispatch, every byte."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from gfsmith.build.requirements import UNPACKED
from tests.support.compiler import Compiler
from tests.support.folders import once
from tests.support.levels import sample
from tests.support.library import NATIVE
from tests.support.machines import (
    MACHINES,
    STRICT,
    CrossBuild,
    Machine,
    call,
    emulated,
    includes,
    instruction_sets,
    kernel_sources,
    runtime_sources,
    set_source,
    supported,
)
from tests.support.paths import ROOT

WRAPPED = ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free")
AARCH64, POWER, RISCV, S390X = MACHINES


class NewerEmulator(Machine):
    """RISC-V under a qemu-user that has the system call by which the library finds carry-less
    multiplications; that of Debian 12 does not."""

    @property
    def qemu(self) -> str:
        return str(UNPACKED / "qemu-riscv64")


RISCV_PROBED = NewerEmulator(RISCV.architecture, RISCV.cpus, RISCV.compiler)
_ZBC = "rv64,zbb=true,zbc=true"
_VECTORS = "v=true,vext_spec=v1.0,vlen=128"
#: Of its sets, only `altivec` and `scalar` have kernels for this byte order. On qemu's 970, memset of the C
#: library writes wrong bytes: dcbz clears 32 bytes there, 128 on a real one.
POWER_BIG_ENDIAN = Machine(
    replace(POWER.architecture, triple="powerpc64-linux-gnu", emulator="ppc64"),
    {"power7": "ALTIVEC", "power8": "ALTIVEC VSX207"},
)
CPUS = [(machine, cpu) for machine in MACHINES for cpu in machine.cpus]

each_machine = pytest.mark.parametrize("machine", MACHINES, ids=str)
#: The little-endian and the big-endian machine whose emulation is fastest.
each_order = pytest.mark.parametrize("machine", sample(MACHINES, AARCH64, S390X), ids=str)
each_cpu = pytest.mark.parametrize(("machine", "cpu"), CPUS, ids=str)


@pytest.fixture
def cross(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> CrossBuild:
    """The library for a machine, built once for all workers."""
    folder = once(tmp_path_factory, machine.triple, lambda path: CrossBuild(machine, path).make())
    return CrossBuild(machine, folder)


@pytest.fixture(scope="module")
def expected(build: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digests of stripes by this machine's portable kernels."""
    program = Compiler(build, tmp_path_factory.mktemp("stripes")).link("stripes")
    return call([program, "scalar"])


def test_stripes_are_the_same_for_every_set_here(compiler: Compiler, isa: str, expected: str) -> None:
    assert call([compiler.link("stripes"), isa]) == expected


@each_cpu
def test_features(cross: CrossBuild, cpu: str) -> None:
    identity, features = cross.run(cross.program("features"), cpu=cpu).splitlines()
    assert features.split()[1:] == cross.machine.cpus[cpu].split()
    # The implementer and part number of a Cortex-A57 (Arm) and an A64FX (Fujitsu).
    known = {"cortex-a57": "[0x41] 0 d07", "a64fx": "[0x46] 0 1"}
    if cpu in known:
        assert identity == f"cpu {known[cpu]}"
    if cross.machine.arch != "aarch64":
        assert identity == "cpu [] 0 0"


@each_cpu
def test_dispatch(cross: CrossBuild, cpu: str) -> None:
    """Dispatch chooses the CPU's best set; all sets of the CPU encode, repair, check and update correctly."""
    output = cross.run(cross.program("probe"), cpu=cpu)
    first, *rest = [line.split(maxsplit=1) for line in output.splitlines()]
    available = supported(cross.machine, cpu)
    assert first == ["chosen", available[0]]
    statuses = dict(rest)
    assert list(statuses) == cross.isas
    assert [name for name, status in statuses.items() if status == "success"] == available
    refused = {status for name, status in statuses.items() if name not in available}
    assert refused <= {"not supported by this CPU or this build"}


@pytest.mark.parametrize(
    "compiler", ["aarch64-linux-gnu-gcc -mbig-endian", "clang-19 --target=aarch64_be-linux-gnu"]
)
def test_sets_of_big_endian_aarch64(compiler: str, tmp_path: Path) -> None:
    """Kernels with scalable vectors load tables in the order of a little-endian machine; clang has no
    intrinsics for another one. So there are none, and dispatch does not know the sets."""
    flags = ["-ffreestanding", "-I", "gen_out", "-x", "c"]
    run = partial(subprocess.run, cwd=ROOT, check=True, capture_output=True, text=True)
    listed = run([*compiler.split(), *flags, "-E", "gen_out/isas.inc"]).stdout
    assert re.findall(r"GFSMITH_ISA\((\w+)", listed) == ["neon_sha3", "neon", "scalar"]
    for isa in ("sve", "sve2"):
        target = tmp_path / f"{isa}.o"
        run([*compiler.split(), *flags, "-c", f"gen_out/{isa}.c", "-o", target])
        assert run(["aarch64-linux-gnu-nm", target]).stdout == ""


@each_machine
def test_environment(cross: CrossBuild) -> None:
    """A supported GFSMITH_ISA is used; otherwise one line lists the allowed values."""
    program = cross.program("probe")
    for name in supported(cross.machine, cross.machine.best):
        done = emulated(cross.machine, program, isa=name)
        assert (done.stdout.splitlines()[0], done.stderr) == (f"chosen {name}", "")
    weakest = next(iter(cross.machine.cpus))
    available = supported(cross.machine, weakest)
    for name in {*cross.isas, "avx2"} - {*available}:
        done = emulated(cross.machine, program, isa=name, cpu=weakest)
        assert done.stdout.startswith(f"chosen {available[0]}\n")
        why = "is not supported by this CPU" if name in cross.isas else "is unknown"
        allowed = f"allowed here: {' '.join(available)}; choosing automatically\n"
        assert done.stderr == f"gfsmith: GFSMITH_ISA={name} {why}; {allowed}"


@each_machine
def test_stripes(cross: CrossBuild, expected: str) -> None:
    """Several codes, shapes, lengths, layouts: every set computes the same bytes as x86."""
    program = cross.program("stripes")
    for isa in supported(cross.machine, cross.machine.best):
        assert cross.run(program, isa) == expected, isa
    for cpu in cross.machine.cpus:
        assert cross.run(program, "", cpu=cpu) == expected, cpu


@each_machine
def test_algebra(cross: CrossBuild, compiler: Compiler) -> None:
    """The portable routines in either byte order give the results of this machine (test_algebra.py)."""
    program = cross.program("algebra")
    assert cross.run(program, "scalar") == cross.run(program) == call([compiler.link("algebra")])


@each_machine
def test_checksums(cross: CrossBuild, compiler: Compiler) -> None:
    """Every set, and tables in either byte order, give the checksums of this machine (test_checksum.py)."""
    program = cross.program("checksums")
    expected = call([compiler.link("checksums")])
    for isa in supported(cross.machine, cross.machine.best):
        assert cross.run(program, isa) == expected, isa


#: A CPU, an instruction set, and the bytes of a block of its checksum routines; 0: it has no carry-less
#: multiplication, or only one of vectors, which the set does not have.
CARRYLESS = [
    *((AARCH64, "cortex-a57", "", 128), (AARCH64, "max", "scalar", 0)),
    *((POWER, "power8", "", 128), (POWER, "power10", "altivec", 128), (POWER, "power8", "scalar", 0)),
    (S390X, "max", "", 0),
    *(
        pytest.param(RISCV_PROBED, cpu, name, block, marks=pytest.mark.needs("riscv"))
        for cpu, name, block in (
            (f"{_ZBC},{_VECTORS}", "", 64),
            (f"{_ZBC},{_VECTORS}", "scalar", 64),
            (f"{_ZBC},v=false", "", 64),
            (f"rv64,zbb=true,zbc=false,{_VECTORS}", "", 0),
            ("rv64,zbb=true,zbc=false,v=false", "", 0),
        )
    ),
    pytest.param(POWER_BIG_ENDIAN, "power7", "", 0, marks=pytest.mark.needs("ppc64")),
    pytest.param(POWER_BIG_ENDIAN, "power8", "", 0, marks=pytest.mark.needs("ppc64")),
]


@pytest.mark.parametrize(("machine", "cpu", "name", "block"), CARRYLESS, ids=str)
def test_carryless_multiplications(
    cross: CrossBuild, cpu: str, name: str, block: int, compiler: Compiler, tmp_path: Path
) -> None:
    """The library finds those of the CPU; the checksums are those of this machine."""
    assert cross.run(cross.link("carryless", tmp_path), name, cpu=cpu) == f"{block}\n"
    assert cross.run(cross.program("checksums"), name, cpu=cpu) == call([compiler.link("checksums")])


def test_algebra_takes_the_same_branches_for_all_data(tmp_path_factory: pytest.TempPathFactory) -> None:
    """qemu logs every block of instructions that a program executes; the test detects a leak."""
    machine = MACHINES[0]
    folder = once(tmp_path_factory, machine.triple, lambda path: CrossBuild(machine, path).make())

    def trace(*arguments: str) -> tuple[str, list[str]]:
        log = folder / f"{os.getpid()}.trace"
        options = ["-d", "exec,nochain", "-D", str(log)]
        output = call([machine.qemu, "-cpu", machine.best, *options, folder / "algebra", *arguments])
        found = re.findall(r"^Trace .*?\[\w+/(\w+)/", log.read_text(), re.MULTILINE)
        log.unlink()
        return output, found

    (output, first), (other, second) = (trace("scalar", seed) for seed in "12")
    assert output != other
    assert len(first) > 10_000 and first == second
    assert trace("scalar", "1", "leak")[1] != trace("scalar", "2", "leak")[1]


@each_order
def test_shapes(cross: CrossBuild, tmp_path: Path) -> None:
    name = supported(cross.machine, cross.machine.best)[0]
    assert cross.run(cross.link("shapes", tmp_path), name, "8") == "ok\n"


@each_order
def test_memory_and_threads(cross: CrossBuild, tmp_path: Path) -> None:
    # Dynamically linked, since the program would count the allocations of a static libc too.
    wrapped = (f"-Wl,--wrap={name}" for name in WRAPPED)
    memory = cross.link("memory", tmp_path, *wrapped, static=False)
    assert cross.run(memory) == "ok\n"
    assert cross.run(cross.link("threads", tmp_path)) == "ok\n"


@each_machine
def test_kernels_for_known_matrices(cross: CrossBuild, tmp_path: Path) -> None:
    """As in test_native.py, the source that reads the lists reads the fake ones."""
    lists = ["-iquote", NATIVE / "fake_set", "-include", "fake_set/kernels.h", f"-I{NATIVE}"]
    program = tmp_path / "baked"
    sources = [NATIVE / "baked.c", ROOT / "runtime/core/src/baked.c", cross.library]
    call([*cross.compiler, "-O1", *lists, *sources, "-static", "-o", program])
    assert cross.run(program) == "ok\n"


@each_order
def test_single_set(cross: CrossBuild, tmp_path: Path, expected: str) -> None:
    """A library for one set has no other, reads neither CPU nor environment, and computes the same."""
    machine = cross.machine
    name = supported(machine, machine.best)[0]
    library = cross.make_single(name)
    symbols = call([f"{machine.triple}-nm", library])
    assert not re.search(r"\bgfs_cpu_|\bgetenv\b|\bfprintf\b", symbols)
    others = [isa for isa in cross.isas if isa != name]
    for other in others:
        assert not any(re.search(rf"\b{source.stem}\b", symbols) for source in kernel_sources(other))
    program = cross.link("probe", tmp_path, f"-DGFSMITH_SINGLE_ISA={name}", library=library)
    done = emulated(machine, program, isa="avx2")
    assert (done.stdout, done.stderr) == (f"chosen {name}\n{name} success\n", "")
    stripes = cross.link("stripes", tmp_path, library=library)
    assert cross.run(stripes, name) == expected
    for other in [*others, "avx2"]:
        refused = emulated(machine, stripes, other)
        assert refused.returncode == 1
        assert "gfsmith_set_isa" in refused.stderr


@pytest.mark.parametrize("machine", sample(MACHINES, POWER, RISCV), ids=str)
def test_second_compiler(machine: Machine, tmp_path: Path) -> None:
    """The other compiler of gcc 12 and clang-19, clang but for RISC-V, also compiles the library and every
    kernel without warnings.
    """
    kernels = [set_source(isa.name) for isa in instruction_sets(machine.arch)]
    (other,) = machine.compilers().keys() - {machine.compiler}
    command = [*machine.compilers()[other], *STRICT, *includes(), "-O0", "-S"]
    command += ["-emit-llvm"] if other == "clang" else []
    call([*command, *runtime_sources(), *kernels], cwd=tmp_path)


def test_table_of_machines_covers_the_build() -> None:
    """Every set of gen_out that can run under qemu-user is the best set of some CPU above, except `altivec`:
    little-endian Linux needs POWER8, so only big-endian CPUs choose it, where
    tests/system/kernels/test_compilers.py runs its kernels."""
    archs = dict(
        re.findall(r"^GFSMITH_ARCH_(\w+) := (\w+)$", (ROOT / "gen_out/sources.mk").read_text(), re.M)
    )
    emulatable = {name for name, arch in archs.items() if arch in {m.arch for m in MACHINES}}
    chosen = {supported(machine, cpu)[0] for machine, cpu in CPUS}
    assert emulatable <= chosen | {"altivec"}
