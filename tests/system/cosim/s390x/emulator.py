"""s390x instructions executed by qemu-user, all in one process: it reads states and writes the resulting
states.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.system.cosim.scalar64.emulator import BLOCK_BYTES, Emulator, compile_machine

HERE = Path(__file__).parent
COMPILER = ("s390x-linux-gnu-gcc", "-static", "-no-pie", "-O1", "-march=z13", "-Wall", "-Werror")
_LAYOUT = struct.Struct(f">8sQ16QQQ512s{BLOCK_BYTES}s")


@dataclass(slots=True)
class Machine:
    """All registers and memory that an instruction may read or write. code: the condition code, 0 to 3."""

    general: list[int]
    code: int
    vectors: list[bytes]
    memory: bytes = field(repr=False)

    def pack(self, instruction: bytes) -> bytes:
        vectors = b"".join(self.vectors)
        return _LAYOUT.pack(instruction, 0, *self.general, self.code << 28, 0, vectors, self.memory)

    @classmethod
    def unpack(cls, data: bytes) -> Machine:
        _, _, *general, code, _, vectors, memory = _LAYOUT.unpack(data)
        rows = [vectors[start : start + 16] for start in range(0, 512, 16)]
        return cls(general, code >> 28 & 3, rows, memory)


class S390xEmulator(Emulator):
    """A z13 or later, with its vector facility."""

    command = ("qemu-s390x-static", "-cpu", "max")
    order = ">"

    def states(self, trials: Sequence[tuple[bytes, Machine]]) -> list[Machine]:
        """Return the states after each instruction. Raises CalledProcessError at a fault."""
        answers = self.answers([machine.pack(instruction) for instruction, machine in trials])
        return [Machine.unpack(answer) for answer in answers]


def build(folder: Path) -> Path:
    """Build the static program."""
    folder.mkdir(parents=True, exist_ok=True)
    compile_machine(COMPILER, HERE, folder / "machine")
    return folder / "machine"
