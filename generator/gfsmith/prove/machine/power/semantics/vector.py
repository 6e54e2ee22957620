"""Vectors, after the Power ISA, book I, 6.8, 6.11 and 7.6.3. registers.py states the order of bytes."""

from __future__ import annotations

from collections.abc import Iterator

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Form, Run, Runs, Table, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.invariant import junk
from gfsmith.prove.machine.lanes import add_bytes, known, look_up, look_up_runs, signs, table_entry
from gfsmith.prove.machine.operands import immediate
from gfsmith.prove.machine.power.decode import Decoded
from gfsmith.prove.machine.power.semantics.operands import (
    Semantics,
    as_bytes,
    read,
    read_vector,
    write,
    write_vector,
)
from gfsmith.prove.machine.state import State

_HALF = 8
_ONES: Runs = ((2 * _HALF, domain.CONSTANTS[0xFF]),)
_FIFTEENS: Runs = ((2 * _HALF, domain.CONSTANTS[0x0F]),)
#: The truth table of xxeval for a ^ b ^ c: bit n, from the left, is the result for abc = n.
_SUM = 0x69


def _exclusive_or(state: State, instr: Decoded) -> None:
    target, first, second = instr.operands
    if first == second:
        write_vector(state, target, domain.zeros(2 * _HALF))
        return
    write_vector(state, target, domain.xor(read_vector(state, first), read_vector(state, second)))


def _evaluate(state: State, instr: Decoded) -> None:
    """xxeval, as the sum of three operands."""
    target, *sources, function = instr.operands
    if immediate(function) != _SUM:
        raise Unsupported(f"{instr} with another function than a ^ b ^ c, {_SUM:#x}")
    first, second, third = (read_vector(state, source) for source in sources)
    write_vector(state, target, domain.xor(domain.xor(first, second), third))


def _and(state: State, instr: Decoded) -> None:
    target, first, second = instr.operands
    write_vector(state, target, domain.and_(read_vector(state, first), read_vector(state, second)))


def _or(state: State, instr: Decoded) -> None:
    """xxlor: of a register with itself, or where one side is 0."""
    target, first, second = instr.operands
    left, right = read_vector(state, first), read_vector(state, second)
    if first == second:
        write_vector(state, target, left)
        return
    out: list[Run] = []
    for length, a, b in domain.aligned(left, right):
        if domain.ZERO not in (a, b):
            raise Unsupported("OR of two unknown bytes")
        out.append((length, a if b == domain.ZERO else b))
    write_vector(state, target, domain.merge(out))


