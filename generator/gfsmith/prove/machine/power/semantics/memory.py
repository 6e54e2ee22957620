"""Loads and stores, after the Power ISA, book I, 3.3.2, 4.6 and 7.6.1, little endian."""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.alignment import is_multiple
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.invariant import junk
from gfsmith.prove.machine.linear import Address, Linear, Word, base
from gfsmith.prove.machine.operands import general, word
from gfsmith.prove.machine.power.decode import Decoded
from gfsmith.prove.machine.power.registers import STACK_ALIGNMENT
from gfsmith.prove.machine.power.semantics.operands import (
    Semantics,
    as_bytes,
    place,
    read,
    read_vector,
    update,
    write,
    write_vector,
)
from gfsmith.prove.machine.state import State, Value
from gfsmith.prove.machine.substitution import field

_WIDTHS = {"b": 1, "h": 2, "w": 4, "d": 8}
_UNSIGNED = {"lbz": 1, "lhz": 2, "lwz": 4, "ld": 8}


def _load(size: int, updates: bool = False) -> Semantics:
    """Extended with zeros."""

    def run(state: State, instr: Decoded) -> None:
        at = place(state, instr)
        if updates:
            update(state, instr, at)
        write(state, instr.operands[0], state.memory.load_word(at, size))

    return run


def _store(size: int, updates: bool = False) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        at = place(state, instr)
        value = read(state, instr.operands[0])
        if updates:
            update(state, instr, at)
        state.memory.store_word(at, _stored(value, at, size), size)

    return run


def _stored(value: Value, at: Word, size: int) -> Value:
    """Return the stored bytes; a store of 8 bytes keeps an address, or on the stack any value, as it is."""
    found = base(at) if isinstance(at, Linear) else None
    whole = size == 8 and found is not None and found[0] == Address("stack")
    if whole or (size == 8 and isinstance(value, Linear)):
        return value
    return as_bytes(value, size)


def _load_vector(state: State, instr: Decoded) -> None:
    """lxvd2x: the first doubleword in memory is the left one."""
    write_vector(state, instr.operands[0], state.memory.load(place(state, instr), 16))


def _store_vector(state: State, instr: Decoded) -> None:
    """stxvd2x."""
    state.memory.store_word(place(state, instr), read_vector(state, instr.operands[0]), 16)


def _aligned(state: State, instr: Decoded) -> Word:
    """Return the address of lvx or stvx, which clear its low four bits: they must be 0 already."""
    at = place(state, instr)
    if not is_multiple(state, at, 16) and not _on_stack(at):
        raise Unsupported(f"{instr}: {at} may be no multiple of 16")
    return at


def _on_stack(at: Word) -> bool:
    """Return whether a place is on the stack, a multiple of the alignment from the stack pointer on entry."""
    found = base(at) if isinstance(at, Linear) else None
    if found is None or found[0] != Address("stack") or not isinstance(found[1], int):
        return False
    return found[1] % STACK_ALIGNMENT == 0


def _swapped(runs: Runs) -> Runs:
    """Exchange the doublewords: the first byte in memory is the register's last one."""
    return domain.merge([*domain.cut(runs, 8, 16), *domain.cut(runs, 0, 8)])


def _load_whole(state: State, instr: Decoded) -> None:
    """lvx."""
    write_vector(state, instr.operands[0], _swapped(state.memory.load(_aligned(state, instr), 16)))


def _store_whole(state: State, instr: Decoded) -> None:
    """stvx."""
    at = _aligned(state, instr)
    state.memory.store_word(at, _swapped(read_vector(state, instr.operands[0])), 16)


def _load_quadword(state: State, instr: Decoded) -> None:
    """lxv, lxvx: from any address."""
    write_vector(state, instr.operands[0], _swapped(state.memory.load(place(state, instr), 16)))


def _store_quadword(state: State, instr: Decoded) -> None:
    """stxv, stxvx."""
    state.memory.store_word(place(state, instr), _swapped(read_vector(state, instr.operands[0])), 16)


def _count(state: State, instr: Decoded) -> Word:
    """Return the number of bytes of lxvl or stxvl: the uppermost byte of the last operand, up to 16."""
    count = field(state, word(state, instr.operands[2]), 56, 8)
    low, high = state.facts.range(count)
    if isinstance(count, Linear) and (low < 0 or high > 16):
        raise Unsupported(f"{instr} of {count} bytes")
    return min(count, 16) if isinstance(count, int) else count


