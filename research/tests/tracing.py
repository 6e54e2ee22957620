"""The addresses that the machine code of a kernel touches, recorded one instruction at a time.

The processor's trap flag stops after every instruction. For each one iced-x86 lists the accesses, and the
recorded registers give the addresses. The module uses no part of gfsmith but the code.
"""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from iced_x86 import Decoder, InstructionInfoFactory, MemorySizeExt, Mnemonic, OpAccess, Register

from gfsmith.build.generate import generate_one
from gfsmith.emit import lists
from gfsmith.kernel.spec import KernelSpec
from gfsmith.kernel.tables import table

HERE = Path(__file__).resolve().parent
ROOM = 1 << 18
_ORDER = (
    *("R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"),
    *("RDI", "RSI", "RBP", "RBX", "RDX", "RAX", "RCX", "RSP", "RIP"),
)
_REGISTER = {getattr(Register, name): n for n, name in enumerate(_ORDER)}
_PREFETCHES = (Mnemonic.PREFETCHT0, Mnemonic.PREFETCHT1, Mnemonic.PREFETCHT2, Mnemonic.PREFETCHNTA)
_WRITES = (OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE)
#: Address and spacing of the targets of prefetch pointers, which lie outside of this process's memory.
AHEAD, APART = 1 << 52, 1 << 24


@dataclass(frozen=True, slots=True)
class Touch:
    """what: load, store, stream or prefetch. shard: sources, then destinations; for a prefetch through a
    pointer, the pointer, and ahead is true."""

    what: str
    ahead: bool
    shard: int
    offset: int
    size: int


def build(spec: KernelSpec, folder: Path) -> ctypes.CDLL:
    """Build tracer.c and the kernel as one library."""
    made = generate_one(spec)
    for name, text in {**lists.build([spec]), made.path: made.text}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    library = folder / "traced.so"
    flags = ("-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-Wl,-z,noexecstack")
    own = ("-DGFSMITH_SHOW_KERNELS", f"-I{folder}", "-o", library, HERE / "tracer.c", folder / made.path)
    subprocess.run(["cc", *flags, *own], check=True)
    return ctypes.CDLL(str(library))


def _rows(count: int, length: int) -> list[np.ndarray]:
    """Return buffers that begin with a device line and are far apart."""
    whole = [np.zeros(length + 4096, np.uint8) for _ in range(count)]
    return [row[(-row.ctypes.data) % 256 :][:length] for row in whole]


class Tracer:
    """One kernel on k sources and m destinations of `length` bytes."""

    def __init__(self, spec: KernelSpec, k: int, length: int, folder: Path) -> None:
        self.spec, self.k, self.length = spec, k, length
        self.shards = _rows(k + spec.outputs, length)
        self.factory = InstructionInfoFactory()
        self.library = build(spec, folder)

    def touches(self) -> list[Touch]:
        spec, k = self.spec, self.k
        lines = spec.block // 64 if spec.pipelined else 0
        sources = [row.ctypes.data for row in self.shards[:k]]
        sources += [AHEAD + n * APART for n in range(k * lines)]
        rows = [[(3 * i + j) % 255 + 1 for j in range(k)] for i in range(spec.outputs)]
        coefficients = table(spec.field, spec.tables, rows)
        records = np.zeros((ROOM, len(_ORDER)), np.uint64)
        taken = self.library.trace(
            ctypes.cast(getattr(self.library, spec.symbol), ctypes.c_void_p),
            ctypes.c_size_t(self.length),
            ctypes.c_size_t(k),
            coefficients,
            (ctypes.c_void_p * len(sources))(*sources),
            (ctypes.c_void_p * spec.outputs)(*(row.ctypes.data for row in self.shards[k:])),
            ctypes.c_void_p(records.ctypes.data),
            ctypes.c_size_t(ROOM),
        )
        assert taken <= ROOM, "the trace does not fit"
        return [touch for record in records[:taken].tolist() for touch in self._of(record)]

    def _of(self, record: list[int]) -> list[Touch]:
        address = record[_REGISTER[Register.RIP]]
        instruction = Decoder(64, ctypes.string_at(address, 15), ip=address).decode()
        if instruction.mnemonic in _PREFETCHES:
            at = self._address(instruction.memory_base, instruction.memory_index, instruction, record)
            return self._touch("prefetch", at, 64)
        found = []
        for memory in self.factory.info(instruction).used_memory():
            if memory.access == OpAccess.NO_MEM_ACCESS:
                continue
            at = self._address(memory.base, memory.index, memory, record)
            kind = "load"
            if memory.access in _WRITES:
                streams = instruction.mnemonic in (Mnemonic.MOVNTDQ, Mnemonic.VMOVNTDQ)
                kind = "stream" if streams else "store"
            found += self._touch(kind, at, MemorySizeExt.size(memory.memory_size))
        return found

    def _address(self, base: int, index: int, operand: object, record: list[int]) -> int:
        displacement = getattr(operand, "memory_displacement", None)
        scale = getattr(operand, "memory_index_scale", None)
        if displacement is None:
            displacement, scale = operand.displacement, operand.scale  # type: ignore[attr-defined]
        at = displacement
        at += record[_REGISTER[base]] if base in _REGISTER else 0
        at += scale * record[_REGISTER[index]] if index in _REGISTER else 0
        return int(at % (1 << 64))

    def _touch(self, kind: str, at: int, size: int) -> list[Touch]:
        """Return the touches of shards; none for other addresses: tables, pointers, the stack."""
        if at >= AHEAD and kind == "prefetch":
            return [Touch(kind, True, (at - AHEAD) // APART, (at - AHEAD) % APART, size)]
        for number, row in enumerate(self.shards):
            start = row.ctypes.data
            if start <= at < start + self.length or start <= at + size - 1 < start + self.length:
                return [Touch(kind, False, number, at - start, size)]
        return []
