"""The instruction sets whose machine code the prover supports, and the calling conventions of files."""

from __future__ import annotations

from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import Isa
from gfsmith.prove.machine.architectures import of_machine
from gfsmith.prove.machine.formats.image import Image

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


def default_abi(image: Image) -> str:
    """Return the calling convention for a file's format."""
    if image.machine == MACHINES[Arch.X86_64]:
        return "ms" if image.format == "coff" else "sysv"
    return next(iter(of_machine(image.machine).abis))
