"""Every single-byte and single-operand mutation of a function's code.

All mutants are as long as the original, so no other instruction moves. No-ops fill up a re-encoded
instruction that is shorter; a longer one is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from iced_x86 import (
    Decoder,
    Encoder,
    FlowControl,
    Instruction,
    OpKind,
    Register,
    RegisterExt,
)

ORIGIN = 0x10000  #: assumed address of the code
_NOP = 0x90
_BYTES = (0x00, 0xFF, _NOP)
_SCALES = (1, 2, 4, 8)
_IMMEDIATES = frozenset(
    kind for name, kind in vars(OpKind).items() if name.startswith("IMMEDIATE") and isinstance(kind, int)
)
_REGISTERS = tuple(
    value for name, value in vars(Register).items() if name.isupper() and isinstance(value, int)
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """The changed code. kind: kind of the change; at: offset of the changed instruction."""

    kind: str
    at: int
    code: bytes


def decode(code: bytes) -> list[Instruction]:
    return list(Decoder(64, code, ip=ORIGIN))


def mutants(code: bytes, vector: int) -> list[Mutant]:
    """Return all mutants, each once. vector: the bytes of a vector, for displacements off by one vector."""
    seen = {code}
    out = []
    for mutant in _all(code, vector):
        if mutant.code not in seen:
            seen.add(mutant.code)
            out.append(mutant)
    return out


def _all(code: bytes, vector: int) -> Iterator[Mutant]:
    instructions = decode(code)
    for instr in instructions:
        start = instr.ip - ORIGIN
        for place in range(start, start + instr.len):
            yield from _byte_mutants(code, start, place)
        yield Mutant("instruction removed", start, without(code, start))
    for instr in instructions:
        yield from _operand_mutants(code, instr, instructions, vector)


def without(code: bytes, at: int) -> bytes:
    """Return the code with the instruction at offset `at` replaced by no-ops."""
    size = Decoder(64, code[at:]).decode().len
    return _patched(code, "", at, bytes([_NOP]) * size).code


def _patched(code: bytes, kind: str, at: int, new: bytes) -> Mutant:
    return Mutant(kind, at, code[:at] + new + code[at + len(new) :])


def _byte_mutants(code: bytes, start: int, place: int) -> Iterator[Mutant]:
    values = [("bit flipped", code[place] ^ 1 << bit) for bit in range(8)]
    values += [("byte set", value) for value in _BYTES]
    for kind, value in values:
        yield Mutant(kind, start, code[:place] + bytes([value]) + code[place + 1 :])


def _operand_mutants(
    code: bytes, instr: Instruction, instructions: list[Instruction], vector: int
) -> Iterator[Mutant]:
    for kind, change in _changes(instr, instructions, vector):
        changed = instr.copy()
        new = _encoded(changed, change)
        if new is not None and len(new) <= instr.len:
            new += bytes([_NOP]) * (instr.len - len(new))
            yield _patched(code, kind, instr.ip - ORIGIN, new)


def _encoded(instr: Instruction, change: Callable[[Instruction], None]) -> bytes | None:
    """Return the bytes after the change, or None if there is no such instruction."""
    encoder = Encoder(64)
    try:
        change(instr)
        encoder.encode(instr, instr.ip)
    except ValueError:
        return None
    return encoder.take_buffer()


Change = tuple[str, Callable[[Instruction], None]]


def _changes(instr: Instruction, instructions: list[Instruction], vector: int) -> Iterator[Change]:
    used = _used_registers(instructions)
    for number in range(instr.op_count):
        kind = instr.op_kind(number)
        if kind == OpKind.REGISTER:
            for register in _others(instr.op_register(number), used):
                yield "register", _set_register(number, register)
        elif kind in _IMMEDIATES:
            for by in (-1, 1):
                yield "immediate", _add_immediate(number, by)
        elif kind == OpKind.MEMORY:
            yield from _memory_changes(instr, used, vector)
    yield from _swaps(instr)
    if instr.flow_control in (FlowControl.CONDITIONAL_BRANCH, FlowControl.UNCONDITIONAL_BRANCH):
        for other in instructions:
            yield "branch target", _set_attribute("near_branch64", other.ip)


def _used_registers(instructions: list[Instruction]) -> frozenset[int]:
    """Return the full registers that the function names, and the ones next to them."""
    used: set[int] = set()
    for instr in instructions:
        registers = [instr.op_register(n) for n in range(instr.op_count)]
        for register in (*registers, instr.memory_base, instr.memory_index, instr.op_mask):
            if register not in (Register.NONE, Register.RIP):
                used.add(RegisterExt.full_register(register))
    return frozenset(used)


def _others(register: int, used: frozenset[int]) -> list[int]:
    """Return registers of the same class and size that the function uses, and the neighbours in number."""
    base, number = RegisterExt.base(register), RegisterExt.number(register)  # type: ignore[arg-type]
    out = []
    for other in _REGISTERS:
        if other == register or RegisterExt.base(other) != base:  # type: ignore[arg-type]
            continue
        near = abs(RegisterExt.number(other) - number) == 1  # type: ignore[arg-type]
        if near or RegisterExt.full_register(other) in used:  # type: ignore[arg-type]
            out.append(other)
    return out


def _memory_changes(instr: Instruction, used: frozenset[int], vector: int) -> Iterator[Change]:
    for by in (-vector, -8, -1, 1, 8, vector):
        yield "displacement", _add_displacement(by)
    if instr.memory_base not in (Register.NONE, Register.RIP):
        for register in _others(instr.memory_base, used):
            yield "base register", _set_attribute("memory_base", register)
    if instr.memory_index != Register.NONE:
        for register in _others(instr.memory_index, used):
            yield "index register", _set_attribute("memory_index", register)
        for scale in _SCALES:
            yield "scale", _set_attribute("memory_index_scale", scale)
    if instr.op_mask != Register.NONE:
        for register in _others(instr.op_mask, used):
            yield "mask", _set_attribute("op_mask", register)


def _swaps(instr: Instruction) -> Iterator[Change]:
    """Yield changes that exchange two register operands."""
    registers = [n for n in range(instr.op_count) if instr.op_kind(n) == OpKind.REGISTER]
    for i in registers:
        for j in registers:
            if i < j:
                yield "operands swapped", _swap(i, j)


def _set_register(number: int, register: int) -> Callable[[Instruction], None]:
    return lambda instr: instr.set_op_register(number, register)  # type: ignore[arg-type]


def _set_attribute(name: str, value: int) -> Callable[[Instruction], None]:
    return lambda instr: setattr(instr, name, value)


def _add_immediate(number: int, by: int) -> Callable[[Instruction], None]:
    return lambda instr: instr.set_immediate_u64(number, (instr.immediate(number) + by) % (1 << 64))


def _add_displacement(by: int) -> Callable[[Instruction], None]:
    def change(instr: Instruction) -> None:
        instr.memory_displacement = (instr.memory_displacement + by) % (1 << 64)
        if instr.memory_displ_size == 0:
            instr.memory_displ_size = 1

    return change


def _swap(i: int, j: int) -> Callable[[Instruction], None]:
    def change(instr: Instruction) -> None:
        first, second = instr.op_register(i), instr.op_register(j)
        instr.set_op_register(i, second)
        instr.set_op_register(j, first)

    return change
