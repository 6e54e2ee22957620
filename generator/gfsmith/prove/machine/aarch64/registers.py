"""Registers of AArch64 and its calling convention (Arm, Procedure Call Standard, IHI 0055)."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.prove.machine.abi import Abi

MACHINE = "AArch64"
GENERAL = (*(f"x{n}" for n in range(31)), "sp")
VECTORS = 32
VECTOR_BYTES = 16
STACK_ALIGNMENT = 16

#: Linux. x18 is an ordinary register there; there is no red zone.
AAPCS64 = Abi(
    name="aapcs64",
    arguments=tuple(f"x{n}" for n in range(8)),
    preserved=tuple(f"x{n}" for n in range(19, 30)),
    return_address="x30",
    stack_arguments=0,
    preserved_vectors=dict.fromkeys(range(8, 16), 8),
)
#: Windows and macOS keep x18 for themselves.
AAPCS64_X18 = replace(AAPCS64, name="aapcs64-x18", preserved=("x18", *AAPCS64.preserved))
ABIS = {abi.name: abi for abi in (AAPCS64, AAPCS64_X18)}
