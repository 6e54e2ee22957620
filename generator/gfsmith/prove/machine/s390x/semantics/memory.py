"""Loads and stores, after the Principles of Operation, chapters 7 and 21. Memory is big endian.

A general register that holds an unknown number or an address is stored to the stack as it is. All other
values are stored as bytes in the order of memory, so that a part of them can be read back.
"""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.invariant import junk
from gfsmith.prove.machine.linear import Address, Linear, Word, add, base, subtract
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.modular import total
from gfsmith.prove.machine.operands import general
from gfsmith.prove.machine.s390x.decode import Decoded, Place
from gfsmith.prove.machine.s390x.registers import GENERAL
from gfsmith.prove.machine.s390x.semantics.operands import (
    Semantics,
    as_bytes,
    backwards,
    low_word,
    place,
    read,
    read_vector,
    settled,
    write_vector,
)
from gfsmith.prove.machine.state import Opaque, State, Value

_WORD = 8
_VECTOR = 16


def _check_order(state: State, at: Word, size: int) -> None:
    """Raise Unsupported for a read of a part of a number on the stack, whose bytes the core has in the other
    order."""
    found = base(at)
    if found is None or found[0] != Address("stack") or not isinstance(state.memory, Memory):
        return
    for start, (content, length) in state.memory.stack.slots.items():
        if isinstance(content, tuple) or (start, length) == (found[1], size) == (start, _WORD):
            continue
        low, high = state.facts.range(subtract(found[1], start))
        if low < length and high > -size:
            raise Unsupported("a part of a saved number is read")


def load(state: State, at: Word, size: int) -> Runs:
    """Return bytes of memory, in its order."""
    _check_order(state, at, size)
    found = base(at)
    if found is not None and found[0] == Address("stack") and size == _WORD:
        content = state.memory.load_word(at, size)
        return content if isinstance(content, tuple) else backwards(as_bytes(content))
    return state.memory.load(at, size)


def load_word(state: State, at: Word) -> Value:
    """Return the value that a general register loads."""
    _check_order(state, at, _WORD)
    found = state.memory.load_word(at, _WORD)
    if isinstance(state.memory, Memory):
        return settled(backwards(found)) if isinstance(found, tuple) else found
    return settled(backwards(as_bytes(found)))  # plain memory, whose words are little endian


def store_word(state: State, at: Word, value: Value) -> None:
    """Store a general register."""
    stored = value if isinstance(value, Linear) else backwards(as_bytes(value))
    state.memory.store_word(at, stored, _WORD)


def _store(state: State, instr: Decoded) -> None:
    """stg."""
    source, target = instr.operands
    store_word(state, place(state, target), read(state, source))


def _several(state: State, instr: Decoded) -> list[tuple[str, Word]]:
    """Return the registers of lmg or stmg, from one to another, and their addresses."""
    first, last, where = instr.operands
    start, end = (GENERAL.index(general(operand)) for operand in (first, last))
    names = [GENERAL[n % 16] for n in range(start, end + 1 if end >= start else end + 17)]
    at = place(state, where)
    return [(name, total(at, _WORD * n)) for n, name in enumerate(names)]


def _load_several(state: State, instr: Decoded) -> None:
    """lmg."""
    values = {name: load_word(state, at) for name, at in _several(state, instr)}
    state.gpr.update(values)


def _store_several(state: State, instr: Decoded) -> None:
    """stmg."""
    for name, at in _several(state, instr):
        value = state.gpr[name]
        if isinstance(value, Opaque):
            raise Unsupported(f"{value} is stored")
        store_word(state, at, value)


def _copy(state: State, instr: Decoded) -> None:
    """mvc of eight bytes that do not overlap: a pointer or bytes."""
    target, source = instr.operands
    if not isinstance(target, Place) or target.length != _WORD:
        raise Unsupported(f"{instr} of other than {_WORD} bytes")
    to, at = place(state, target), place(state, source)
    gap = subtract(to, at)
    if isinstance(gap, int) and 0 < abs(gap) < _WORD:
        raise Unsupported(f"{instr} overlaps")
    store_word(state, to, load_word(state, at))


def _load_vector(state: State, instr: Decoded) -> None:
    """vl."""
    target, source = instr.operands
    write_vector(state, target, load(state, place(state, source), _VECTOR))


def _store_vector(state: State, instr: Decoded) -> None:
    """vst."""
    source, target = instr.operands
    state.memory.store_word(place(state, target), read_vector(state, source), _VECTOR)


def _count(state: State, instr: Decoded) -> Word:
    """Return the number of bytes of vll or vstl: one more than a register's lower half, up to 16."""
    count = add(low_word(state, instr.operands[1]), 1)
    if isinstance(count, int):
        return min(count, _VECTOR)
    if state.facts.range(count)[1] > _VECTOR:
        raise Unsupported(f"{instr} of {count} bytes")
    return count


def _load_part(state: State, instr: Decoded) -> None:
    """vll: some bytes, then zeros."""
    count, at = _count(state, instr), place(state, instr.operands[2])
    if isinstance(count, Linear):
        runs = state.memory.load_end(at, _VECTOR, count)
    else:
        runs = domain.merge([*load(state, at, count), *domain.zeros(_VECTOR - count)])
    write_vector(state, instr.operands[0], runs)


def _store_part(state: State, instr: Decoded) -> None:
    """vstl."""
    count, at = _count(state, instr), place(state, instr.operands[2])
    runs = read_vector(state, instr.operands[0])
    if isinstance(count, Linear):
        state.memory.store_end(at, runs, count)
    else:
        state.memory.store_word(at, domain.cut(runs, 0, count), count)


def _load_half(state: State, instr: Decoded) -> None:
    """ld: the left half; the right one is undefined."""
    target, source = instr.operands
    write_vector(state, target, (*load(state, place(state, source), _WORD), *junk(_WORD)))


def _store_half(state: State, instr: Decoded) -> None:
    """std."""
    source, target = instr.operands
    left = domain.cut(read_vector(state, source), 0, _WORD)
    state.memory.store_word(place(state, target), left, _WORD)


TABLE: dict[str, Semantics] = {
    **forms(_store, "stg r []"),
    **forms(_load_several, "lmg r r []"),
    **forms(_store_several, "stmg r r []"),
    **forms(_copy, "mvc [n] []"),
    **forms(_load_vector, "vl v []"),
    **forms(_store_vector, "vst v []"),
    **forms(_load_part, "vll v r []"),
    **forms(_store_part, "vstl v r []"),
    **forms(_load_half, "ld v []"),
    **forms(_store_half, "std v []"),
}
