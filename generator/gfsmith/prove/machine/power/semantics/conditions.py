"""The condition register, after the Power ISA, 2.3.1 and 3.3.9.

A field is kept as the comparison that made it, so that a branch can be decided for all values at once. A
bit that was set by itself hides that of its field until the next comparison. The bit so, a copy of XER's,
is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gfsmith.prove.machine.branch import Split, decide
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.linear import Linear, Word
from gfsmith.prove.machine.modular import signed
from gfsmith.prove.machine.operands import word
from gfsmith.prove.machine.power.decode import BITS, Bit, Decoded, Field, Operand
from gfsmith.prove.machine.power.semantics.operands import SPAN, Semantics, number
from gfsmith.prove.machine.state import UNDEFINED, Condition, Difference, Flags, Known, State


@dataclass(frozen=True, slots=True)
class Compared(Difference):
    """The field that a comparison makes. signed: of signed numbers."""

    signed: bool = False


#: The carry, XER's bit CA, as a field: the comparison of which the lower side clears it.
CARRY = "carry"
_SIGNED = {"lt": Condition.LESS, "gt": Condition.GREATER, "eq": Condition.EQUAL}
_UNSIGNED = {"lt": Condition.BELOW, "gt": Condition.ABOVE, "eq": Condition.EQUAL}
_OPPOSITE = {
    Condition.LESS: Condition.NOT_LESS,
    Condition.GREATER: Condition.NOT_GREATER,
    Condition.BELOW: Condition.NOT_BELOW,
    Condition.ABOVE: Condition.NOT_ABOVE,
    Condition.EQUAL: Condition.NOT_EQUAL,
}


def test_bit(state: State, bit: Bit, wanted: bool) -> tuple[Flags, Condition]:
    """Return flags and the condition on them that holds exactly if a bit is `wanted`."""
    flags = state.conditions.get(bit.field + bit.name)
    table = _UNSIGNED
    if flags is None:
        flags = state.conditions.get(bit.field, UNDEFINED)
        table = _SIGNED if isinstance(flags, Compared) and flags.signed else _UNSIGNED
        if bit.name not in table:
            raise Unsupported("a branch on the bit so")
        condition = table[bit.name]
    else:
        condition = Condition.EQUAL
    return flags, condition if wanted else _OPPOSITE[condition]


def set_field(state: State, field: str, flags: Flags) -> None:
    for name in BITS:
        state.conditions.pop(field + name, None)
    state.conditions[field] = flags


def forget(state: State, field: str) -> None:
    """Make the conditions of a field unknown."""
    set_field(state, field, UNDEFINED)


def compare(state: State, field: str, left: Word, right: Word, size: int, is_signed: bool) -> None:
    set_field(state, field, Compared(left, right, size, signed=is_signed))


def _nearest(value: Word, size: int, is_signed: bool) -> Word:
    """A number in the range of the comparison."""
    if isinstance(value, Linear):
        return value
    return signed(value, size) if is_signed else value % (1 << 8 * size)


def _low(state: State, operand: Operand, instr: Decoded, size: int, is_signed: bool) -> Word:
    """The low bytes of an operand: a number, or an unknown that fits into them."""
    value = word(state, operand)
    if isinstance(value, Linear):
        low, high = state.facts.range(value)
        if low >= 0 and high < 1 << 8 * size - is_signed:
            return value
    return number(state, operand, instr)


def _compare(size: int, is_signed: bool) -> Semantics:
    """cmpd, cmpld, cmpw, cmplw and with immediates; without a field: cr0."""

    def run(state: State, instr: Decoded) -> None:
        *field, first, second = instr.operands
        name = field[0].name if field and isinstance(field[0], Field) else "cr0"
        left, right = word(state, first), word(state, second)
        if size < 8:
            left, right = (_low(state, operand, instr, size, is_signed) for operand in (first, second))
        left, right = (_nearest(value, size, is_signed) for value in (left, right))
        compare(state, name, left, right, size, is_signed)

    return run


def holds(state: State, bit: Operand) -> bool:
    """Return True if a bit is set. Raises Unsupported if the flags do not decide it."""
    if not isinstance(bit, Bit):
        raise Unsupported(f"{bit} is no bit of the condition register")
    decision = decide(state, *test_bit(state, bit, wanted=True))
    if isinstance(decision, Split):
        raise decision.choice()
    if not isinstance(decision, bool):
        raise Unsupported("a choice by an unknown condition")
    return decision


def _set_bit(state: State, bit: Operand, value: bool) -> None:
    if not isinstance(bit, Bit):
        raise Unsupported(f"{bit} is no bit of the condition register")
    state.conditions[bit.field + bit.name] = Known(None, value, None, None)


def _constant(value: bool) -> Semantics:
    """crset, crclr."""

    def run(state: State, instr: Decoded) -> None:
        _set_bit(state, instr.operands[0], value)

    return run


def _combine(meaning: Callable[[bool, bool], bool]) -> Semantics:
    """crand and its like; crmove and crnot, which name their source once."""

    def run(state: State, instr: Decoded) -> None:
        target, *sources = instr.operands
        first, last = (holds(state, source) for source in (sources[0], sources[-1]))
        _set_bit(state, target, meaning(first, last))

    return run


def _move_field(state: State, instr: Decoded) -> None:
    """mcrf."""
    target, source = instr.operands
    if not isinstance(target, Field) or not isinstance(source, Field):
        raise Unsupported(f"{instr} is no move of a field")
    bits = {name: state.conditions.get(source.name + name) for name in BITS}
    set_field(state, target.name, state.conditions.get(source.name, UNDEFINED))
    for name, flags in bits.items():
        if flags is not None:
            state.conditions[target.name + name] = flags


def compare_with_zero(state: State, instr: Decoded) -> None:
    """Set cr0 as an instruction with a dot does: compare its result with 0."""
    result = word(state, instr.operands[0])
    if isinstance(result, int):
        result = signed(result % SPAN)
    compare(state, "cr0", result, 0, 8, True)


def _comparison(name: str, size: int, is_signed: bool) -> dict[str, Semantics]:
    meaning = _compare(size, is_signed)
    shapes = (f"{name} r r", f"{name} cr r r", f"{name}i r #", f"{name}i cr r #")
    return forms(meaning, *shapes)


TABLE: dict[str, Semantics] = {
    **_comparison("cmpd", 8, True),
    **_comparison("cmpld", 8, False),
    **_comparison("cmpw", 4, True),
    **_comparison("cmplw", 4, False),
    **forms(_constant(True), "crset bit"),
    **forms(_constant(False), "crclr bit"),
    **forms(_combine(lambda a, b: a), "crmove bit bit"),
    **forms(_combine(lambda a, b: not a), "crnot bit bit"),
    **forms(_combine(lambda a, b: a and b), "crand bit bit bit"),
    **forms(_combine(lambda a, b: a or b), "cror bit bit bit"),
    **forms(_combine(lambda a, b: a != b), "crxor bit bit bit"),
    **forms(_combine(lambda a, b: not (a and b)), "crnand bit bit bit"),
    **forms(_combine(lambda a, b: not (a or b)), "crnor bit bit bit"),
    **forms(_combine(lambda a, b: a and not b), "crandc bit bit bit"),
    **forms(_combine(lambda a, b: a or not b), "crorc bit bit bit"),
    **forms(_combine(lambda a, b: a == b), "creqv bit bit bit"),
    **forms(_move_field, "mcrf cr cr"),
}
