"""Vectors, after the Principles of Operation, chapters 21 and 22. registers.py states the order of bytes."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Form, Run, Runs, Table, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import add_bytes, known, look_up_runs, signs
from gfsmith.prove.machine.operands import immediate
from gfsmith.prove.machine.s390x.decode import Decoded
from gfsmith.prove.machine.s390x.semantics.operands import Semantics, read_vector, write_vector
from gfsmith.prove.machine.state import State

_BYTES = 16


def _exclusive_or(state: State, instr: Decoded) -> None:
    target, first, second = instr.operands
    if first == second:
        write_vector(state, target, domain.zeros(_BYTES))
        return
    write_vector(state, target, domain.xor(read_vector(state, first), read_vector(state, second)))


def _and(state: State, instr: Decoded) -> None:
    target, first, second = instr.operands
    write_vector(state, target, domain.and_(read_vector(state, first), read_vector(state, second)))


def _move(state: State, instr: Decoded) -> None:
    """vlr."""
    write_vector(state, instr.operands[0], read_vector(state, instr.operands[1]))


def _splat(state: State, instr: Decoded) -> None:
    """vrepib, and vzero and vone, which have no number."""
    value = immediate(instr.operands[1]) if len(instr.operands) == 2 else -(instr.mnemonic == "vone")
    write_vector(state, instr.operands[0], ((_BYTES, domain.CONSTANTS[value & 0xFF]),))


def _add(state: State, instr: Decoded) -> None:
    """vab."""
    target, first, second = instr.operands
    write_vector(state, target, add_bytes(read_vector(state, first), read_vector(state, second)))


def _shift(change: Callable[[Runs, int], Runs]) -> Semantics:
    """veslb, vesrlb, vesrab: each byte by a number, of which the low three bits count."""

    def run(state: State, instr: Decoded) -> None:
        target, source, by = instr.operands
        write_vector(state, target, change(read_vector(state, source), immediate(by) & 7))

    return run


def _rows(runs: Runs, by: int) -> Runs:
    """Shift each byte towards bit 0."""
    out: list[Run] = []
    for length, piece in runs:
        if not isinstance(piece, Form):
            raise Unsupported("raw table bytes are shifted")
        out.append((length, domain.shift_rows(piece, by)))
    return domain.merge(out)


def _signed(runs: Runs, by: int) -> Runs:
    """Shift each byte towards bit 0, with copies of its sign: by 7, or known bytes."""
    if by == 7:
        return signs(runs)
    return domain.constant_runs(bytes(byte >> by & 0xFF for byte in memoryview(known(runs)).cast("b")))


def _permute(state: State, instr: Decoded) -> None:
    """vperm: bytes of two vectors by the low five bits of an index. Of a vector with itself, four bits
    matter, and it is a look-up; otherwise the indices must be known."""
    target, first, second, last = instr.operands
    left, right, index = (read_vector(state, operand) for operand in (first, second, last))
    if left == right:
        nibbles = domain.merge([(length, _nibble(piece)) for length, piece in index])
        write_vector(state, target, domain.merge([*look_up_runs(state, left, nibbles, lambda n: n & 15)]))
        return
    both = (*left, *right)
    chosen = [run for n in known(index) for run in domain.cut(both, n & 31, (n & 31) + 1)]
    write_vector(state, target, domain.merge(chosen))


def _nibble(piece: Form | Table) -> Form:
    if isinstance(piece, Table):
        raise Unsupported("a look-up by raw table bytes")
    return domain.masked(piece, 0x0F)


TABLE: dict[str, Semantics] = {
    **forms(_exclusive_or, "vx v v v"),
    **forms(_and, "vn v v v"),
    **forms(_move, "vlr v v"),
    **forms(_splat, "vrepib v #", "vzero v", "vone v"),
    **forms(_add, "vab v v v"),
    **forms(_shift(lambda runs, by: _rows(runs, -by)), "veslb v v #"),
    **forms(_shift(_rows), "vesrlb v v #"),
    **forms(_shift(_signed), "vesrab v v #"),
    **forms(_permute, "vperm v v v v"),
}
