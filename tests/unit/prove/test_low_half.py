"""The low 32 bits of a number that may have more: only the AND with a number is known of them."""

from __future__ import annotations

import pytest
from iced_x86 import Code, Instruction, Register

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import Linear, add, scale, symbol
from gfsmith.prove.machine.state import LowHalf, State
from gfsmith.prove.machine.x86.semantics import step

MOVE = Instruction.create_reg_reg(Code.MOV_R32_RM32, Register.EAX, Register.ECX)


def moved(low: int) -> State:
    """Return the state after mov eax, ecx, where rcx is 64 n + low."""
    state = State.concrete({"rax": 0, "rcx": 0}, [], [], {})
    state.facts.assume(symbol("n"), 0, 1 << 48)
    state.gpr["rcx"] = add(scale(symbol("n"), 64), low)
    step(state, MOVE)
    assert isinstance(state.gpr["rax"], LowHalf)
    return state


def masked(state: State, mask: int) -> object:
    step(state, Instruction.create_reg_i32(Code.AND_RM32_IMM8, Register.EAX, mask))
    return state.gpr["rax"]


@pytest.mark.parametrize("low", [0, 7, 63])
def test_known_bits_are_known(low: int) -> None:
    assert masked(moved(low), 63) == low


def test_unknown_bits_are_a_new_unknown() -> None:
    state = moved(0)
    low = masked(state, 127)
    assert isinstance(low, Linear) and state.facts.range(low) == (0, 64)
    ((_, factor),) = low.terms
    assert factor == 64 and state.facts.range(symbol(low.terms[0][0])) == (0, 1)


def test_a_number_that_becomes_known_is_cut() -> None:
    state = moved(1)
    state.substitute("n", 1 << 26)
    assert state.gpr["rax"] == 1


def test_sums_are_not_supported() -> None:
    with pytest.raises(Unsupported, match="LowHalf"):
        step(moved(0), Instruction.create_reg_i32(Code.ADD_RM32_IMM8, Register.EAX, 1))
