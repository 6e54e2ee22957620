"""Vectors of bytes, after the RISC-V Vector Extension 1.0 (chapters 5, 7, 11, 15 and 16).

vl is a number, or an unknown: then it is the number of the last bytes of a shard, and only values that
depend on these have a meaning. After such a load the elements behind the end hold anything, but the model
(masked_tail.py) assumes that two loads of one end are equal there. So a computed value must depend on the
same ends as its operands: it is then no constant, and neither a table nor a mask, through which these
elements would reach others, and no store of more bytes accepts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from gfsmith.prove.machine import domain, masked_tail
from gfsmith.prove.machine.domain import Form, Run, Runs, Table, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.invariant import junk
from gfsmith.prove.machine.lanes import add_bytes, known, look_up_runs, signs
from gfsmith.prove.machine.linear import Linear, Word, add, subtract
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.operands import immediate, vector
from gfsmith.prove.machine.riscv.decode import AGNOSTIC_MASK, AGNOSTIC_TAIL, Decoded, Operand
from gfsmith.prove.machine.riscv.registers import VL, VTYPE
from gfsmith.prove.machine.riscv.semantics.operands import Semantics, place, read_vector, vector_bytes, word
from gfsmith.prove.machine.state import State

_MASK = 0  #: the register of v0.t
_TABLE = 16  #: bytes of a table for a nibble
_FAR = 7  #: the shift that leaves the sign


def _type(state: State) -> int:
    """Return vtype. Without a known one, an instruction may be illegal (3.4.4)."""
    kind = state.gpr[VTYPE]
    if not isinstance(kind, int):
        raise Unsupported("a vector instruction without a known vtype")
    return kind


def _length(state: State) -> Word:
    _type(state)
    return state.word(VL)


def _count(state: State) -> int:
    """Return the number of elements, which must be known."""
    count = _length(state)
    if not isinstance(count, int):
        raise Unsupported(f"arithmetic on {count} elements")
    return count


def _read(state: State, operand: Operand) -> Runs:
    """Return the elements of an operand up to vl; all, if vl is unknown."""
    count = _length(state)
    runs = read_vector(state, operand)
    return domain.cut(runs, 0, count) if isinstance(count, int) else runs


def _rest(state: State, target: Operand, low: int, high: int, agnostic: int) -> Runs:
    """Return bytes of a target that an instruction does not compute: unchanged, or unknown if the policy
    permits ones."""
    if low == high:
        return ()
    return junk(high - low) if _type(state) & agnostic else domain.cut(read_vector(state, target), low, high)


def _ends(runs: Runs) -> Iterator[frozenset[Word]]:
    """Yield the offsets in shards at which the ends begin, at element 0, on which each piece depends."""
    position = 0
    for length, piece in runs:
        atoms = piece.atoms if isinstance(piece, Form) else {}
        yield frozenset(subtract(atom.start, position) for atom in atoms if masked_tail.is_end(atom))
        position += length


def _write(state: State, target: Operand, runs: Runs, *sources: Runs) -> None:
    """Write the first elements, which are computed from `sources`; the tail follows its policy. If vl is
    unknown, every element must depend on an end with vl bytes: then nothing is assumed of those behind it."""
    count = _length(state)
    ends = frozenset[Word]().union(*(found for source in sources for found in _ends(source)))
    if any(found != ends for found in _ends(runs)):
        raise Unsupported("ends of shards cancel")
    if isinstance(count, Linear):
        assert isinstance(state.memory, Memory)
        if subtract(state.memory.limits.length, count) not in ends:
            raise Unsupported(f"arithmetic on {count} elements")
    size = domain.size(runs)
    tail = _rest(state, target, size, vector_bytes(state), AGNOSTIC_TAIL)
    state.vectors[vector(target)] = domain.merge([*runs, *tail]) if tail else runs


def _elementwise(compute: Callable[..., Runs]) -> Semantics:
    """compute: returns the elements of the result from those of each vector operand, and from each number."""

    def run(state: State, instr: Decoded) -> None:
        target, *sources = instr.operands
        parts = [_read(state, source) for source in sources]
        _write(state, target, compute(*parts) if parts[0] else (), *parts)

    return run


def _exclusive_or(left: Runs, right: Runs) -> Runs:
    return domain.zeros(domain.size(left)) if left == right else domain.xor(left, right)


def _shifted(compute: Callable[[Runs, int], Runs]) -> Semantics:
    """Shifts of every element by the same number of bits."""

    def run(state: State, instr: Decoded) -> None:
        target, source, bits = instr.operands
        part, by = _read(state, source), immediate(bits) & 7
        _write(state, target, compute(part, by) if part else (), part)

    return run


def _moved(runs: Runs, by: int) -> Runs:
    """Return every byte with its bits moved by `by` places towards bit 0, filled with zeros."""
    if any(isinstance(piece, Table) for _, piece in runs):
        raise Unsupported("a shift of raw table bytes")
    return domain.merge([(n, domain.shift_rows(piece, by)) for n, piece in runs if isinstance(piece, Form)])


def _signed(runs: Runs, by: int) -> Runs:
    """Return the arithmetic shifts by 7 bits; by fewer ones of known bytes only."""
    if by == _FAR:
        return signs(runs)
    return domain.constant_runs(bytes(byte >> by & 0xFF for byte in memoryview(known(runs)).cast("b")))


def _splat(state: State, instr: Decoded) -> None:
    """vmv.v.i, vmv.v.x: the low byte of a number in every element."""
    target, source = instr.operands
    value = word(state, source)
    if not isinstance(value, int):
        raise Unsupported(f"{instr} of {value}")
    count = _count(state)
    _write(state, target, ((count, domain.CONSTANTS[value & 0xFF]),) if count else ())


def _copy_register(state: State, instr: Decoded) -> None:
    """vmv1r.v: the whole register, which needs a valid vtype (16.6)."""
    target, source = instr.operands
    _type(state)
    state.vectors[vector(target)] = read_vector(state, source)


@lru_cache(maxsize=32)
def _indices(count: int) -> Runs:
    return domain.constant_runs(bytes(n & 0xFF for n in range(count)))


def _identify(state: State, instr: Decoded) -> None:
    """vid.v: the index of each element, modulo 256."""
    _write(state, instr.operands[0], _indices(_count(state)))


def _bits(data: bytes) -> list[bool]:
    return [bool(byte >> bit & 1) for byte in data for bit in range(8)]


def _write_mask(state: State, target: Operand, bits: list[bool]) -> None:
    """Write a mask; the tail of a mask is always agnostic (5.3). Raises Unsupported for a part of a byte."""
    if len(bits) % 8:
        raise Unsupported(f"a mask of {len(bits)} elements")
    parts = [bits[at : at + 8] for at in range(0, len(bits), 8)]
    data = bytes(sum(bit << n for n, bit in enumerate(part)) for part in parts)
    rest = vector_bytes(state) - len(data)
    state.vectors[vector(target)] = domain.merge([*domain.constant_runs(data), *junk(rest)])


def _compare(holds: Callable[[int, int], bool]) -> Semantics:
    """Unsigned comparisons of known elements with one number."""

    def run(state: State, instr: Decoded) -> None:
        target, source, other = instr.operands
        value = word(state, other)
        if not isinstance(value, int):
            raise Unsupported(f"{instr} with {value}")
        elements = known(domain.cut(read_vector(state, source), 0, _count(state)))
        _write_mask(state, target, [holds(element, value & 0xFF) for element in elements])

    return run


def _mask_bits(state: State, number: int) -> list[bool]:
    """Return the bits of a mask for all elements."""
    count = _count(state)
    return _bits(known(domain.cut(state.vectors[number], 0, -(-count // 8))))[:count]


def _before_first(state: State, instr: Decoded) -> None:
    """vmsbf.m: ones before the first one of the source, all ones if there is none."""
    target, source = instr.operands
    if target == source:
        raise Unsupported(f"{instr} is reserved")
    bits = _mask_bits(state, vector(source))
    first = bits.index(True) if True in bits else len(bits)
    _write_mask(state, target, [n < first for n in range(len(bits))])


def _gather(state: State, instr: Decoded) -> None:
    """vrgather.vv: elements of a constant or of a table, selected by indices; 0 from VLMAX on."""
    target, source, indices = instr.operands
    if target in (source, indices):
        raise Unsupported(f"{instr} is reserved")
    most = vector_bytes(state)

    def selects(index: int) -> int | None:
        if _TABLE <= index < most:
            raise Unsupported(f"{instr} selects element {index}")
        return index if index < _TABLE else None

    table = domain.cut(read_vector(state, source), 0, _TABLE)
    if any(isinstance(piece, Form) and not piece.is_constant for _, piece in table):
        raise Unsupported(f"{instr} selects from data")
    index = _read(state, indices)
    _write(state, target, domain.merge(list(look_up_runs(state, table, index, selects))), index)


def _load(state: State, instr: Decoded) -> None:
    """vle8.v, without mask."""
    target, source = instr.operands
    address, count = place(state, source), _length(state)
    if isinstance(count, Linear):
        state.vectors[vector(target)] = state.memory.load_end(address, vector_bytes(state), count)
    else:
        runs = state.memory.load(address, count) if count else ()
        _write(state, target, runs, runs)


def _load_masked(state: State, instr: Decoded) -> None:
    """vle8.v with a mask: no element whose bit is 0 is read."""
    target, source = instr.operands
    if vector(target) == _MASK:
        raise Unsupported(f"{instr} is reserved")
    address, bits = place(state, source), _mask_bits(state, _MASK)
    parts: list[Run] = []
    start = 0
    while start < len(bits):
        end = start + 1
        while end < len(bits) and bits[end] == bits[start]:
            end += 1
        if bits[start]:
            parts += state.memory.load(add(address, start), end - start)
        else:
            parts += _rest(state, target, start, end, AGNOSTIC_MASK)
        start = end
    runs = domain.merge(parts)
    _write(state, target, runs, runs)


def _store(state: State, instr: Decoded) -> None:
    """vse8.v."""
    source, target = instr.operands
    address, count = place(state, target), _length(state)
    if isinstance(count, Linear):
        state.memory.store_end(address, read_vector(state, source), count)
    elif count:
        state.memory.store_word(address, domain.cut(read_vector(state, source), 0, count), count)


def _load_register(state: State, instr: Decoded) -> None:
    """vl1re8.v: a whole register. vl and vtype do not matter."""
    target, source = instr.operands
    state.vectors[vector(target)] = state.memory.load(place(state, source), vector_bytes(state))


def _store_register(state: State, instr: Decoded) -> None:
    """vs1r.v: a whole register. vl and vtype do not matter."""
    source, target = instr.operands
    state.memory.store_word(place(state, target), read_vector(state, source), vector_bytes(state))


TABLE: dict[str, Semantics] = {
    "vxor.vv v v v": _elementwise(_exclusive_or),
    "vand.vv v v v": _elementwise(domain.and_),
    "vadd.vv v v v": _elementwise(add_bytes),
    "vmv.v.v v v": _elementwise(lambda runs: runs),
    "vsrl.vi v v #": _shifted(_moved),
    "vsra.vi v v #": _shifted(_signed),
    "vsll.vi v v #": _shifted(lambda runs, by: _moved(runs, -by)),
    **forms(_splat, "vmv.v.i v #", "vmv.v.x v r"),
    "vmv1r.v v v": _copy_register,
    "vid.v v": _identify,
    **forms(_compare(lambda element, value: element == value), "vmseq.vx v v r", "vmseq.vi v v #"),
    **forms(_compare(lambda element, value: element <= value), "vmsleu.vx v v r", "vmsleu.vi v v #"),
    "vmsbf.m v v": _before_first,
    "vrgather.vv v v v": _gather,
    "vle8.v v (r)": _load,
    "vle8.v v (r) m": _load_masked,
    "vse8.v v (r)": _store,
    "vl1re8.v v (r)": _load_register,
    "vs1r.v v (r)": _store_register,
}
