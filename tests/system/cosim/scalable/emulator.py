"""AArch64 instructions executed by qemu-user with scalable vectors of a given length."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from tests.system.cosim.scalar64 import emulator as scalar64
from tests.system.cosim.scalar64.emulator import BLOCK_BYTES, Emulator, Machine, compile_machine

HERE = Path(__file__).parent
_MOST = 256  #: bytes of the longest vector
_LAYOUT = struct.Struct(f"<8sQ31QQQQ{32 * _MOST}s{16 * _MOST // 8}s{BLOCK_BYTES}s")


def build(folder: Path) -> Path:
    """Build the static program."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "machine"
    compile_machine(scalar64.COMPILER, HERE, program)
    return program


class ScalableEmulator(Emulator):
    """vector: bytes of a vector."""

    def __init__(self, program: Path, vector: int) -> None:
        self.vector = vector
        self.command = ("qemu-aarch64-static", "-cpu", f"max,sve-default-vector-length={vector}")
        super().__init__(program)

    def states(self, trials: Sequence[tuple[bytes, Machine]]) -> list[Machine]:
        """Return the states after each instruction. Raises CalledProcessError at a fault."""
        packed = [self._pack(instruction, machine) for instruction, machine in trials]
        return [self._unpack(answer) for answer in self.answers(packed)]

    def _pack(self, instruction: bytes, machine: Machine) -> bytes:
        vectors = b"".join(vector.ljust(_MOST, b"\0") for vector in machine.vectors)
        predicates = b"".join(bits.to_bytes(_MOST // 8, "little") for bits in machine.predicates)
        registers = (*machine.general, machine.sp, machine.nzcv)
        return _LAYOUT.pack(instruction, 0, *registers, 0, vectors, predicates, machine.memory)

    def _unpack(self, data: bytes) -> Machine:
        _, _, *general, sp, nzcv, _, vectors, predicates, memory = _LAYOUT.unpack(data)
        rows = [vectors[start : start + self.vector] for start in range(0, 32 * _MOST, _MOST)]
        size = self.vector // 8
        parts = [predicates[start : start + size] for start in range(0, len(predicates), _MOST // 8)]
        return Machine(general, sp, nzcv, rows, memory, [int.from_bytes(part, "little") for part in parts])
