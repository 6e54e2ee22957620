"""Loads and stores, after the Arm Architecture Reference Manual, C6.2 and C7.2."""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import Decoded, General, Operand, Place, Vector
from gfsmith.prove.machine.aarch64.semantics.operands import (
    Semantics,
    after,
    as_bytes,
    general,
    place,
    read,
    read_vector,
    vector,
    write,
    write_vector,
)
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.linear import Address, Linear, Word, add, base
from gfsmith.prove.machine.state import Opaque, State

_PLACES = ("[x]", "[x]!", "[x], #", "[x x]", "[x x lsl]", "[x w uxtw]")
_PAIR_PLACES = _PLACES[:3]
_NARROW = {"b": 1, "h": 2}
_MOST = 4  #: registers of one ld1 or st1


def _check_base(instr: Decoded) -> None:
    """An instruction that moves its base must not use it otherwise (it is then unpredictable)."""
    *registers, where = instr.operands
    moved = isinstance(where, Place) and (where.before or where.after)
    names = {register.name for register in registers if isinstance(register, General)}
    if isinstance(where, Place) and moved and where.base.name in names:
        raise Unsupported(f"{instr} uses its base twice")


def _load_one(state: State, target: Operand, at: Word, size: int) -> None:
    if isinstance(target, Vector):
        write_vector(state, target, state.memory.load(at, size))
        return
    value = state.memory.load_word(at, size)
    write(state, general(target), value)


def _store_one(state: State, source: Operand, at: Word, size: int) -> None:
    if isinstance(source, Vector):
        state.memory.store_word(at, domain.cut(read_vector(state, source), 0, size), size)
        return
    value = read(state, general(source))
    if isinstance(value, Opaque):
        raise Unsupported(f"{value} is stored")
    if isinstance(value, tuple):
        value = domain.cut(value, 0, size)
    elif size < 8 or not _on_stack(at):
        value = value if isinstance(value, Linear) and size == 8 else as_bytes(value, size)
    state.memory.store_word(at, value, size)


def _on_stack(at: Word) -> bool:
    found = base(at) if isinstance(at, Linear) else None
    return found is not None and found[0] == Address("stack")


def _size(instr: Decoded) -> int:
    """Bytes that each register of a load or store moves."""
    narrow = _NARROW.get(instr.mnemonic[-1]) if instr.mnemonic[2:] not in ("r", "p", "ur") else None
    target = instr.operands[0]
    return narrow or (target.size if isinstance(target, Vector) else general(target).size)


def _load(state: State, instr: Decoded) -> None:
    """ldr, ldur, ldp and the narrow ones."""
    _check_base(instr)
    *targets, where = instr.operands
    at, size = place(state, where, instr), _size(instr)
    for number, target in enumerate(targets):
        _load_one(state, target, add(at, number * size), size)
    after(state, where)


def _store(state: State, instr: Decoded) -> None:
    """str, stur, stp and the narrow ones."""
    _check_base(instr)
    *sources, where = instr.operands
    at, size = place(state, where, instr), _size(instr)
    for number, source in enumerate(sources):
        _store_one(state, source, add(at, number * size), size)
    after(state, where)


def _vector_bytes(operand: Operand) -> int:
    """Bytes that a structure load or store moves for a register: the vector's, or one element's."""
    register = vector(operand)
    return register.size if register.lane is None else register.element


def _load_vectors(state: State, instr: Decoded) -> None:
    """ld1: one to four vectors, or one element."""
    *targets, where = instr.operands
    at = place(state, where, instr)
    for target in targets:
        size = _vector_bytes(target)
        write_vector(state, target, state.memory.load(at, size))
        at = add(at, size)
    after(state, where)


def _store_vectors(state: State, instr: Decoded) -> None:
    """st1: one to four vectors, or one element."""
    *sources, where = instr.operands
    at = place(state, where, instr)
    for source in sources:
        size = _vector_bytes(source)
        state.memory.store_word(at, read_vector(state, source), size)
        at = add(at, size)
    after(state, where)


def _load_all_over(state: State, instr: Decoded) -> None:
    """ld1r: one element, everywhere."""
    target, where = instr.operands
    register = vector(target)
    one: Runs = state.memory.load(place(state, where, instr), register.element)
    write_vector(state, target, domain.merge([*one] * (register.size // register.element)))
    after(state, where)


def _single(load: Semantics, store: Semantics) -> dict[str, Semantics]:
    table: dict[str, Semantics] = {}
    for where in _PLACES:
        shifted = "lsl" in where  # not by 0, so not for bytes
        for register in "xwqdsh" if shifted else "xwqdshb":
            table[f"ldr {register} {where}"], table[f"str {register} {where}"] = load, store
        for width in "h" if shifted else "hb":
            table[f"ldr{width} w {where}"], table[f"str{width} w {where}"] = load, store
    for register in "xwqdshb":
        table[f"ldur {register} [x]"], table[f"stur {register} [x]"] = load, store
    for width in _NARROW:
        table[f"ldur{width} w [x]"], table[f"stur{width} w [x]"] = load, store
    return table


def _pairs(load: Semantics, store: Semantics) -> dict[str, Semantics]:
    table: dict[str, Semantics] = {}
    for where in _PAIR_PLACES:
        for register in "xwqds":
            pair = f"{register} {register} {where}"
            table[f"ldp {pair}"], table[f"stp {pair}"] = load, store
    return table


def _structures(name: str, meaning: Semantics) -> dict[str, Semantics]:
    vectors = [" ".join([shape] * count) for shape in ("16b", "2d") for count in range(1, _MOST + 1)]
    elements = [f"{element}[]" for element in "bhsd"]
    return forms(
        meaning, *(f"{name} {what} {where}" for what in vectors + elements for where in ("[x]", "[x], #"))
    )


TABLE: dict[str, Semantics] = {
    **_single(_load, _store),
    **_pairs(_load, _store),
    **_structures("ld1", _load_vectors),
    **_structures("st1", _store_vectors),
    **forms(_load_all_over, *(f"ld1r {shape} [x]" for shape in ("16b", "8h", "4s", "2d"))),
}
