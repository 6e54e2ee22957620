"""RISC-V instructions executed by qemu-user at one vector length, all in one process: it reads states and
writes the resulting states.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.system.cosim.scalar64.emulator import BLOCK_BYTES, Emulator, compile_machine

HERE = Path(__file__).parent
COMPILER = ("clang-19", "--target=riscv64-linux-gnu", "-march=rv64gcv", "-static", "-O1", "-Wall", "-Werror")
_STRIDE = 128  #: of vectors in struct state
_LAYOUT = struct.Struct(f"<8sQ32QQQ{32 * _STRIDE}s{BLOCK_BYTES}s")


@dataclass(slots=True)
class Machine:
    """All registers and memory that an instruction may read or write. general: x0 to x31."""

    general: list[int]
    vl: int
    vtype: int
    vectors: list[bytes]
    memory: bytes = field(repr=False)

    def pack(self, instruction: bytes) -> bytes:
        vectors = b"".join(vector.ljust(_STRIDE, b"\0") for vector in self.vectors)
        return _LAYOUT.pack(instruction, 0, *self.general, self.vl, self.vtype, vectors, self.memory)

    @classmethod
    def unpack(cls, data: bytes, size: int) -> Machine:
        """Return the machine of an answer; size: bytes of a vector."""
        _, _, *general, vl, vtype, vectors, memory = _LAYOUT.unpack(data)
        rows = [vectors[start : start + size] for start in range(0, 32 * _STRIDE, _STRIDE)]
        return cls(general, vl, vtype, rows, memory)


class RiscVEmulator(Emulator):
    """A processor with vectors of `size` bytes. ones: agnostic elements become all ones."""

    def __init__(self, program: Path, size: int, ones: bool) -> None:
        self.size = size
        agnostic = f"rvv_ta_all_1s={str(ones).lower()},rvv_ma_all_1s={str(ones).lower()}"
        cpu = f"rv64,v=true,vext_spec=v1.0,vlen={8 * size},elen=64,zbb=true,zbc=true,{agnostic}"
        self.command = ("qemu-riscv64-static", "-cpu", cpu)
        super().__init__(program)

    def states(self, trials: Sequence[tuple[bytes, Machine]]) -> list[Machine]:
        """Return the states after each instruction. Raises CalledProcessError at a fault."""
        answers = self.answers([machine.pack(instruction) for instruction, machine in trials])
        return [Machine.unpack(answer, self.size) for answer in answers]


def build(folder: Path) -> Path:
    """Build the static program."""
    folder.mkdir(parents=True, exist_ok=True)
    compile_machine(COMPILER, HERE, folder / "machine")
    return folder / "machine"
