"""Bits of general registers: logic, shifts and fields, after the Arm Architecture Reference Manual, C6.2.

The operands are plain numbers. They may be data where bits are moved by a constant or added. The result for
an unknown number follows from its linear form.
"""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import Decoded, General, Immediate, Operand
from gfsmith.prove.machine.aarch64.semantics.operands import (
    SPAN,
    Semantics,
    as_bytes,
    general,
    immediate,
    number,
    read,
    word,
    wrap,
    write,
)
from gfsmith.prove.machine.crc32 import CRC32, CRC32C, crc32
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import shift_number
from gfsmith.prove.machine.linear import Linear, Word, base, scale
from gfsmith.prove.machine.register_values import checked
from gfsmith.prove.machine.state import Alignment, Difference, Known, State
from gfsmith.prove.machine.substitution import field, low_bits, masked

_SIZES = {"b": 1, "h": 2, "w": 4, "x": 8}  #: bytes of data of a crc32 instruction, by its last letter


def logic_flags(result: int, size: int) -> Known:
    """Return the flags after ands: the carry is clear, as after a borrow."""
    result %= 1 << 8 * size
    return Known(True, result == 0, result >> 8 * size - 1 == 1, False)


def _operands(state: State, first: Operand, second: Operand, instr: Decoded) -> tuple[Word, int]:
    """Return a word and a mask. A mask of 32 bits needs no bits of the word above them."""
    if general(first).size == 4 and isinstance(second, Immediate) and not general(first).shift:
        return word(state, general(first)._replace(size=8), instr), second.value % (1 << 32)
    left, right = word(state, first, instr), word(state, second, instr)
    if isinstance(left, int):
        left, right = right, left
    if not isinstance(right, int):
        raise Unsupported(f"{instr} on {left} and {right}")
    return left, right % SPAN


def _and_operation(flags: bool) -> Semantics:
    """and, ands, tst (which has no target)."""

    def run(state: State, instr: Decoded) -> None:
        *target, first, second = instr.operands
        size = general(first).size
        if not target and first == second:
            state.flags = Difference(word(state, first, instr), 0, size, logical=True)
            return
        left, mask = _operands(state, first, second, instr)
        if flags and not target and _tests_addresses(state, left, mask):
            return
        result = masked(state, left, mask)
        if flags and isinstance(result, int):
            state.flags = logic_flags(result, size)
        elif flags:
            state.flags = Difference(result, 0, size, logical=True)
        if target:
            write(state, general(target[0]), checked(state, result, size))

    return run


def _tests_addresses(state: State, left: Word, mask: int) -> bool:
    """tst of an address: whether it is a multiple."""
    if not isinstance(left, Linear) or base(left) is None or low_bits(left, mask) is not None:
        return False
    if mask & mask + 1:
        return False
    state.flags = Alignment(frozenset({left}), mask)
    return True


def _bitwise(combine: Callable[[int, int], int]) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        target, first, second = instr.operands
        result = combine(number(state, first, instr), number(state, second, instr))
        write(state, general(target), result)

    return run


def _holds_data(state: State, operand: Operand) -> bool:
    """Return True if an operand is a register that holds data bytes."""
    return isinstance(operand, General) and isinstance(read(state, operand), tuple)


def _exclusive_or(right: bool) -> Semantics:
    """eor: of data too. right: the last operand is shifted to the right, else to the left."""

    def run(state: State, instr: Decoded) -> None:
        target, first, second = instr.operands
        if not (right or _holds_data(state, first) or _holds_data(state, second)):
            _bitwise(lambda a, b: a ^ b)(state, instr)
            return
        size, by = general(target).size, general(second).shift
        kept, moved = (as_bytes(read(state, general(operand)), size) for operand in (first, second))
        result = domain.xor(kept, shift_number(moved, by if right else -by))
        write(state, general(target), result)

    return run


def _crc32(polynomial: int) -> Semantics:
    """crc32cb to crc32cx, and crc32b to crc32x: the mnemonic ends with the size of the data."""

    def run(state: State, instr: Decoded) -> None:
        target, first, second = map(general, instr.operands)
        register, data = as_bytes(read(state, first), 4), as_bytes(read(state, second), second.size)
        size = _SIZES[instr.mnemonic[-1]]
        write(state, target, crc32(polynomial, register, domain.cut(data, 0, size)))

    return run


def _shift(left: bool) -> Semantics:
    """lsl, lsr by a constant."""

    def run(state: State, instr: Decoded) -> None:
        target, first, second = instr.operands
        size, count = general(target).size, immediate(second)
        value = read(state, general(first))
        if isinstance(value, tuple):
            write(state, general(target), shift_number(value, -count if left else count))
        elif left:
            result = wrap(scale(word(state, first, instr), 1 << count), size)
            write(state, general(target), checked(state, result, size))
        else:
            write(state, general(target), field(state, word(state, first, instr), count, 8 * size - count))

    return run


def _extract(state: State, instr: Decoded) -> None:
    """extr: a register out of two, the first the higher one, from a bit on."""
    target, high, low, at = instr.operands
    size = general(target).size
    both = [run for each in (low, high) for run in as_bytes(read(state, general(each)), size)]
    moved = shift_number(domain.merge(both), immediate(at))
    write(state, general(target), domain.cut(moved, 0, size))


def _field(state: State, instr: Decoded) -> None:
    """ubfx, ubfiz: a field of a number, taken from or put to a place."""
    target, first, place, width = instr.operands
    value, at, bits = word(state, first, instr), immediate(place), immediate(width)
    if instr.mnemonic == "ubfx":
        write(state, general(target), field(state, value, at, bits))
    else:
        write(state, general(target), scale(field(state, value, 0, bits), 1 << at))


def _insert(state: State, instr: Decoded) -> None:
    """bfi."""
    target, first, place, width = instr.operands
    mask, at = (1 << immediate(width)) - 1, immediate(place)
    old, new = number(state, target, instr), number(state, first, instr)
    write(state, general(target), old & ~(mask << at) | (new & mask) << at)


def _logic(name: str, meaning: Semantics) -> dict[str, Semantics]:
    return forms(meaning, *(f"{name} {r} {r} {last}" for r in "xw" for last in (r, f"{r} lsl", "#")))


def _checks(name: str, polynomial: int) -> dict[str, Semantics]:
    return forms(_crc32(polynomial), *(f"{name}{size} w w {'x' if size == 'x' else 'w'}" for size in _SIZES))


TABLE: dict[str, Semantics] = {
    **_logic("and", _and_operation(flags=False)),
    **_logic("ands", _and_operation(flags=True)),
    **forms(_and_operation(flags=True), "tst x x", "tst w w", "tst x #", "tst w #"),
    **_logic("orr", _bitwise(lambda a, b: a | b)),
    **_logic("eor", _exclusive_or(right=False)),
    **forms(_exclusive_or(right=True), "eor x x x lsr", "eor w w w lsr"),
    **_checks("crc32c", CRC32C),
    **_checks("crc32", CRC32),
    **forms(_bitwise(lambda a, b: a & ~b), "bic x x x", "bic w w w"),
    **forms(_shift(left=True), "lsl x x #", "lsl w w #"),
    **forms(_shift(left=False), "lsr x x #", "lsr w w #"),
    **forms(_extract, "extr x x x #", "extr w w w #"),
    **forms(_field, "ubfx x x # #", "ubfx w w # #", "ubfiz x x # #", "ubfiz w w # #"),
    **forms(_insert, "bfi x x # #", "bfi w w # #"),
}
