"""SVE and SVE2, after the Arm Architecture Reference Manual, C8.2. A state has vectors of one length.

A predicate is a number with a bit for each byte of a vector, or an unknown number of first bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import Decoded, Immediate, Operand, Place, Predicate, Scalable
from gfsmith.prove.machine.aarch64.scalable import PREFIX
from gfsmith.prove.machine.aarch64.semantics.operands import (
    SPAN,
    Semantics,
    general,
    immediate,
    place,
    total,
    vector_bytes,
    word,
    write,
)
from gfsmith.prove.machine.domain import Form, Run, Runs, Table, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import add_bytes, arithmetic, look_up_runs, spans
from gfsmith.prove.machine.linear import Bound, Word, add, subtract
from gfsmith.prove.machine.state import Known, LowBits, State, Unclear

_ELEMENTS = {"b": 1, "h": 2, "w": 4, "d": 8}
_TABLE = 16  #: bytes of a coefficient's table for look-ups


def _number(operand: Operand) -> int:
    if not isinstance(operand, Scalable | Predicate):
        raise Unsupported(f"{operand} is no scalable register")
    return operand.number


def _read(state: State, operand: Operand) -> Runs:
    return state.vectors[_number(operand)]


def _write(state: State, operand: Operand, runs: Runs) -> None:
    state.vectors[_number(operand)] = runs


def _read_length(state: State, instr: Decoded) -> None:
    """rdvl: bytes of a vector times a factor."""
    target, factor = instr.operands
    write(state, general(target), vector_bytes(state) * immediate(factor))


def _add_length(state: State, instr: Decoded) -> None:
    """addvl."""
    target, source, factor = instr.operands
    by = vector_bytes(state) * immediate(factor)
    write(state, general(target), total(word(state, source, instr), by, 8))


def _count(sign: int) -> Semantics:
    """cntb to cntd, incb to incd and decb to decd: the number of all elements times a factor."""

    def run(state: State, instr: Decoded) -> None:
        target, *factor = instr.operands
        elements = vector_bytes(state) // _ELEMENTS[instr.mnemonic[-1]]
        number = elements * (immediate(factor[0]) if factor else 1)
        value: Word = total(word(state, target, instr), sign * number, 8) if sign else number
        write(state, general(target), value)

    return run


def _all_true(state: State, instr: Decoded) -> None:
    """ptrue."""
    state.masks[_number(instr.operands[0])] = (1 << vector_bytes(state)) - 1


def _all_false(state: State, instr: Decoded) -> None:
    """pfalse."""
    state.masks[_number(instr.operands[0])] = 0


def _active(low: Bound, high: Bound, size: int) -> int | None:
    """Return the number of active bytes, of `size`, if a count from low to high decides it."""
    if high <= 0:
        return 0
    if low >= size:
        return size
    return int(low) if low == high else None


def _while_lower(state: State, instr: Decoded) -> None:
    """whilelo of bytes: byte i is active if left + i < right, without wrap-around."""
    target, first, second = instr.operands
    left, right = word(state, first, instr), word(state, second, instr)
    size = vector_bytes(state)
    for side in (left, right):
        low, high = state.facts.range(side)
        if low < 0 or high >= SPAN:
            raise Unsupported(f"{instr}: {side} may wrap around")
    count = subtract(right, left)
    low, high = state.facts.range(count)
    active = _active(low, high, size)
    if active is not None:
        state.masks[_number(target)] = (1 << active) - 1
        state.flags = Known(active == size, active == 0, active > 0, False)
    elif low >= 0 and high <= size:
        state.masks[_number(target)] = LowBits(count)
        inside = low > 0 and high < size
        state.flags = Known(False, False, True, False) if inside else Unclear()
    else:
        raise Unsupported(f"{instr}: {count} of {size} bytes, which may be more or fewer")


def _predicate(state: State, operand: Operand) -> int | LowBits:
    """Return the predicate of an access."""
    mask = state.masks[_number(operand)]
    if mask is None:
        raise Unsupported(f"p{_number(operand)} is undefined")
    return mask


def _address(state: State, operand: Operand, instr: Decoded) -> Word:
    if isinstance(operand, Place) and "[x vl]" in instr.form:
        assert isinstance(operand.displacement, int)
        operand = operand._replace(displacement=operand.displacement * vector_bytes(state))
    return place(state, operand, instr)


def _load_bytes(state: State, instr: Decoded) -> None:
    """ld1b of bytes: inactive bytes are not read and become 0."""
    target, governing, where = instr.operands
    at, mask, size = _address(state, where, instr), _predicate(state, governing), vector_bytes(state)
    if isinstance(mask, LowBits):
        _write(state, target, state.memory.load_end(at, size, mask.count))
        return
    out: list[Run] = []
    for low, high, active in spans(mask, size):
        out += state.memory.load(add(at, low), high - low) if active else domain.zeros(high - low)
    _write(state, target, domain.merge(out))


def _store_bytes(state: State, instr: Decoded) -> None:
    """st1b of bytes: inactive bytes are not written."""
    source, governing, where = instr.operands
    at, mask, runs = _address(state, where, instr), _predicate(state, governing), _read(state, source)
    if isinstance(mask, LowBits):
        state.memory.store_end(at, runs, mask.count)
        return
    for low, high, active in spans(mask, domain.size(runs)):
        if active:
            state.memory.store_word(add(at, low), domain.cut(runs, low, high), high - low)


def _load_whole(state: State, instr: Decoded) -> None:
    """ldr of a vector."""
    target, where = instr.operands
    _write(state, target, state.memory.load(_address(state, where, instr), vector_bytes(state)))


def _store_whole(state: State, instr: Decoded) -> None:
    """str of a vector."""
    source, where = instr.operands
    runs = _read(state, source)
    state.memory.store_word(_address(state, where, instr), runs, domain.size(runs))


def _move(state: State, instr: Decoded) -> None:
    target, source = instr.operands
    _write(state, target, _read(state, source))


def _constant(state: State, value: int) -> Runs:
    return ((vector_bytes(state), domain.CONSTANTS[value % 256]),)


def _immediate(state: State, instr: Decoded) -> None:
    """mov (dup) of one byte, everywhere."""
    target, value = instr.operands
    _write(state, target, _constant(state, immediate(value)))


def _exclusive_or(state: State, instr: Decoded) -> None:
    """eor, eor3."""
    target, first, *others = instr.operands
    if others == [first]:
        _write(state, target, _constant(state, 0))
        return
    result = _read(state, first)
    for other in others:
        result = domain.xor(result, _second(state, other))
    _write(state, target, result)


def _and(state: State, instr: Decoded) -> None:
    target, first, second = instr.operands
    _write(state, target, domain.and_(_read(state, first), _second(state, second)))


def _second(state: State, operand: Operand) -> Runs:
    """Return a vector, or a byte everywhere."""
    return _constant(state, operand.value) if isinstance(operand, Immediate) else _read(state, operand)


def _shift(meaning: Callable[[Form, int], Form]) -> Semantics:
    """lsl, lsr and asr of bytes."""

    def run(state: State, instr: Decoded) -> None:
        target, source, count = instr.operands
        out: list[Run] = []
        for length, piece in _read(state, source):
            if isinstance(piece, Table):
                raise Unsupported("raw table bytes are shifted")
            out.append((length, meaning(piece, immediate(count))))
        _write(state, target, domain.merge(out))

    return run


def _add(state: State, instr: Decoded) -> None:
    """add of bytes: known ones, or those of one register to themselves, which doubles them."""
    target, first, second = instr.operands
    _write(state, target, add_bytes(_read(state, first), _read(state, second)))


def _look_up(state: State, instr: Decoded) -> None:
    """tbl in one vector: an index beyond it gives 0. An index that is not known must be below 16."""
    target, table, index = instr.operands
    entries, size = _read(state, table), vector_bytes(state)
    low = domain.cut(entries, 0, _TABLE)
    found: list[Run] = []
    for length, piece in _read(state, index):
        at = piece.constant if isinstance(piece, Form) and piece.is_constant else 0
        if at < _TABLE:
            found += look_up_runs(state, low, ((length, piece),), lambda entry: entry)
        else:
            found += [domain.cut(entries, at, at + 1)[0] if at < size else (1, domain.ZERO)] * length
    _write(state, target, domain.merge(found))


def _bitwise(name: str, meaning: Semantics) -> dict[str, Semantics]:
    return forms(meaning, f"{name} z.d z.d z.d", f"{name} z.b z.b #")


def _counts(name: str, sign: int) -> dict[str, Semantics]:
    """Return entries for all elements, once or times a factor."""
    return forms(_count(sign), *(f"{name}{e} x{factor}" for e in _ELEMENTS for factor in ("", " all mul #")))


def _accesses(name: str, meaning: Semantics, places: tuple[str, ...]) -> dict[str, Semantics]:
    return forms(meaning, *(f"{name} {where}" for where in places))


#: The forms that need SVE2.
SVE2 = frozenset({"eor3 z.d z.d z.d z.d"})

TABLE: dict[str, Semantics] = {
    "rdvl x #": _read_length,
    "addvl x x #": _add_length,
    **_counts("cnt", 0),
    **_counts("inc", 1),
    **_counts("dec", -1),
    "ptrue p.b": _all_true,
    "pfalse p.b": _all_false,
    "whilelo p.b x x": _while_lower,
    **_accesses("ld1b z.b p/z", _load_bytes, ("[x]", "[x vl]", "[x x]")),
    **_accesses("st1b z.b p", _store_bytes, ("[x]", "[x vl]", "[x x]")),
    **_accesses("ldr z", _load_whole, ("[x]", "[x vl]")),
    **_accesses("str z", _store_whole, ("[x]", "[x vl]")),
    **forms(_move, "mov z.d z.d", PREFIX),
    "mov z.b #": _immediate,
    **_bitwise("eor", _exclusive_or),
    **forms(_exclusive_or, *SVE2),
    **_bitwise("and", _and),
    **forms(_shift(domain.shift_rows), "lsr z.b z.b #"),
    **forms(_shift(lambda form, count: domain.shift_rows(form, -count)), "lsl z.b z.b #"),
    **forms(_shift(arithmetic), "asr z.b z.b #"),
    "add z.b z.b z.b": _add,
    "tbl z.b z.b z.b": _look_up,
}
