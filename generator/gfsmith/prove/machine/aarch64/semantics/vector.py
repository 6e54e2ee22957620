"""Vector arithmetic over GF(2), after the Arm Architecture Reference Manual, C7.2."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import Decoded
from gfsmith.prove.machine.aarch64.semantics.operands import (
    Semantics,
    immediate,
    read_vector,
    vector,
    write_vector,
)
from gfsmith.prove.machine.domain import Form, Piece, Run, Table, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import add_bytes, look_up_runs, shift_right, signs
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


def _carryless(high: bool) -> Semantics:
    """pmull, pmull2: the product of two low words, or of two high ones."""

    def run(state: State, instr: Decoded) -> None:
        target, *sources = instr.operands
        at = domain.WORD if high else 0
        words = (domain.cut(read_vector(state, each), at, at + domain.WORD) for each in sources)
        write_vector(state, target, domain.carryless(*words))

    return run


def _reversed_words(state: State, instr: Decoded) -> None:
    """rev64: the bytes of each word in reversed order."""
    target, source = instr.operands
    words = domain.split(read_vector(state, source), domain.WORD)
    places = range(domain.WORD - 1, -1, -1)
    out = [run for word in words for n in places for run in domain.cut(word, n, n + 1)]
    write_vector(state, target, domain.merge(out))


def _selects(index: int) -> int | None:
    """tbl: 16 and more give 0."""
    return index if index < 16 else None


def _look_up(state: State, instr: Decoded) -> None:
    """tbl of 16 bytes."""
    target, table, index = instr.operands
    found = look_up_runs(state, read_vector(state, table), read_vector(state, index), _selects)
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


def _add(state: State, instr: Decoded) -> None:
    target, first, second = instr.operands
    write_vector(state, target, add_bytes(read_vector(state, first), read_vector(state, second)))


def _less_than_zero(state: State, instr: Decoded) -> None:
    """cmlt, which compares with 0 only."""
    target, source, _ = instr.operands
    write_vector(state, target, signs(read_vector(state, source)))


TABLE: dict[str, Semantics] = {
    **forms(_exclusive_or, "eor 16b 16b 16b", "eor 8b 8b 8b", "eor3 16b 16b 16b 16b"),
    **forms(_and, "and 16b 16b 16b", "and 8b 8b 8b"),
    **forms(_and_not, "bic 16b 16b 16b", "bic 8b 8b 8b"),
    **forms(_or, "orr 16b 16b 16b", "orr 8b 8b 8b"),
    **forms(_carryless(high=False), "pmull 1q 1d 1d"),
    **forms(_carryless(high=True), "pmull2 1q 2d 2d"),
    **forms(_reversed_words, "rev64 16b 16b", "rev64 8b 8b"),
    **forms(_look_up, "tbl 16b 16b 16b", "tbl 8b 16b 8b"),
    **forms(_by_bytes(domain.shift_rows), "ushr 16b 16b #", "ushr 8b 8b #"),
    **forms(_by_bytes(lambda form, count: domain.shift_rows(form, -count)), "shl 16b 16b #", "shl 8b 8b #"),
    **forms(_add, "add 16b 16b 16b", "add 8b 8b 8b"),
    **forms(_less_than_zero, "cmlt 16b 16b #", "cmlt 8b 8b #"),
    **forms(_shift_right, "ushr 8h 8h #", "ushr 4s 4s #", "ushr 2d 2d #"),
}
