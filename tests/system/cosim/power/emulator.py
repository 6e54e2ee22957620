"""POWER instructions executed by qemu-user, all in one process: it reads states and writes the resulting
states.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.system.cosim.scalar64.emulator import BLOCK_BYTES, Emulator, compile_machine

HERE = Path(__file__).parent
COMPILER = ("powerpc64le-linux-gnu-gcc", "-static", "-no-pie", "-O1", "-mcpu=power8", "-Wall", "-Werror")
_LAYOUT = struct.Struct(f"<8sQ32QQQQQ1024s{BLOCK_BYTES}s")
_BITS = ("lt", "gt", "eq", "so")


@dataclass(slots=True)
class Machine:
    """All registers and memory that an instruction may read or write. general: r0 to r31, lr, ctr."""

    general: list[int]
    cr: int
    xer: int
    vectors: list[bytes]
    memory: bytes = field(repr=False)

    def bit(self, number: int, name: str) -> bool:
        """Return a bit of a field of the condition register."""
        return bool(self.cr >> 31 - (4 * number + _BITS.index(name)) & 1)

    @property
    def carry(self) -> bool:
        return bool(self.xer >> 29 & 1)

    def pack(self, instruction: bytes) -> bytes:
        return _LAYOUT.pack(
            instruction, 0, *self.general, self.cr, self.xer, b"".join(self.vectors), self.memory
        )

    @classmethod
    def unpack(cls, data: bytes) -> Machine:
        _, _, *general, cr, xer, vectors, memory = _LAYOUT.unpack(data)
        rows = [vectors[start : start + 16] for start in range(0, 1024, 16)]
        return cls(general, cr, xer, rows, memory)


#: The processors, oldest first.
CPUS = ("power8", "power10")


class PowerEmulator(Emulator):
    """One of CPUS, on which newer instructions fault."""

    def __init__(self, program: Path, cpu: str) -> None:
        self.command = ("qemu-ppc64le-static", "-cpu", cpu)
        super().__init__(program)

    def states(self, trials: Sequence[tuple[bytes, Machine]]) -> list[Machine]:
        """Return the states after each instruction. Raises CalledProcessError at a fault."""
        answers = self.answers([machine.pack(instruction) for instruction, machine in trials])
        return [Machine.unpack(answer) for answer in answers]


def build(folder: Path) -> Path:
    """Build the static program."""
    folder.mkdir(parents=True, exist_ok=True)
    compile_machine(COMPILER, HERE, folder / "machine")
    return folder / "machine"