def _load_part(state: State, instr: Decoded) -> None:
    """lxvl: some bytes, then zeros."""
    at, count = word(state, instr.operands[1]), _count(state, instr)
    if isinstance(count, Linear):
        runs = state.memory.load_end(at, 16, count)
    else:
        runs = (*(state.memory.load(at, count) if count else ()), *domain.zeros(16 - count))
    write_vector(state, instr.operands[0], _swapped(domain.merge(list(runs))))


def _store_part(state: State, instr: Decoded) -> None:
    """stxvl."""
    at, count = word(state, instr.operands[1]), _count(state, instr)
    runs = _swapped(read_vector(state, instr.operands[0]))
    if isinstance(count, Linear):
        state.memory.store_end(at, runs, count)
    elif count:
        state.memory.store_word(at, domain.cut(runs, 0, count), count)


def _load_low(size: int) -> Semantics:
    """lfd, lxsdx, and lfiwzx, lxsiwzx of 4 bytes: doubleword 0, extended with zeros; the other one is
    undefined."""

    def run(state: State, instr: Decoded) -> None:
        first = state.memory.load(place(state, instr), size)
        write_vector(state, instr.operands[0], domain.merge([*first, *domain.zeros(8 - size), *junk(8)]))

    return run


def _store_low(size: int) -> Semantics:
    """stfd, stfiwx and their like: the low bytes of doubleword 0."""

    def run(state: State, instr: Decoded) -> None:
        low = domain.cut(read_vector(state, instr.operands[0]), 0, size)
        state.memory.store_word(place(state, instr), low, size)

    return run


def _distinct(meaning: Semantics) -> Semantics:
    """Loads with update whose target is their base are invalid."""

    def run(state: State, instr: Decoded) -> None:
        last = instr.operands[-1]
        where = last if len(instr.operands) == 2 else instr.operands[-2]
        if getattr(where, "base", getattr(where, "name", "")) == general(instr.operands[0]):
            raise Unsupported(f"{instr} loads its own base")
        meaning(state, instr)

    return run


def _indexed(name: str, meaning: Semantics, register: str = "v") -> dict[str, Semantics]:
    return forms(meaning, f"{name} {register} r r", f"{name} {register} # r")


def _plain() -> dict[str, Semantics]:
    table: dict[str, Semantics] = {}
    for name, size in _UNSIGNED.items():
        table[f"{name} r [r]"] = _load(size)
        table[f"{name}u r [r]"] = _distinct(_load(size, updates=True))
        table[f"{name}ux r r r"] = _distinct(_load(size, updates=True))
        table |= _indexed(f"{name}x", _load(size), "r")
    for letter, size in _WIDTHS.items():
        table[f"st{letter} r [r]"] = _store(size)
        table[f"st{letter}u r [r]"] = table[f"st{letter}ux r r r"] = _store(size, updates=True)
        table |= _indexed(f"st{letter}x", _store(size), "r")
    return table


TABLE: dict[str, Semantics] = {
    **_plain(),
    **_indexed("lxvd2x", _load_vector),
    **_indexed("stxvd2x", _store_vector),
    **forms(_load_quadword, "lxv v [r]"),
    **_indexed("lxvx", _load_quadword),
    **forms(_store_quadword, "stxv v [r]"),
    **_indexed("stxvx", _store_quadword),
    **forms(_load_part, "lxvl v r r"),
    **forms(_store_part, "stxvl v r r"),
    **_indexed("lvx", _load_whole),
    **_indexed("stvx", _store_whole),
    **forms(_load_low(8), "lfd v [r]"),
    **_indexed("lfdx", _load_low(8)),
    **_indexed("lxsdx", _load_low(8)),
    **_indexed("lfiwzx", _load_low(4)),
    **_indexed("lxsiwzx", _load_low(4)),
    **forms(_store_low(8), "stfd v [r]"),
    **_indexed("stfdx", _store_low(8)),
    **_indexed("stxsdx", _store_low(8)),
    **_indexed("stfiwx", _store_low(4)),
    **_indexed("stxsiwx", _store_low(4)),
}
