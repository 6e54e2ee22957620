"""AArch64 instructions executed by qemu-user, all in one process: it reads states and writes the resulting
states.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
COMPILER = ("aarch64-linux-gnu-gcc", "-static", "-O1", "-Wall", "-Werror")
MACHINE = HERE / "machine.c"
EMULATOR = ("qemu-aarch64-static", "-cpu", "max")

BLOCK_BYTES = 512
_LAYOUT = struct.Struct(f"<8sQ31QQQQ512s{BLOCK_BYTES}s")
_NZCV = ("n", "z", "c", "v")


@dataclass(slots=True)
class Machine:
    """All registers and memory that an instruction may read or write."""

    general: list[int]
    sp: int
    nzcv: int
    vectors: list[bytes]
    memory: bytes = field(repr=False)
    predicates: list[int] = field(default_factory=list)

    def flag(self, name: str) -> bool:
        return bool(self.nzcv >> 31 - _NZCV.index(name) & 1)

    def pack(self, instruction: bytes) -> bytes:
        vectors = b"".join(self.vectors)
        return _LAYOUT.pack(instruction, 0, *self.general, self.sp, self.nzcv, 0, vectors, self.memory)

    @classmethod
    def unpack(cls, data: bytes) -> Machine:
        _, _, *general, sp, nzcv, _, vectors, memory = _LAYOUT.unpack(data)
        rows = [vectors[start : start + 16] for start in range(0, 512, 16)]
        return cls(general, sp, nzcv, rows, memory)


def build(folder: Path) -> Path:
    """Build the static program."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "machine"
    compile_machine(COMPILER, HERE, program)
    return program


def compile_machine(compiler: Sequence[str], folder: Path, program: Path) -> None:
    """Compile machine.c with a processor's state.h and trampoline.S."""
    sources = [str(MACHINE), str(folder / "trampoline.S")]
    subprocess.run([*compiler, f"-I{folder}", "-o", str(program), *sources], check=True)


class Emulator:
    """slot: the address at which instructions are executed; block: the address of the memory. order: struct's
    sign of the byte order. vector: bytes of a vector."""

    command: Sequence[str] = EMULATOR
    order = "<"
    vector = 16

    def __init__(self, program: Path) -> None:
        self._command = [*self.command, str(program)]
        done = subprocess.run(self._command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        self.slot, self.block = struct.unpack(f"{self.order}QQ", done.stdout)

    def states(self, trials: Sequence[tuple[bytes, Machine]]) -> list[Machine]:
        """Return the states after each instruction. Raises CalledProcessError at a fault."""
        answers = self.answers([machine.pack(instruction) for instruction, machine in trials])
        return [Machine.unpack(answer) for answer in answers]

    def answers(self, packed: Sequence[bytes]) -> list[bytes]:
        """Like run, on states in the format of machine.c."""
        done = subprocess.run(self._command, input=b"".join(packed), capture_output=True, check=True)
        size = len(packed[0])
        answers = [done.stdout[at : at + size] for at in range(16, len(done.stdout), size)]
        assert len(answers) == len(packed)
        return answers