def _splat_immediate(size: int) -> Semantics:
    """vspltisb, vspltisw: a signed number of five bits in every element."""

    def run(state: State, instr: Decoded) -> None:
        element = immediate(instr.operands[1]).to_bytes(size, "little", signed=True)
        write_vector(state, instr.operands[0], domain.constant_runs(element * (2 * _HALF // size)))

    return run


def _splat_byte(state: State, instr: Decoded) -> None:
    """xxspltib: a number of eight bits in every byte."""
    write_vector(state, instr.operands[0], ((2 * _HALF, domain.CONSTANTS[immediate(instr.operands[1])]),))


def _add(state: State, instr: Decoded) -> None:
    """vaddubm."""
    target, first, second = instr.operands
    write_vector(state, target, add_bytes(read_vector(state, first), read_vector(state, second)))


def _subtract(state: State, instr: Decoded) -> None:
    """vsububm of known bytes."""
    target, first, second = instr.operands
    pairs = zip(known(read_vector(state, first)), known(read_vector(state, second)), strict=True)
    write_vector(state, target, domain.constant_runs(bytes((a - b) & 0xFF for a, b in pairs)))


def _shift(towards_zero: int) -> Semantics:
    """vslb (-1), vsrb (1): each byte by the low three bits of its count."""

    def run(state: State, instr: Decoded) -> None:
        target, source, count = instr.operands
        out: list[Run] = []
        for length, piece, by in domain.aligned(read_vector(state, source), read_vector(state, count)):
            if not isinstance(piece, Form) or not isinstance(by, Form) or not by.is_constant:
                raise Unsupported(f"{instr} on {piece} by {by}")
            out.append((length, domain.shift_rows(piece, towards_zero * (by.constant & 7))))
        write_vector(state, target, domain.merge(out))

    return run


def _shift_signed(state: State, instr: Decoded) -> None:
    """vsrab, by the low three bits of each count: by 7 everywhere, or known bytes."""
    target, source, count = instr.operands
    runs, counts = read_vector(state, source), [byte & 7 for byte in known(read_vector(state, count))]
    if set(counts) == {7}:
        write_vector(state, target, signs(runs))
        return
    signed = zip(memoryview(known(runs)).cast("b"), counts, strict=True)
    write_vector(state, target, domain.constant_runs(bytes(byte >> n & 0xFF for byte, n in signed)))


def _move(state: State, instr: Decoded) -> None:
    """vmr."""
    write_vector(state, instr.operands[0], read_vector(state, instr.operands[1]))


def _left_to_right(state: State, table: Runs) -> Runs:
    """Return a table whose entry n is byte element n of the manual, byte n ^ 7; raw table bytes unchanged."""
    if table_entry(state, table, 2 * _HALF) is not None:
        return table
    return domain.merge([run for n in range(2 * _HALF) for run in domain.cut(table, n ^ 7, (n ^ 7) + 1)])


def _lookups(state: State, high: Runs, low: Runs, index: Runs) -> Iterator[Run]:
    tables = _left_to_right(state, low), _left_to_right(state, high)
    for length, piece in index:
        if isinstance(piece, Table):
            raise Unsupported("a look-up by raw table bytes")
        indices = domain.masked(piece, 0x0F), domain.shift_rows(piece, 4)
        found = [_one(state, table, nibble, length) for table, nibble in zip(tables, indices, strict=True)]
        yield from domain.xor(*found)


def _one(state: State, table: Runs, index: Form, length: int) -> Runs:
    """One nibble looked up, by a known index anything, else a table that is linear in its index."""
    found = table_entry(state, table, 2 * _HALF)
    raw = found is not None
    if found is not None and (found[0] != "permxor" or found[1] % (2 * _HALF)):
        raise Unsupported(f"a look-up in byte {found[1]} of a table entry of format {found[0]}")
    if not index.is_constant or (raw and not index.constant):
        return ((length, domain.ZERO if index.is_constant else look_up(state, table, index, "permxor")),)
    if raw:
        raise Unsupported("a table entry at a known index")
    return domain.merge([*domain.cut(table, index.constant, index.constant + 1)] * length)


def _permute_xor(state: State, instr: Decoded) -> None:
    """vpermxor: for each byte, its upper half looked up in operand 1 and its lower half in operand 2."""
    target, high, low, index = (instr.operands[0], *(read_vector(state, o) for o in instr.operands[1:]))
    write_vector(state, target, domain.merge(list(_lookups(state, high, low, index))))


def _carryless(state: State, instr: Decoded) -> None:
    """vpmsumd: the sum of the products of the left doublewords and of the right ones. Its lower half is the
    right doubleword."""
    target, first, second = instr.operands
    left, right = read_vector(state, first), read_vector(state, second)
    halves = ((at, at + _HALF) for at in (0, _HALF))
    products = (domain.carryless(domain.cut(left, *half), domain.cut(right, *half)) for half in halves)
    total = domain.xor(*products)
    swapped = [*domain.cut(total, _HALF, 2 * _HALF), *domain.cut(total, 0, _HALF)]
    write_vector(state, target, domain.merge(swapped))


def _complement(state: State, instr: Decoded) -> None:
    """vnot, which is vnor of a register with itself."""
    target, source = instr.operands
    write_vector(state, target, domain.xor(read_vector(state, source), _ONES))


def _selected(left: Runs, right: Runs, index: bytes) -> Runs:
    """Return the elements of two vectors that the low five bits of known indices select."""
    places = [(right if n & 16 else left, n & 15 ^ 7) for n in index]
    return domain.merge([run for runs, at in places for run in domain.cut(runs, at, at + 1)])


def _permute(state: State, instr: Decoded) -> None:
    """vperm by known indices, or with one table as both operands: the low bits of an index count elements
    from the left. As lvx loads a table, byte n is at element 15 - n, where the complement of n selects it."""
    target, *tables, last = instr.operands
    left, right = (read_vector(state, table) for table in tables)
    if all(isinstance(piece, Form) and piece.is_constant for _, piece in read_vector(state, last)):
        write_vector(state, target, _selected(left, right, known(read_vector(state, last))))
        return
    if left != right:
        raise Unsupported(f"{instr} in two tables")
    index = domain.and_(domain.xor(read_vector(state, last), _ONES), _FIFTEENS)
    table = domain.merge([*domain.cut(left, _HALF, 2 * _HALF), *domain.cut(left, 0, _HALF)])
    write_vector(state, target, domain.merge(list(look_up_runs(state, table, index, lambda n: n))))


def _doublewords(choice: int | None = None) -> Semantics:
    """xxpermdi and its simpler names: doubleword `choice` / 2 of the first, `choice` % 2 of the last."""

    def run(state: State, instr: Decoded) -> None:
        target, *sources = instr.operands
        select = choice
        if select is None:
            select = immediate(sources.pop()) & 3
        first, last = read_vector(state, sources[0]), read_vector(state, sources[-1])
        left, right = _HALF * (select >> 1), _HALF * (select & 1)
        parts = [*domain.cut(first, left, left + _HALF), *domain.cut(last, right, right + _HALF)]
        write_vector(state, target, domain.merge(parts))

    return run


def _splat_doubleword(state: State, instr: Decoded) -> None:
    """xxspltd."""
    target, source, which = instr.operands
    one = domain.cut(read_vector(state, source), _HALF * immediate(which), _HALF * (immediate(which) + 1))
    write_vector(state, target, domain.merge([*one, *one]))


def _shift_words(state: State, instr: Decoded) -> None:
    """xxsldwi: four words of eight, counted from the left."""
    target, first, second, last = instr.operands
    both = (*read_vector(state, first), *read_vector(state, second))
    words = [domain.cut(both, 4 * (w ^ 1), 4 * (w ^ 1) + 4) for w in range(8)]
    chosen = words[immediate(last) : immediate(last) + 4]
    write_vector(state, target, domain.merge([run for w in range(4) for run in chosen[w ^ 1]]))


def _to_vector(state: State, instr: Decoded) -> None:
    """mtvsrd: doubleword 0; the other one is undefined."""
    target, source = instr.operands
    write_vector(state, target, domain.merge([*as_bytes(read(state, source), _HALF), *junk(_HALF)]))


def _to_general(state: State, instr: Decoded) -> None:
    """mfvsrd, mffprd."""
    target, source = instr.operands
    write(state, target, domain.cut(read_vector(state, source), 0, _HALF))


TABLE: dict[str, Semantics] = {
    **forms(_exclusive_or, "xxlxor v v v", "vxor v v v"),
    **forms(_evaluate, "xxeval v v v v #"),
    **forms(_and, "xxland v v v", "vand v v v"),
    **forms(_or, "xxlor v v v"),
    **forms(_splat_immediate(1), "vspltisb v #"),
    **forms(_splat_immediate(4), "vspltisw v #"),
    **forms(_splat_byte, "xxspltib v #"),
    **forms(_add, "vaddubm v v v"),
    **forms(_subtract, "vsububm v v v"),
    **forms(_shift(-1), "vslb v v v"),
    **forms(_shift(1), "vsrb v v v"),
    **forms(_shift_signed, "vsrab v v v"),
    **forms(_move, "vmr v v"),
    **forms(_permute_xor, "vpermxor v v v v"),
    **forms(_permute, "vperm v v v v"),
    **forms(_carryless, "vpmsumd v v v"),
    **forms(_complement, "vnot v v"),
    **forms(_doublewords(), "xxpermdi v v v #"),
    **forms(_doublewords(0), "xxmrghd v v v"),
    **forms(_doublewords(3), "xxmrgld v v v"),
    **forms(_doublewords(2), "xxswapd v v"),
    **forms(_splat_doubleword, "xxspltd v v #"),
    **forms(_shift_words, "xxsldwi v v v #"),
    **forms(_to_vector, "mtvsrd v r"),
    **forms(_to_general, "mfvsrd r v", "mffprd r v"),
}
