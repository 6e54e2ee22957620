"""Numbers and addresses in general registers, after the Arm Architecture Reference Manual, C6.2.

Flags are kept as the subtraction that made them, so that a branch can be decided for all values at once.
"""

from __future__ import annotations

from dataclasses import replace

from gfsmith.prove.machine.aarch64.decode import Decoded
from gfsmith.prove.machine.aarch64.semantics.operands import (
    CONDITIONS,
    Semantics,
    general,
    immediate,
    number,
    place,
    read,
    total,
    word,
    wrap,
    write,
)
from gfsmith.prove.machine.branch import Split, decide
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.linear import Linear, Word, scale, subtract
from gfsmith.prove.machine.modular import signed
from gfsmith.prove.machine.register_values import checked
from gfsmith.prove.machine.state import Difference, State, Unclear, difference_flags, sum_flags


def _nearest(value: Word, size: int) -> Word:
    """A number that is added to something unknown, nearest to 0."""
    return signed(value, size) if isinstance(value, int) else value


def _move(state: State, instr: Decoded) -> None:
    write(state, general(instr.operands[0]), read(state, general(instr.operands[1])))


def _move_immediate(state: State, instr: Decoded) -> None:
    write(state, general(instr.operands[0]), immediate(instr.operands[1]))


def _move_keep(state: State, instr: Decoded) -> None:
    """movk: 16 bits are replaced."""
    target = general(instr.operands[0])
    value = instr.operands[1]
    old = number(state, target, instr)
    shift = getattr(value, "shift", 0)
    write(state, target, old & ~(0xFFFF << shift) | immediate(value))


def _add(flags: bool) -> Semantics:
    """add, adds, cmn (which has no target)."""

    def run(state: State, instr: Decoded) -> None:
        *target, first, second = instr.operands
        left, right = word(state, first, instr), word(state, second, instr)
        size = general(first).size
        if flags:
            state.flags = Unclear()
            if isinstance(left, int) and isinstance(right, int):
                found = sum_flags(left, right, size)
                state.flags = replace(found, cf=not found.cf)
        if target:
            result = total(_nearest(left, size), _nearest(right, size), size)
            _write(state, instr, result)

    return run


def _subtract(flags: bool) -> Semantics:
    """sub, subs, cmp (which has no target), neg (which subtracts from 0)."""

    def run(state: State, instr: Decoded) -> None:
        *target, first, second = instr.operands
        negated = instr.mnemonic == "neg"
        size = general(first).size
        left: Word = 0 if negated else word(state, first, instr)
        right = word(state, second, instr)
        if flags:
            difference = Difference(
                _beside(state, left, right, size), _beside(state, right, left, size), size
            )
            numbers = isinstance(left, int) and isinstance(right, int)
            state.flags = difference_flags(difference) if numbers else difference
        if target or negated:
            result = wrap(subtract(_nearest(left, size), _nearest(right, size)), size)
            _write(state, instr, result)

    return run


def _beside(state: State, value: Word, other: Word, size: int) -> Word:
    """Return one side of a comparison, modulo 2^(8 size): a number beside an unknown that is never positive
    is the nearest to 0."""
    negative = isinstance(other, Linear) and state.facts.range(other)[1] <= 0
    return signed(value, size) if negative and isinstance(value, int) else wrap(value, size)


def _write(state: State, instr: Decoded, value: Word) -> None:
    target = general(instr.operands[0])
    write(state, target, checked(state, value, target.size))


def _invert(state: State, instr: Decoded) -> None:
    """mvn: -1 - x."""
    target, source = (general(operand) for operand in instr.operands)
    _write(state, instr, wrap(subtract(-1, _nearest(word(state, source, instr), target.size)), target.size))


