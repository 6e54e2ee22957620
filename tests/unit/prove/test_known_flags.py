"""Flags of arithmetic on known bytes in general registers: those of the numbers."""

from __future__ import annotations

import pytest
from iced_x86 import Code, Instruction, Register

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.x86.semantics import step


@pytest.mark.parametrize(("code", "zero"), [(Code.XOR_R64_RM64, True), (Code.ADD_R64_RM64, False)])
def test_known_bytes_are_numbers(code: Code, zero: bool) -> None:
    state = State.concrete({"rax": 0, "rcx": 0}, [], [], {})
    state.gpr |= dict.fromkeys(("rax", "rcx"), domain.constant_runs(bytes([5, *[0] * 7])))
    step(state, Instruction.create_reg_reg(code, Register.RAX, Register.RCX))
    assert state.flag("zf") is zero
