"""Emulated CPUs, and the harness as a static program for each machine.

`EMULATIONS` lists the CPUs that execute the kernels of each instruction set: a new set needs a row there.
Each machine has one program with all its kernels (harness/program/main.c); emulator.py communicates with
it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gfsmith.kernel.architecture import BY_ARCH, Arch, Architecture
from tests.support.paths import ROOT
from tests.system.kernels.lists import ARCHS, WIDTHS, Kernel, all_kernels_of
from tests.system.kernels.sweeping import OTHER_POLYNOMIALS

HERE = Path(__file__).parent

COMPILER = "clang-19"

#: In the order of the file of multiplication tables.
POLYNOMIALS = (0x11D, *OTHER_POLYNOMIALS)


@dataclass(frozen=True, slots=True)
class Machine:
    """An architecture and its folder in harness/, which has the name of its emulator.

    The kernels are compiled for the architecture's baseline CPU; each kernel enables its own instructions.
    """

    architecture: Architecture
    assembler: tuple[str, ...] = ()  #: flags that the trampoline needs
    compiler: tuple[str, ...] = (COMPILER, "-fno-pie")
    linker: tuple[str, ...] = (COMPILER, "-fuse-ld=lld")

    @property
    def name(self) -> str:
        return self.architecture.emulator

    @property
    def arch(self) -> str:
        """Return the architecture's name in the generator's lists."""
        return self.architecture.arch.value

    @property
    def triple(self) -> str:
        return self.architecture.triple

    @property
    def emulator(self) -> str:
        return f"qemu-{self.name}-static"


AARCH64 = Machine(BY_ARCH[Arch.AARCH64])
PPC64LE = Machine(BY_ARCH[Arch.POWER], ("-mcpu=power8",))
RISCV64 = Machine(BY_ARCH[Arch.RISCV])
S390X = Machine(BY_ARCH[Arch.S390X])
MACHINES = (AARCH64, PPC64LE, RISCV64, S390X)


@dataclass(frozen=True, slots=True)
class Emulation:
    """Kernels of `isa` on a CPU (by qemu's name) with vectors of `vector_bytes`.

    The CPU is the weakest model of qemu for the set, so that a kernel with instructions beyond the set
    faults. Only for scalable sets does the vector length depend on the CPU.
    """

    isa: str
    machine: Machine
    cpu: str
    vector_bytes: int

    def __str__(self) -> str:
        return f"{self.machine.name}-{8 * self.vector_bytes}"


def scalable(isa: str, machine: Machine, cpu: str, length: str) -> Iterator[Emulation]:
    """The same kernels at three vector lengths, inserted into the option `length`."""
    for size in (16, 32, 64):
        yield Emulation(isa, machine, f"{cpu},{length.format(bytes=size, bits=8 * size)}", size)


EMULATIONS = (
    Emulation("scalar", AARCH64, "cortex-a53", 8),
    Emulation("scalar", PPC64LE, "power8", 8),
    Emulation("scalar", RISCV64, "rv64", 8),
    Emulation("scalar", S390X, "qemu,vx=off", 8),
    Emulation("neon", AARCH64, "cortex-a53", 16),
    Emulation("neon_sha3", AARCH64, "max,sve=off", 16),
    *scalable("sve", AARCH64, "a64fx", "sve-default-vector-length={bytes}"),
    *scalable("sve2", AARCH64, "max", "sve-default-vector-length={bytes}"),
    Emulation("altivec", PPC64LE, "power8", 16),
    Emulation("vsx", PPC64LE, "power8", 16),
    Emulation("vsx_p10", PPC64LE, "power10", 16),
    *scalable("rvv", RISCV64, "rv64,v=true,vext_spec=v1.0", "vlen={bits}"),
    Emulation("vx", S390X, "qemu", 16),
)


def covered_by(emulation: Emulation, kernels: Sequence[Kernel]) -> list[Kernel]:
    return [kernel for kernel in kernels if kernel.isa == emulation.isa]


def kernels_for(machine: Machine, kernels: Sequence[Kernel]) -> list[Kernel]:
    """Return the kernels that the lists contain when they are compiled for a machine."""
    return [kernel for kernel in kernels if ARCHS[kernel.isa] in (machine.arch, "portable")]


# ---- the program ----


def run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr}")


def unity_sources(folder: Path, generated: Path, kernels: Sequence[Kernel]) -> list[Path]:
    """Write one source for each instruction set that includes all its kernels: the headers of intrinsics are
    long, and a process for each kernel takes longer than its assembly.
    """
    places = {path.stem: path for path in generated.glob("*/*.[cS]")}
    written: dict[Path, list[str]] = {}
    for kernel in kernels:
        place = places[kernel.symbol]
        written.setdefault(folder / f"{kernel.isa}{place.suffix}", []).append(f'#include "{place}"\n')
    for path, lines in written.items():
        path.write_text("".join(lines))
    return sorted(written)


def build_program(
    machine: Machine,
    folder: Path,
    lists: Path,
    kernel_sources: Sequence[Path],
    extra_flags: Sequence[str] = (),
) -> Path:
    """Compile the harness for the lists in a folder, with the sources of all listed kernels."""
    parts = [*HERE.glob("harness/*.c"), *HERE.glob(f"harness/{machine.name}/*.c")]
    parts.append(HERE / "harness" / "program" / "main.c")
    command = [*machine.compiler, f"--target={machine.triple}", "-O2", "-c"]
    includes = [f"-I{path}" for path in (lists, ROOT / "runtime/core/include", ROOT / "runtime/core/src")]
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    # Matrices that only kernels for other machines use are unused here.
    strict = ["-std=c11", *warnings, WIDTHS, "-Wno-unused-const-variable", *extra_flags]
    assembly = [HERE / "harness" / machine.name / "trampoline.S"]
    assembly += [source for source in kernel_sources if source.suffix == ".S"]
    jobs = [[*command, *includes, "-std=c11", source] for source in kernel_sources if source.suffix == ".c"]
    jobs += [[*command, *includes, *strict, part] for part in sorted(parts)]
    jobs += [[*command, *machine.assembler, source] for source in assembly]
    objects = [folder / f"{number}.o" for number in range(len(jobs))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, ([*job, "-o", object_] for job, object_ in zip(jobs, objects, strict=True))))
    program = folder / "harness"
    run([*machine.linker, f"--target={machine.triple}", "-static", *objects, "-o", program])
    return program


def build_generated(machine: Machine, folder: Path, generated: Path) -> Path:
    """Build the program with the generated kernels for a machine."""
    sources = unity_sources(folder, generated, kernels_for(machine, all_kernels_of(generated)))
    return build_program(machine, folder, generated, sources)


def build_selftest(machine: Machine, folder: Path) -> Path:
    """Build the program with the kernels of selftest/."""
    here = HERE / "selftest"
    own = here / machine.name
    flags = [f"-I{own}", "-DHARNESS_WATCHDOG_SECONDS=3"]
    return build_program(machine, folder, here, [*sorted(here.glob("*.c")), own / "bad_abi.S"], flags)
