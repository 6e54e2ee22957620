"""Instructions on i32 and i64, after the WebAssembly Core Specification 2.0, 4.3.2."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import Linear, Word, add, base, scale, subtract
from gfsmith.prove.machine.modular import nearest
from gfsmith.prove.machine.state import Condition, Difference, State, Truth
from gfsmith.prove.machine.substitution import field, quotient
from gfsmith.prove.machine.wasm.decode import Decoded, Register
from gfsmith.prove.machine.wasm.semantics.operands import (
    BYTES,
    COPY,
    Entry,
    Semantics,
    as_bytes,
    bounded,
    entry,
    is_data,
    number,
    read,
    word,
    write,
)

_UNSIGNED = {
    "eq": Condition.EQUAL,
    "ne": Condition.NOT_EQUAL,
    "lt_u": Condition.BELOW,
    "le_u": Condition.NOT_ABOVE,
    "gt_u": Condition.ABOVE,
    "ge_u": Condition.NOT_BELOW,
}
_SIGNED = {
    "lt_s": Condition.LESS,
    "le_s": Condition.NOT_GREATER,
    "gt_s": Condition.GREATER,
    "ge_s": Condition.NOT_LESS,
}
_HALF = {
    Condition.EQUAL: Condition.NOT_EQUAL,
    Condition.BELOW: Condition.NOT_BELOW,
    Condition.NOT_ABOVE: Condition.ABOVE,
    Condition.LESS: Condition.NOT_LESS,
    Condition.NOT_GREATER: Condition.GREATER,
}
_OPPOSITE = _HALF | {other: one for one, other in _HALF.items()}


def _copy(state: State, instr: Decoded) -> None:
    """local.get, local.set, local.tee."""
    (source,), target = instr.operands, instr.result
    assert target is not None
    if source.type == "v128":
        state.vectors[target.number] = state.vectors[source.number]
    elif source.type in BYTES:
        state.gpr[target.name] = read(state, source)
    else:
        raise Unsupported(f"{instr}: a variable of type {source.type}")


def _constant(state: State, instr: Decoded) -> None:
    write(state, instr.result, instr.numbers[0])


def _sum(combine: Callable[[Word, Word], Word], size: int) -> Semantics:
    """add, sub."""

    def run(state: State, instr: Decoded) -> None:
        left, right = (nearest(word(state, operand), size) for operand in instr.operands)
        write(state, instr.result, combine(left, right))

    return run


def _multiply(size: int) -> Semantics:
    """mul: at most one factor is unknown."""

    def run(state: State, instr: Decoded) -> None:
        left, right = (nearest(word(state, operand), size) for operand in instr.operands)
        if isinstance(left, int):
            left, right = right, left
        if not isinstance(right, int):
            raise Unsupported(f"{instr} multiplies two unknowns")
        write(state, instr.result, scale(left, right))

    return run


def _shift_left(size: int) -> Semantics:
    """shl by a known number; of data by whole bytes."""

    def run(state: State, instr: Decoded) -> None:
        source, count = instr.operands
        by = number(state, count, instr) % (8 * size)
        if not is_data(read(state, source)):
            write(state, instr.result, scale(word(state, source), 1 << by))
            return
        if by % 8:
            raise Unsupported(f"{instr} takes data to pieces")
        kept = domain.cut(as_bytes(state, source, size), 0, size - by // 8)
        write(state, instr.result, domain.merge([*domain.zeros(by // 8), *kept]))

    return run


def _shift_right(size: int) -> Semantics:
    """shr_u by a known number; of data by whole bytes."""

    def run(state: State, instr: Decoded) -> None:
        source, count = instr.operands
        by = number(state, count, instr) % (8 * size)
        if is_data(read(state, source)):
            if by % 8:
                raise Unsupported(f"{instr} takes data to pieces")
            write(state, instr.result, domain.cut(as_bytes(state, source, size), by // 8, size))
            return
        value = bounded(state, word(state, source), size, instr)
        if isinstance(value, Linear):
            write(state, instr.result, quotient(state, value, 1 << by)[0])
        else:
            write(state, instr.result, value >> by)

    return run


def _and(size: int) -> Semantics:
    """and: of an unknown with adjacent bits."""

    def run(state: State, instr: Decoded) -> None:
        left, mask = (word(state, operand) for operand in instr.operands)
        if isinstance(left, int):
            left, mask = mask, left
        if not isinstance(mask, int):
            raise Unsupported(f"{instr} on {left} and {mask}")
        if isinstance(left, int):
            write(state, instr.result, left & mask)
            return
        low = (mask & -mask).bit_length() - 1
        width = mask.bit_length() - low
        if not mask or base(left) is not None or mask >> low != (1 << width) - 1:
            raise Unsupported(f"{instr} of {left} and {mask:#x}")
        bits = (
            quotient(state, left, 1 << low)[0] if low + width == 8 * size else field(state, left, low, width)
        )
        write(state, instr.result, scale(bits, 1 << low))

    return run


def _exclusive_or(size: int) -> Semantics:
    """xor: of data too."""

    def run(state: State, instr: Decoded) -> None:
        left, right = instr.operands
        if is_data(read(state, left)) or is_data(read(state, right)):
            sides = (as_bytes(state, side, size) for side in (left, right))
            write(state, instr.result, domain.xor(*sides))
        else:
            write(state, instr.result, number(state, left, instr) ^ number(state, right, instr))

    return run


def _compare(size: int, condition: Condition, is_signed: bool) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        left, right = (word(state, operand) for operand in instr.operands)
        if is_signed:
            left, right = nearest(left, size), nearest(right, size)
        _write_truth(state, instr, Truth(Difference(left, right, size), condition))

    return run


def _is_zero(size: int) -> Semantics:
    """eqz."""

    def run(state: State, instr: Decoded) -> None:
        _write_truth(state, instr, opposite(tested(state, instr.operands[0], size)))

    return run


def _write_truth(state: State, instr: Decoded, value: Truth) -> None:
    assert instr.result is not None
    state.gpr[instr.result.name] = value


def tested(state: State, register: Register, size: int = 4) -> Truth:
    """Return whether a register is not 0."""
    value = read(state, register)
    if isinstance(value, Truth):
        return value
    return Truth(Difference(word(state, register), 0, size), Condition.NOT_EQUAL)


def opposite(value: Truth) -> Truth:
    return Truth(value.flags, _OPPOSITE[value.condition])


def _extend(state: State, instr: Decoded) -> None:
    """i64.extend_i32_u."""
    (source,) = instr.operands
    if is_data(read(state, source)):
        write(state, instr.result, as_bytes(state, source, 4))
    else:
        write(state, instr.result, bounded(state, word(state, source), 4, instr))


def _cut(state: State, instr: Decoded) -> None:
    """i32.wrap_i64."""
    (source,) = instr.operands
    if is_data(read(state, source)):
        write(state, instr.result, as_bytes(state, source, 4))
    else:
        write(state, instr.result, word(state, source))


def _of_type(kind: str) -> dict[str, Entry]:
    size = BYTES[kind]
    two = f"{kind} {kind} -> {kind}"
    compared = f"{kind} {kind} -> i32"
    return {
        f"{kind}.const": entry(f"-> {kind}", _constant),
        f"{kind}.add": entry(two, _sum(add, size)),
        f"{kind}.sub": entry(two, _sum(subtract, size)),
        f"{kind}.mul": entry(two, _multiply(size)),
        f"{kind}.shl": entry(two, _shift_left(size)),
        f"{kind}.shr_u": entry(two, _shift_right(size)),
        f"{kind}.and": entry(two, _and(size)),
        f"{kind}.xor": entry(two, _exclusive_or(size)),
        f"{kind}.eqz": entry(f"{kind} -> i32", _is_zero(size)),
        **{f"{kind}.{name}": entry(compared, _compare(size, c, False)) for name, c in _UNSIGNED.items()},
        **{f"{kind}.{name}": entry(compared, _compare(size, c, True)) for name, c in _SIGNED.items()},
    }


TABLE: dict[str, Entry] = {
    COPY: Entry((), "", _copy),
    "nop": entry("", lambda state, instr: None),
    **_of_type("i32"),
    **_of_type("i64"),
    "i64.extend_i32_u": entry("i32 -> i64", _extend),
    "i32.wrap_i64": entry("i64 -> i32", _cut),
}
