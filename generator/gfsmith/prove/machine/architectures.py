"""The processors that the prover supports, by calling convention."""

from __future__ import annotations

from gfsmith.prove.machine.aarch64.architecture import AArch64
from gfsmith.prove.machine.architecture import Architecture
from gfsmith.prove.machine.power.architecture import Power
from gfsmith.prove.machine.riscv.architecture import RiscV
from gfsmith.prove.machine.s390x.architecture import S390x
from gfsmith.prove.machine.wasm.architecture import WebAssembly
from gfsmith.prove.machine.x86.architecture import X86

ALL: tuple[Architecture, ...] = (X86(), AArch64(), Power(), RiscV(), S390x(), WebAssembly())
_BY_ABI = {abi: arch for arch in ALL for abi in arch.abis}


def of_abi(name: str) -> Architecture:
    """Return the processor of a calling convention. Raises KeyError."""
    return _BY_ABI[name]


def of_machine(name: str) -> Architecture:
    """Return the processor of an image. Raises KeyError."""
    return {arch.name: arch for arch in ALL}[name]
