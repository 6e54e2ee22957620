"""Loads and stores, after the WebAssembly Core Specification 2.0, 4.4.7. Alignment is only a hint."""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Linear, Word, add, base
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.wasm.decode import Decoded, Register
from gfsmith.prove.machine.wasm.registers import VECTOR_BYTES
from gfsmith.prove.machine.wasm.semantics.operands import (
    BYTES,
    Entry,
    Semantics,
    as_bytes,
    entry,
    vector,
    word,
    write,
    write_vector,
)


def _place(state: State, register: Register, instr: Decoded, size: int) -> Word:
    """Return the effective address: the register, as a number below 2^32, plus the offset.

    The sum does not wrap around, so with an offset the register itself must be an address in the region or
    behind it: an address before the region may have wrapped around.
    """
    alignment, offset = instr.numbers[:2]
    if 1 << alignment > size:
        raise Unsupported(f"{instr}: a module that is not valid")
    address = word(state, register)
    if isinstance(address, Linear) and offset:
        place = base(address)
        if place is None or state.facts.range(place[1])[0] < 0:
            raise Unsupported(f"{instr}: {address} may wrap around")
    return add(address, offset)


def _load(size: int) -> Semantics:
    """i32.load and its like, extended with zeros."""

    def run(state: State, instr: Decoded) -> None:
        at = _place(state, instr.operands[0], instr, size)
        write(state, instr.result, state.memory.load_word(at, size))

    return run


def _store(size: int) -> Semantics:
    """i32.store and its like."""

    def run(state: State, instr: Decoded) -> None:
        place, source = instr.operands
        at = _place(state, place, instr, size)
        state.memory.store_word(at, as_bytes(state, source, size), size)

    return run


def _load_vector(state: State, instr: Decoded) -> None:
    at = _place(state, instr.operands[0], instr, VECTOR_BYTES)
    write_vector(state, instr.result, state.memory.load(at, VECTOR_BYTES))


def _store_vector(state: State, instr: Decoded) -> None:
    place, source = instr.operands
    at = _place(state, place, instr, VECTOR_BYTES)
    state.memory.store_word(at, vector(state, source), VECTOR_BYTES)


def _load_splat(size: int) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        one = state.memory.load(_place(state, instr.operands[0], instr, size), size)
        write_vector(state, instr.result, domain.merge([*one] * (VECTOR_BYTES // size)))

    return run


def _load_zero(size: int) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        one = state.memory.load(_place(state, instr.operands[0], instr, size), size)
        write_vector(state, instr.result, domain.merge([*one, *domain.zeros(VECTOR_BYTES - size)]))

    return run


def lane(instr: Decoded, size: int) -> int:
    """Return the first byte of the lane whose number is the last one of an instruction."""
    number = instr.numbers[-1]
    if number >= VECTOR_BYTES // size:
        raise Unsupported(f"{instr}: there is no such lane")
    return number * size


def replaced(runs: Runs, at: int, one: Runs) -> Runs:
    """Return a vector with other bytes from byte `at` on."""
    end = at + domain.size(one)
    return domain.merge([*domain.cut(runs, 0, at), *one, *domain.cut(runs, end, VECTOR_BYTES)])


def _load_lane(size: int) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        place, source = instr.operands
        one = state.memory.load(_place(state, place, instr, size), size)
        write_vector(state, instr.result, replaced(vector(state, source), lane(instr, size), one))

    return run


def _store_lane(size: int) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        place, source = instr.operands
        at = lane(instr, size)
        one = domain.cut(vector(state, source), at, at + size)
        state.memory.store_word(_place(state, place, instr, size), one, size)

    return run


def _lanes() -> dict[str, Entry]:
    table = {}
    for size in (1, 2, 4, 8):
        bits = 8 * size
        table[f"v128.load{bits}_splat"] = entry("i32 -> v128", _load_splat(size))
        table[f"v128.load{bits}_lane"] = entry("i32 v128 -> v128", _load_lane(size))
        table[f"v128.store{bits}_lane"] = entry("i32 v128", _store_lane(size))
    return table


def _words(kind: str) -> dict[str, Entry]:
    size = BYTES[kind]
    table = {
        f"{kind}.load": entry(f"i32 -> {kind}", _load(size)),
        f"{kind}.store": entry(f"i32 {kind}", _store(size)),
    }
    for narrow in (1, 2, 4):
        if narrow < size:
            table[f"{kind}.load{8 * narrow}_u"] = entry(f"i32 -> {kind}", _load(narrow))
            table[f"{kind}.store{8 * narrow}"] = entry(f"i32 {kind}", _store(narrow))
    return table


TABLE: dict[str, Entry] = {
    **_words("i32"),
    **_words("i64"),
    "v128.load": entry("i32 -> v128", _load_vector),
    "v128.store": entry("i32 v128", _store_vector),
    "v128.load32_zero": entry("i32 -> v128", _load_zero(4)),
    "v128.load64_zero": entry("i32 -> v128", _load_zero(8)),
    **_lanes(),
}
