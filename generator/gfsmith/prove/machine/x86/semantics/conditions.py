"""Conditions of flags, and moves that depend on them, after the Intel SDM, volume 2."""

from __future__ import annotations

from iced_x86 import ConditionCode, Instruction

from gfsmith.prove.machine.branch import Split, decide
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.state import Condition, State
from gfsmith.prove.machine.x86.semantics.operands import Semantics, read_general, write_general
from gfsmith.prove.verdict import Refutation

CONDITIONS = {
    ConditionCode.B: Condition.BELOW,
    ConditionCode.AE: Condition.NOT_BELOW,
    ConditionCode.BE: Condition.NOT_ABOVE,
    ConditionCode.A: Condition.ABOVE,
    ConditionCode.E: Condition.EQUAL,
    ConditionCode.NE: Condition.NOT_EQUAL,
    ConditionCode.L: Condition.LESS,
    ConditionCode.GE: Condition.NOT_LESS,
    ConditionCode.LE: Condition.NOT_GREATER,
    ConditionCode.G: Condition.GREATER,
    ConditionCode.S: Condition.NEGATIVE,
    ConditionCode.NS: Condition.NOT_NEGATIVE,
}


def _conditional_move(state: State, instr: Instruction) -> None:
    """cmovcc: of 32 bits it clears the upper half even if the condition does not hold."""
    condition = CONDITIONS.get(instr.condition_code)
    if condition is None:
        raise Unsupported(f"a move of condition {instr.condition_code}")
    source = read_general(state, instr, 1)
    try:
        decision = decide(state, state.flags, condition)
    except Refutation as error:
        raise Unsupported(f"{instr}: {error}") from None
    if isinstance(decision, Split):
        raise decision.choice()
    if not isinstance(decision, bool):
        raise Unsupported(f"{instr} on the alignment of addresses")
    write_general(state, instr, source if decision else read_general(state, instr, 0))


_NAMES = ("B", "AE", "BE", "A", "E", "NE", "L", "GE", "LE", "G", "S", "NS")
TABLE: dict[str, Semantics] = forms(
    _conditional_move, *(f"CMOV{name}_R{bits}_RM{bits}" for name in _NAMES for bits in (32, 64))
)
