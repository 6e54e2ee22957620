"""The instruction sets whose machine code the prover supports, and the calling conventions of files."""

from __future__ import annotations

from iced_x86 import CpuidFeature

from gfsmith.kernel.architecture import ARCHITECTURES, Arch
from gfsmith.kernel.isa import Isa
from gfsmith.prove.machine.architectures import of_machine
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.wasm.semantics.vector import RELAXED

#: Architectures that the prover supports -> the prover's names for them.
MACHINES = {
    Arch.X86_64: "x86-64",
    Arch.AARCH64: "AArch64",
    Arch.POWER: "POWER",
    Arch.RISCV: "RISC-V",
    Arch.S390X: "s390x",
    Arch.WASM: "WebAssembly",
}


def is_provable(isa: Isa) -> bool:
    return isa.arch in MACHINES


def feature_names(machine: str) -> tuple[list[str], list[str]]:
    """Return the features that instruction sets of a machine need, and on x86-64 the names of all features in
    iced-x86. machine: the prover's name."""
    arch = next(arch for arch, name in MACHINES.items() if name == machine)
    known = [feature.name for record in ARCHITECTURES if record.arch is arch for feature in record.features]
    if arch is Arch.WASM:
        known.append(RELAXED)
    decoded = list(filter(str.isupper, dir(CpuidFeature))) if arch is Arch.X86_64 else []
    return known, decoded


def default_abi(image: Image) -> str:
    """Return the calling convention for a file's format."""
    if image.machine == MACHINES[Arch.X86_64]:
        return "ms" if image.format == "coff" else "sysv"
    return next(iter(of_machine(image.machine).abis))
