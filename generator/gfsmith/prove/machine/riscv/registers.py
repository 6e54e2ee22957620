"""Registers of RISC-V and its calling convention (RISC-V ELF psABI Specification 1.0, chapters 1 and 2).

The prover holds vl and vtype as two more registers. No other state of the vector unit changes a result here:
vstart is 0 on entry and after each vector instruction, and there is no semantics for fixed-point numbers.
"""

from __future__ import annotations

from gfsmith.prove.machine.abi import Abi

MACHINE = "RISC-V"
VL, VTYPE = "vl", "vtype"
GENERAL = (*(f"x{n}" for n in range(1, 32)), VL, VTYPE)
ZERO, LINK, STACK_POINTER = "x0", "x1", "x2"
VECTORS = 32
STACK_ALIGNMENT = 16
#: VLEN / 8 of every processor with V: powers of two from Zvl128b on, up to 2^16 bits (Vector Extension 1.0,
#: chapters 2 and 18.3).
VECTOR_BYTES = tuple(1 << n for n in range(4, 14))

#: Vectors on the stack beyond 64 KiB, twice those of a signal frame: registers of 8 KiB need larger stacks.
_STACK_VECTORS = 64
_GUARD = 1 << 20  #: Linux leaves a gap of 256 pages

#: Callers extend integers of 32 bits by copies of bit 31 (2.1). The names of tp and gp are x4 and x3. No
#: floating-point register can change, because no instruction that writes one has semantics.
LP64D = Abi(
    name="lp64d",
    arguments=tuple(f"x{n}" for n in range(10, 18)),
    preserved=("x3", "x4", "x8", "x9", *(f"x{n}" for n in range(18, 28))),
    return_address=LINK,
    stack_arguments=0,
    result="x10",
    extends=True,
    guard=_GUARD,
    stack_vectors=_STACK_VECTORS,
)
ABIS = {LP64D.name: LP64D}