def _multiply(state: State, instr: Decoded) -> None:
    """mul, madd: at most one factor is unknown."""
    left, right = (word(state, operand, instr) for operand in instr.operands[1:3])
    if isinstance(left, Linear) and isinstance(right, Linear):
        raise Unsupported(f"{instr} multiplies two unknowns")
    if isinstance(left, int):
        left, right = right, left
    assert isinstance(right, int)
    size = general(instr.operands[0]).size
    result = scale(left, signed(right, size))
    if len(instr.operands) == 4:
        result = total(result, _nearest(word(state, instr.operands[3], instr), size), size)
    _write(state, instr, wrap(result, size))


def _multiply_high(state: State, instr: Decoded) -> None:
    """umulh."""
    left, right = (number(state, operand, instr) for operand in instr.operands[1:3])
    write(state, general(instr.operands[0]), left * right >> 64)


def holds(state: State, condition: str) -> bool:
    """Return True if a condition holds. Raises Choice if both are possible."""
    if condition not in CONDITIONS:
        raise Unsupported(f"condition '{condition}'")
    decision = decide(state, state.flags, CONDITIONS[condition])
    if isinstance(decision, Split):
        raise decision.choice()
    if not isinstance(decision, bool):
        raise Unsupported("a choice by the alignment of an address")
    return decision


def _select(increment: int) -> Semantics:
    """csel, csinc."""

    def run(state: State, instr: Decoded) -> None:
        target, yes, no = (general(operand) for operand in instr.operands)
        if holds(state, instr.condition):
            write(state, target, read(state, yes))
        elif increment:
            _write(state, instr, total(word(state, no, instr), increment, target.size))
        else:
            write(state, target, read(state, no))

    return run


def _increment(state: State, instr: Decoded) -> None:
    """cinc. capstone gives the condition as it is written."""
    target, source = instr.operands
    by = int(holds(state, instr.condition))
    _write(state, instr, total(word(state, source, instr), by, general(target).size))


def _set(state: State, instr: Decoded) -> None:
    """cset."""
    write(state, general(instr.operands[0]), int(holds(state, instr.condition)))


def _nothing(state: State, instr: Decoded) -> None:
    """No-ops."""


def _prefetch(state: State, instr: Decoded) -> None:
    """Never faults, but the address shows in the cache: it must not depend on data."""
    state.prefetch(place(state, instr.operands[0], instr))


def arithmetic(name: str, meaning: Semantics) -> dict[str, Semantics]:
    """With a target and two operands."""
    return {
        **forms(meaning, *(f"{name} {r} {r} {last}" for r in "xw" for last in (r, f"{r} lsl", "#"))),
        **forms(meaning, f"{name} x x w uxtw"),
    }


def comparison(name: str, meaning: Semantics) -> dict[str, Semantics]:
    """With two operands."""
    return {
        **forms(meaning, *(f"{name} {r} {last}" for r in "xw" for last in (r, f"{r} lsl", "#"))),
        **forms(meaning, f"{name} x w uxtw"),
    }


TABLE: dict[str, Semantics] = {
    **forms(_move, "mov x x", "mov w w"),
    **forms(_move_immediate, "mov x #", "mov w #", "adr x #", "adrp x #"),
    **forms(_move_keep, "movk x #", "movk w #"),
    **arithmetic("add", _add(flags=False)),
    **arithmetic("adds", _add(flags=True)),
    **comparison("cmn", _add(flags=True)),
    **arithmetic("sub", _subtract(flags=False)),
    **arithmetic("subs", _subtract(flags=True)),
    **comparison("cmp", _subtract(flags=True)),
    **forms(_subtract(flags=False), "neg x x", "neg w w"),
    **forms(_invert, "mvn x x", "mvn w w"),
    **forms(_multiply, "mul x x x", "mul w w w", "madd x x x x", "madd w w w w"),
    **forms(_multiply_high, "umulh x x x"),
    **forms(_select(0), "csel x x x", "csel w w w"),
    **forms(_select(1), "csinc x x x", "csinc w w w"),
    **forms(_increment, "cinc x x", "cinc w w"),
    **forms(_set, "cset x", "cset w"),
    **forms(_nothing, "nop", "bti"),
    **forms(_prefetch, "prfm [x]", "prfm [x x]", "prfm [x x lsl]"),
}
