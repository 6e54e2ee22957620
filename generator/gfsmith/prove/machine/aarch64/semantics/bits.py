"""Bits of general registers: logic, shifts and fields, after the Arm Architecture Reference Manual, C6.2.

The operands are plain numbers. They may be data only where whole bytes are moved or added. The result for an
unknown number follows from its linear form.
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
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.linear import Linear, Word, base, scale
from gfsmith.prove.machine.register_values import checked
from gfsmith.prove.machine.state import Alignment, Difference, Known, State
from gfsmith.prove.machine.substitution import field, low_bits, masked


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
    """Return True if an operand is an unshifted register that holds data bytes."""
    return isinstance(operand, General) and not operand.shift and isinstance(read(state, operand), tuple)


def _exclusive_or(state: State, instr: Decoded) -> None:
    """eor: of data too."""
    target, first, second = instr.operands
    if not (_holds_data(state, first) or _holds_data(state, second)):
        _bitwise(lambda a, b: a ^ b)(state, instr)
        return
    size = general(target).size
    if general(first).shift or general(second).shift:
        raise Unsupported(f"{instr} on data")
    left, right = (as_bytes(read(state, general(operand)), size) for operand in (first, second))
    write(state, general(target), domain.xor(left, right))


def _shift(left: bool) -> Semantics:
    """lsl, lsr by a constant."""

    def run(state: State, instr: Decoded) -> None:
        target, first, second = instr.operands
        size, count = general(target).size, immediate(second)
        value = read(state, general(first))
        if isinstance(value, tuple) and count % 8 == 0:
            gap, kept = domain.zeros(count // 8), domain.cut(value, 0, size)
            moved = (
                [*gap, *domain.cut(kept, 0, size - count // 8)]
                if left
                else [*domain.cut(kept, count // 8, size), *gap]
            )
            write(state, general(target), domain.merge(moved))
        elif left:
            result = wrap(scale(word(state, first, instr), 1 << count), size)
            write(state, general(target), checked(state, result, size))
        else:
            write(state, general(target), field(state, word(state, first, instr), count, 8 * size - count))

    return run


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


TABLE: dict[str, Semantics] = {
    **_logic("and", _and_operation(flags=False)),
    **_logic("ands", _and_operation(flags=True)),
    **forms(_and_operation(flags=True), "tst x x", "tst w w", "tst x #", "tst w #"),
    **_logic("orr", _bitwise(lambda a, b: a | b)),
    **_logic("eor", _exclusive_or),
    **forms(_bitwise(lambda a, b: a & ~b), "bic x x x", "bic w w w"),
    **forms(_shift(left=True), "lsl x x #", "lsl w w #"),
    **forms(_shift(left=False), "lsr x x #", "lsr w w #"),
    **forms(_field, "ubfx x x # #", "ubfx w w # #", "ubfiz x x # #", "ubfiz w w # #"),
    **forms(_insert, "bfi x x # #", "bfi w w # #"),
}
