"""Vector arithmetic over GF(2), after the Arm Architecture Reference Manual, C7.2."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import Decoded
from gfsmith.prove.machine.aarch64.semantics.operands import (
    Semantics,
    forms,
    immediate,
    read_vector,
    vector,
    write_vector,
)
from gfsmith.prove.machine.domain import Form, Piece, Run, Runs, Table, Unsupported
from gfsmith.prove.machine.lanes import is_nibble_table, look_up, shift_right
from gfsmith.prove.machine.state import State


def _exclusive_or(state: State, instr: Decoded) -> None:
    """eor, eor3."""
    target, first, *others = instr.operands
    if len(others) == 1 and others[0] == first:
        write_vector(state, target, domain.zeros(vector(target).size))
        return
    result = read_vector(state, first)
    for other in others:
        result = domain.xor(result, read_vector(state, other))
    write_vector(state, target, result)


def _and(state: State, instr: Decoded) -> None:
    target, first, second = instr.operands
    write_vector(state, target, domain.and_(read_vector(state, first), read_vector(state, second)))


def _and_not(state: State, instr: Decoded) -> None:
    """bic: the second operand must be known."""
    target, first, second = instr.operands
    inverse = [(length, _inverted(piece)) for length, piece in read_vector(state, second)]
    write_vector(state, target, domain.and_(read_vector(state, first), tuple(inverse)))


def _inverted(piece: Piece) -> Form:
    if not isinstance(piece, Form) or not piece.is_constant:
        raise Unsupported("the complement of unknown bytes")
    return domain.CONSTANTS[piece.constant ^ 0xFF]


def _or(state: State, instr: Decoded) -> None:
    """orr of known bytes, or where one side is 0."""
    target, first, second = instr.operands
    left, right = read_vector(state, first), read_vector(state, second)
    out: list[Run] = []
    for length, a, b in domain.aligned(left, right):
        if domain.ZERO in (a, b):
            out.append((length, a if b == domain.ZERO else b))
        elif isinstance(a, Form) and isinstance(b, Form) and a.is_constant and b.is_constant:
            out.append((length, domain.CONSTANTS[a.constant | b.constant]))
        else:
            raise Unsupported("OR with unknown bytes")
    write_vector(state, target, domain.merge(out))


def lookup(state: State, table: Runs, index: Runs) -> Iterator[Run]:
    """tbl of 16 bytes: an index of 16 or more gives 0."""
    for length, piece in index:
        if isinstance(piece, Table):
            raise Unsupported("a look-up by raw table bytes")
        if piece == domain.ZERO and is_nibble_table(state, table):
            yield length, domain.ZERO  # T is linear, so it maps 0 to 0
        elif piece.is_constant:
            at = piece.constant
            entry = domain.cut(table, at, at + 1)[0][1] if at < 16 else domain.ZERO
            constant = isinstance(entry, Form) and entry.is_constant
            yield from [(length, entry)] if constant else [(1, entry)] * length
        elif domain.masked(piece, 0x0F) != piece:
            raise Unsupported("a look-up by an index that may exceed 15")
        else:
            yield length, look_up(state, table, piece)


def _look_up(state: State, instr: Decoded) -> None:
    target, table, index = instr.operands
    found = lookup(state, read_vector(state, table), read_vector(state, index))
    write_vector(state, target, domain.merge(list(found)))


def _by_bytes(meaning: Callable[[Form, int], Form]) -> Semantics:
    """A shift within bytes."""

    def run(state: State, instr: Decoded) -> None:
        target, source, count = instr.operands
        out: list[Run] = []
        for length, piece in read_vector(state, source):
            if isinstance(piece, Table):
                raise Unsupported("raw table bytes are shifted")
            out.append((length, meaning(piece, immediate(count))))
        write_vector(state, target, domain.merge(out))

    return run


def _shift_right(state: State, instr: Decoded) -> None:
    """ushr of elements wider than a byte."""
    target, source, count = instr.operands
    element = vector(target).element
    runs = shift_right(read_vector(state, source), element, immediate(count), arithmetic=False)
    write_vector(state, target, runs)


TABLE: dict[str, Semantics] = {
    **forms(_exclusive_or, "eor 16b 16b 16b", "eor 8b 8b 8b", "eor3 16b 16b 16b 16b"),
    **forms(_and, "and 16b 16b 16b", "and 8b 8b 8b"),
    **forms(_and_not, "bic 16b 16b 16b", "bic 8b 8b 8b"),
    **forms(_or, "orr 16b 16b 16b", "orr 8b 8b 8b"),
    **forms(_look_up, "tbl 16b 16b 16b", "tbl 8b 16b 8b"),
    **forms(_by_bytes(domain.shift_rows), "ushr 16b 16b #", "ushr 8b 8b #"),
    **forms(_by_bytes(lambda form, count: domain.shift_rows(form, -count)), "shl 16b 16b #", "shl 8b 8b #"),
    **forms(_shift_right, "ushr 8h 8h #", "ushr 4s 4s #", "ushr 2d 2d #"),
}
