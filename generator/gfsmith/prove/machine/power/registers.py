"""Registers of POWER and its calling conventions (64-Bit ELF V2 ABI Specification, 2.2).

The prover stores a vector register as its two doublewords, the left one first, each with its least
significant byte first. So a little-endian lxvd2x loads byte n of memory into byte n. Doubleword 0, which is
also a floating-point register, is bytes 0 to 7. Byte element e of the manual is byte e ^ 7.
"""

from __future__ import annotations

from gfsmith.prove.machine.abi import Abi

MACHINE = "POWER"
GENERAL = (*(f"r{n}" for n in range(32)), "lr", "ctr")
#: vs0 to vs31, of which f0 to f31 are doublewords 0, and v0 to v31 as vs32 to vs63.
VECTORS = 64
VECTOR_BYTES = 16
VMX = 32
STACK_ALIGNMENT = 16

_KEPT_FLOATS = range(14, 32)
_KEPT_VECTORS = range(VMX + 20, VMX + 32)

#: Above the entry r1 a function may write where CR (8) and LR (16) are saved, and nothing else. r2 is up to
#: the entry point. Callers extend integers to doublewords (2.2.3.1).
ELFV2 = Abi(
    name="elfv2",
    arguments=tuple(f"r{n}" for n in range(3, 11)),
    preserved=tuple(f"r{n}" for n in range(13, 32)),
    return_address="lr",
    stack_arguments=96,
    preserved_vectors={**dict.fromkeys(_KEPT_FLOATS, 8), **dict.fromkeys(_KEPT_VECTORS, 16)},
    preserved_conditions=("cr2", "cr3", "cr4"),
    home=(8, 24),
    red_zone=288,
    result="r3",
    extends=True,
)
#: Go's ABI0 for assembly functions (cmd/compile/abi-internal.md, "ppc64 architecture"): all arguments are on
#: the stack, above the 32 bytes where the callee may save CR and LR. r0 is 0, r2 the table of contents, r13
#: the thread and r30 the goroutine. Signal handlers have their own stack, but no red zone is promised.
GO = Abi(
    name="go-ppc64le",
    arguments=(),
    preserved=("r2", "r13", "r30"),
    return_address="lr",
    stack_arguments=32,
    home=(8, 24),
    zeros=("r0",),
)
ABIS = {abi.name: abi for abi in (ELFV2, GO)}
