"""Numbers and addresses in general registers, after the RISC-V Unprivileged ISA, chapters 2, 5 (RV64I), 7
(M) and 16 (C)."""

from __future__ import annotations

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.linear import add, scale, subtract
from gfsmith.prove.machine.modular import nearest, signed, wrap
from gfsmith.prove.machine.operands import immediate
from gfsmith.prove.machine.riscv.decode import Decoded
from gfsmith.prove.machine.riscv.semantics.operands import Semantics, place, read, word, write
from gfsmith.prove.machine.state import State

_UPPER = 20  #: bits of the number in lui
_SHORT = 4  #: bytes of an operand of addiw


def _add(state: State, instr: Decoded) -> None:
    """add, addi and their compressed forms, of which those with two operands also read the target."""
    target, *_ = instr.operands
    left, right = (nearest(word(state, operand)) for operand in instr.operands[-2:])
    write(state, target, wrap(add(left, right)))


def _add_zero(state: State, instr: Decoded) -> None:
    """addi of 0: a move, also of data."""
    target, source, number = instr.operands
    if immediate(number):
        _add(state, instr)
    else:
        write(state, target, read(state, source))


def _add_short(state: State, instr: Decoded) -> None:
    """addiw, c.addiw: the low 32 bits of a sum, extended by copies of bit 31. An unknown sum must have fewer
    bits."""
    target, *_ = instr.operands
    left, right = (nearest(word(state, operand)) for operand in instr.operands[-2:])
    total = add(left, right)
    if isinstance(total, int):
        total = signed(total, _SHORT)
    else:
        low, high = state.facts.range(total)
        if low < 0 or high >= 1 << 8 * _SHORT - 1:
            raise Unsupported(f"{instr} of {total}")
    write(state, target, total)


def _subtract(state: State, instr: Decoded) -> None:
    target, *_ = instr.operands
    left, right = (nearest(word(state, operand)) for operand in instr.operands[-2:])
    write(state, target, wrap(subtract(left, right)))


def _multiply(state: State, instr: Decoded) -> None:
    """mul: at most one factor is unknown."""
    target, *sources = instr.operands
    left, right = (word(state, source) for source in sources)
    if isinstance(left, int):
        left, right = right, left
    if not isinstance(right, int):
        raise Unsupported(f"{instr} multiplies two unknowns")
    write(state, target, wrap(scale(left, signed(right))))


def _move(state: State, instr: Decoded) -> None:
    target, source = instr.operands
    write(state, target, read(state, source))


def _load_immediate(state: State, instr: Decoded) -> None:
    target, number = instr.operands
    write(state, target, immediate(number))


def _load_upper(state: State, instr: Decoded) -> None:
    """lui, c.lui: 20 bits, with their sign, above 12 zeros."""
    target, number = instr.operands
    half = 1 << _UPPER - 1
    upper = (immediate(number) + half) % (2 * half) - half
    write(state, target, upper << 12)


def _load(state: State, instr: Decoded) -> None:
    """ld and its compressed forms."""
    target, source = instr.operands
    write(state, target, state.memory.load_word(place(state, source), 8))


def _store(state: State, instr: Decoded) -> None:
    """sd and its compressed forms."""
    source, target = instr.operands
    state.memory.store_word(place(state, target), read(state, source), 8)


TABLE: dict[str, Semantics] = {
    **forms(_add, "add r r r", "c.add r r", "c.addi r #", "c.addi16sp r #", "c.addi4spn r r #"),
    **forms(_add_zero, "addi r r #"),
    **forms(_add_short, "addiw r r #", "c.addiw r #"),
    **forms(_subtract, "sub r r r", "c.sub r r"),
    **forms(_multiply, "mul r r r"),
    **forms(_move, "c.mv r r"),
    **forms(_load_immediate, "c.li r #"),
    **forms(_load_upper, "lui r #", "c.lui r #"),
    **forms(_load, "ld r (r)", "c.ld r (r)", "c.ldsp r (r)"),
    **forms(_store, "sd r (r)", "c.sd r (r)", "c.sdsp r (r)"),
}
