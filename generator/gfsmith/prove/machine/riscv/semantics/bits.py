"""Bits of general registers, after the RISC-V Unprivileged ISA: shifts and sums (RV64I, 2.4 and 4.2),
carry-less products (Zbc, 28.4.3) and the order of bytes (Zbb, rev8).

Data may be moved by a constant, added and multiplied. Other operands are numbers or addresses.
"""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import WORD
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import shift_number
from gfsmith.prove.machine.linear import scale
from gfsmith.prove.machine.modular import wrap
from gfsmith.prove.machine.operands import immediate
from gfsmith.prove.machine.riscv.decode import Decoded
from gfsmith.prove.machine.riscv.semantics.operands import Semantics, data, read, write
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.substitution import field

_BITS = 8 * WORD


def _shift_left(state: State, instr: Decoded) -> None:
    """slli, c.slli."""
    target, *_ = instr.operands
    source, count = instr.operands[-2:]
    value, by = read(state, source), immediate(count)
    if isinstance(value, tuple):
        write(state, target, shift_number(value, -by))
    else:
        write(state, target, wrap(scale(value, 1 << by)))


def _shift_right(state: State, instr: Decoded) -> None:
    """srli, c.srli."""
    target, *_ = instr.operands
    source, count = instr.operands[-2:]
    value, by = read(state, source), immediate(count)
    if isinstance(value, tuple):
        write(state, target, shift_number(value, by))
    else:
        write(state, target, field(state, value, by, _BITS - by))


def _exclusive_or(state: State, instr: Decoded) -> None:
    """xor, c.xor."""
    target, *_ = instr.operands
    left, right = (read(state, source) for source in instr.operands[-2:])
    if isinstance(left, int) and isinstance(right, int):
        write(state, target, left ^ right)
    else:
        write(state, target, domain.xor(*(data(state, source) for source in instr.operands[-2:])))


def _product(word_number: int) -> Semantics:
    """clmul (0), clmulh (1): a half of the product of two words."""

    def run(state: State, instr: Decoded) -> None:
        target, *sources = instr.operands
        both = domain.carryless(*(data(state, source) for source in sources))
        write(state, target, domain.cut(both, WORD * word_number, WORD * (word_number + 1)))

    return run


def _reverse(state: State, instr: Decoded) -> None:
    """rev8."""
    target, source = instr.operands
    value = data(state, source)
    pieces = (domain.cut(value, n, n + 1) for n in reversed(range(WORD)))
    write(state, target, domain.merge([run for piece in pieces for run in piece]))


TABLE: dict[str, Semantics] = {
    **forms(_shift_left, "slli r r #", "c.slli r #"),
    **forms(_shift_right, "srli r r #", "c.srli r #"),
    **forms(_exclusive_or, "xor r r r", "c.xor r r"),
    **forms(_product(0), "clmul r r r"),
    **forms(_product(1), "clmulh r r r"),
    **forms(_reverse, "rev8 r r"),
}
