"""Other architectures: their compilers, emulators and CPUs, and the library built for them."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gfsmith.kernel.architecture import BY_ARCH, Arch, Architecture
from tests.support.library import NATIVE
from tests.support.paths import ROOT

GENERATED = ROOT / "gen_out"
PROGRAMS = ("algebra", "checksums", "features", "probe", "stripes")  # programs that several tests run
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


@dataclass(frozen=True, slots=True)
class Machine:
    """An architecture whose programs run under qemu-user.

    compiler: gcc 12, or clang where gcc lacks an instruction set's intrinsics. cpus: models of qemu-user,
    weakest first, with the features that the library must find there, as runtime/core/src/cpu.h names them
    (from the CPUs' manuals, not from a run).
    """

    architecture: Architecture
    cpus: dict[str, str]
    compiler: str = "gcc"

    @property
    def arch(self) -> str:
        """Return the architecture's name in the generator's lists."""
        return self.architecture.arch.value

    @property
    def triple(self) -> str:
        return self.architecture.triple

    @property
    def qemu(self) -> str:
        return f"qemu-{self.architecture.emulator}-static"

    def compilers(self) -> dict[str, list[str]]:
        """Return the commands of both compilers."""
        return {"gcc": [f"{self.triple}-gcc"], "clang": ["clang-19", f"--target={self.triple}"]}

    @property
    def best(self) -> str:
        return list(self.cpus)[-1]

    def __str__(self) -> str:
        return self.triple


MACHINES = (
    Machine(
        BY_ARCH[Arch.AARCH64],
        {
            "cortex-a57": "ASIMD",
            "a64fx": "ASIMD SVE",
            "max,sve=off": "ASIMD SHA3",
            "max": "ASIMD SHA3 SVE SVE2",
        },
    ),
    Machine(
        BY_ARCH[Arch.POWER],
        {
            "power8": "ALTIVEC VSX207",
            "power9": "ALTIVEC VSX207 VSX300",
            "power10": "ALTIVEC VSX207 VSX300 VSX310",
        },
    ),
    Machine(
        BY_ARCH[Arch.RISCV],
        {
            "rv64": "",
            "rv64,v=true,vext_spec=v1.0,vlen=512": "RVV",
            "rv64,v=true,vext_spec=v1.0,vlen=128": "RVV",
        },
        compiler="clang",
    ),
    Machine(
        BY_ARCH[Arch.S390X],
        {"z900": "", "max,vxeh=off": "VX", "max": "VX VXE"},
    ),
)


@dataclass(frozen=True, slots=True)
class InstructionSet:
    name: str
    arch: str
    features: frozenset[str]


def instruction_sets(arch: str, generated: Path = GENERATED) -> list[InstructionSet]:
    """Return the instruction sets in a library for this architecture, best first."""
    listed = (generated / "isas.inc").read_text()
    archs = dict(re.findall(r"^GFSMITH_ARCH_(\w+) := (\w+)$", (generated / "sources.mk").read_text(), re.M))
    found = [
        InstructionSet(name, archs[name], frozenset(re.findall(r"GFSMITH_CPU_(\w+)", features)))
        for name, features in re.findall(r"^GFSMITH_ISA\((\w+), \w+, (.*)\)$", listed, re.M)
    ]
    return [isa for isa in found if isa.arch in (arch, "portable")]


def supported(machine: Machine, cpu: str) -> list[str]:
    """Return the instruction sets of the build that a CPU supports, best first; dispatch must choose the
    first.
    """
    features = frozenset(machine.cpus[cpu].split())
    return [isa.name for isa in instruction_sets(machine.arch) if isa.features <= features]


def kernel_sources(isa: str) -> list[Path]:
    """Return the kernels of an instruction set in C."""
    sources = sorted((GENERATED / isa).glob("*.c"))
    assert sources, isa
    return sources


def set_source(isa: str) -> Path:
    """Return the source that includes all kernels of an instruction set in C."""
    return GENERATED / f"{isa}.c"


def runtime_sources() -> list[Path]:
    return sorted((ROOT / "runtime/core/src").glob("*.c"))


def includes(generated: Path = GENERATED) -> list[str]:
    return [f"-I{ROOT / 'runtime/core/include'}", f"-I{ROOT / 'runtime/core/src'}", f"-I{generated}"]


def call(command: list[str | Path], cwd: Path = ROOT) -> str:
    """Run a command and return its output. The command must succeed without warnings."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, " ".join(map(str, command)) + "\n" + done.stdout + done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def emulated(
    machine: Machine, program: Path, *arguments: str, cpu: str | None = None, isa: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program of another machine. isa: the value of GFSMITH_ISA there."""
    environment = {name: value for name, value in os.environ.items() if name != "GFSMITH_ISA"}
    if isa is not None:
        environment["GFSMITH_ISA"] = isa
    command = [machine.qemu, "-L", f"/usr/{machine.triple}", "-cpu", cpu or machine.best]
    return subprocess.run([*command, program, *arguments], env=environment, capture_output=True, text=True)


class CrossBuild:
    """The library with all kernels of gen_out for one machine, and programs that use it."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine, self.folder = machine, folder
        self.library = folder / "libgfsmith.a"
        self.compiler = [*machine.compilers()[machine.compiler], *STRICT, *includes()]
        self.isas = [isa.name for isa in instruction_sets(machine.arch)]

    def make(self) -> None:
        for sources in (runtime_sources(), [set_source(isa) for isa in self.isas]):
            call([*self.compiler, "-O1", "-c", *sources], cwd=self.folder)
        self._archive(self.library, [*self.folder.glob("*.o")])
        for name in PROGRAMS:
            self.link(name, self.folder)

    def program(self, name: str) -> Path:
        """Return one of PROGRAMS."""
        return self.folder / name

    def make_single(self, isa: str) -> Path:
        """Build the library for one instruction set, with its kernels and without the source of CPU
        detection.
        """
        folder = self.folder / isa
        folder.mkdir(exist_ok=True)
        sources = [source for source in runtime_sources() if not source.name.startswith("cpu_")]
        call([*self.compiler, "-O1", f"-DGFSMITH_SINGLE_ISA={isa}", "-c", *sources], cwd=folder)
        library = folder / "libgfsmith.a"
        self._archive(library, [*folder.glob("*.o"), self.folder / f"{isa}.o"])
        return library

    def _archive(self, library: Path, objects: list[Path]) -> None:
        library.unlink(missing_ok=True)
        call([f"{self.machine.triple}-ar", "rcs", library, *objects])

    def link(
        self, name: str, output: Path, *flags: str, library: Path | None = None, static: bool = True
    ) -> Path:
        """Link a program of tests/system/runtime/native."""
        target = output / name
        source = NATIVE / f"{name}.c"
        libraries = [library or self.library, "-pthread", *(["-static"] if static else [])]
        call([*self.compiler, "-O1", *flags, source, *libraries, "-o", target])
        return target

    def run(self, program: Path, *arguments: str, cpu: str | None = None) -> str:
        done = emulated(self.machine, program, *arguments, cpu=cpu)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return done.stdout
