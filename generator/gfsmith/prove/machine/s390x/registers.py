"""Registers of s390x and its calling convention (ELF Application Binary Interface s390x Supplement, 1.2).

The prover stores byte n of a vector register, counted from the left, as byte n, so that vl loads byte n of
memory into byte n. A floating-point register is the left doubleword of a vector register. In a general
register, which the prover stores with its least significant byte first, the order is opposite to memory's.
"""

from __future__ import annotations

from gfsmith.prove.machine.abi import Abi

MACHINE = "s390x"
GENERAL = tuple(f"r{n}" for n in range(16))
VECTORS = 32
VECTOR_BYTES = 16
STACK_ALIGNMENT = 8

#: The caller provides 160 bytes above the entry r15, in which a function saves registers. The first word is
#: the caller's back chain, the second one is reserved.
ELF = Abi(
    name="s390x",
    arguments=tuple(f"r{n}" for n in range(2, 7)),
    preserved=tuple(f"r{n}" for n in range(6, 14)),
    return_address="r14",
    stack_arguments=160,
    preserved_vectors=dict.fromkeys(range(8, 16), 8),
    home=(16, 160),
)
ABIS = {ELF.name: ELF}
