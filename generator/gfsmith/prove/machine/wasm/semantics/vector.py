"""Instructions on v128, after the WebAssembly Core Specification 2.0, 4.3.3, and relaxed SIMD."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Form, Run, Runs, Unsupported
from gfsmith.prove.machine.lanes import known, look_up_runs, signs
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.wasm.decode import Decoded
from gfsmith.prove.machine.wasm.registers import VECTOR_BYTES
from gfsmith.prove.machine.wasm.semantics.memory import lane, replaced
from gfsmith.prove.machine.wasm.semantics.operands import (
    Entry,
    Semantics,
    as_bytes,
    entry,
    number,
    vector,
    write,
    write_vector,
)

#: The feature of engines with i8x16.relaxed_swizzle and its like.
RELAXED = "relaxed SIMD"
_SHAPES = {"i8x16": (1, "i32"), "i16x8": (2, "i32"), "i32x4": (4, "i32"), "i64x2": (8, "i64")}
_LOW_BITS = 7


def _constant(state: State, instr: Decoded) -> None:
    """v128.const, as four words."""
    data = b"".join(part.to_bytes(4, "little") for part in instr.numbers)
    write_vector(state, instr.result, domain.constant_runs(data))


def _bitwise(combine: Callable[[Runs, Runs], Runs]) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        left, right = (vector(state, operand) for operand in instr.operands)
        write_vector(state, instr.result, combine(left, right))

    return run


def _and_not(left: Runs, right: Runs) -> Runs:
    """Return left & ~right, for a constant on the right."""
    return domain.and_(left, domain.constant_runs(bytes(0xFF ^ byte for byte in known(right))))


def _shift(towards_zero: int) -> Semantics:
    """i8x16.shl (-1), i8x16.shr_u (1), by the count modulo 8."""

    def run(state: State, instr: Decoded) -> None:
        source, count = instr.operands
        by = number(state, count, instr) & _LOW_BITS
        out: list[Run] = []
        for length, piece in vector(state, source):
            if not isinstance(piece, Form):
                raise Unsupported("arithmetic on raw table bytes")
            out.append((length, domain.shift_rows(piece, towards_zero * by)))
        write_vector(state, instr.result, domain.merge(out))

    return run


def _shift_signed(state: State, instr: Decoded) -> None:
    """i8x16.shr_s, by the count modulo 8: by 7, or of known bytes."""
    source, count = instr.operands
    by = number(state, count, instr) & _LOW_BITS
    runs = vector(state, source)
    if by == _LOW_BITS:
        write_vector(state, instr.result, signs(runs))
        return
    signed = memoryview(known(runs)).cast("b")
    write_vector(state, instr.result, domain.constant_runs(bytes(byte >> by & 0xFF for byte in signed)))


def _swizzle(state: State, instr: Decoded) -> None:
    """i8x16.swizzle: an index above 15 selects 0."""
    table, index = (vector(state, operand) for operand in instr.operands)
    found = look_up_runs(state, table, index, lambda n: n if n < VECTOR_BYTES else None)
    write_vector(state, instr.result, domain.merge(list(found)))


def _relaxed_swizzle(state: State, instr: Decoded) -> None:
    """i8x16.relaxed_swizzle: for an index from 16 to 127 the result depends on the engine."""

    def select(index: int) -> int | None:
        if VECTOR_BYTES <= index < 128:
            raise Unsupported(f"{instr}: an index of {index}")
        return index if index < VECTOR_BYTES else None

    table, index = (vector(state, operand) for operand in instr.operands)
    write_vector(state, instr.result, domain.merge(list(look_up_runs(state, table, index, select))))


def _shuffle(state: State, instr: Decoded) -> None:
    """i8x16.shuffle: bytes of two vectors, by constant numbers."""
    both = [run for operand in instr.operands for run in vector(state, operand)]
    chosen = b"".join(part.to_bytes(4, "little") for part in instr.numbers)
    runs = domain.merge(both)
    write_vector(state, instr.result, domain.merge([*(domain.cut(runs, n, n + 1)[0] for n in chosen)]))


def _splat(size: int) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        one = as_bytes(state, instr.operands[0], size)
        write_vector(state, instr.result, domain.merge([*one] * (VECTOR_BYTES // size)))

    return run


def _replace(size: int) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        source, value = instr.operands
        one = as_bytes(state, value, size)
        write_vector(state, instr.result, replaced(vector(state, source), lane(instr, size), one))

    return run


def _extract(size: int) -> Semantics:
    def run(state: State, instr: Decoded) -> None:
        at = lane(instr, size)
        write(state, instr.result, domain.cut(vector(state, instr.operands[0]), at, at + size))

    return run


def _lanes() -> dict[str, Entry]:
    table = {}
    for shape, (size, kind) in _SHAPES.items():
        suffix = "_u" if size < 4 else ""
        table[f"{shape}.splat"] = entry(f"{kind} -> v128", _splat(size))
        table[f"{shape}.replace_lane"] = entry(f"v128 {kind} -> v128", _replace(size))
        table[f"{shape}.extract_lane{suffix}"] = entry(f"v128 -> {kind}", _extract(size))
    return table


_TWO = "v128 v128 -> v128"
_BY = "v128 i32 -> v128"
TABLE: dict[str, Entry] = {
    "v128.const": entry("-> v128", _constant),
    "v128.xor": entry(_TWO, _bitwise(domain.xor)),
    "v128.and": entry(_TWO, _bitwise(domain.and_)),
    "v128.andnot": entry(_TWO, _bitwise(_and_not)),
    "i8x16.shl": entry(_BY, _shift(-1)),
    "i8x16.shr_u": entry(_BY, _shift(1)),
    "i8x16.shr_s": entry(_BY, _shift_signed),
    "i8x16.swizzle": entry(_TWO, _swizzle),
    "i8x16.relaxed_swizzle": entry(_TWO, _relaxed_swizzle, RELAXED),
    "i8x16.shuffle": entry(_TWO, _shuffle),
    **_lanes(),
}
