"""The required results of a kernel, as polynomials, from its spec and the field alone.

This module does not depend on the generator's tables or code. Coefficients are eight variables each, so a
proof holds for all coefficients at once; data bytes are eight variables per shard and position.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gfsmith.field import Field
from gfsmith.kernel.spec import KernelSpec, Operation, TableFormat
from gfsmith.prove.polynomial import ZERO, Polynomial, constant_byte, variable_byte

Byte = tuple[Polynomial, ...]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """The coefficient of one source in one output."""

    source: int
    output: int


@dataclass(frozen=True, slots=True)
class Data:
    """The byte at `offset` (from the loop's position) of a source or, before the call, destination."""

    space: str
    index: int
    offset: int


@lru_cache(maxsize=1 << 16)
def data_byte(data: Data) -> Byte:
    return variable_byte(data)


@lru_cache(maxsize=1 << 12)
def coefficient_byte(coefficient: Coefficient) -> Byte:
    return variable_byte(coefficient)


def multiply(field: Field, constant: Byte, x: Byte) -> Byte:
    """Return the product in the field, from its bilinear form."""
    result = []
    for pairs in field.bilinear():
        total = ZERO
        for i, j in pairs:
            if constant[j]:
                total = total ^ (x[i] & constant[j])
        result.append(total)
    return tuple(result)


@lru_cache(maxsize=1 << 12)
def entry(field: Field, fmt: TableFormat, coefficient: Coefficient) -> tuple[Byte, ...]:
    """Return the bytes of a coefficient's table entry, from the definition of the format."""
    c = coefficient_byte(coefficient)
    match fmt:
        case TableFormat.NIBBLE:
            low = [multiply(field, c, constant_byte(n)) for n in range(16)]
            high = [multiply(field, c, constant_byte(n << 4)) for n in range(16)]
            return (*low, *high)
        case TableFormat.PERMXOR:
            straight = entry(field, TableFormat.NIBBLE, coefficient)
            return tuple(straight[n ^ 7] for n in range(32))
        case TableFormat.AFFINE:
            columns = [multiply(field, c, constant_byte(1 << b)) for b in range(8)]
            return tuple(tuple(column[7 - row] for column in columns) for row in range(8))
        case TableFormat.BITPLANE:
            return tuple(multiply(field, c, constant_byte(1 << b)) for b in range(8))
        case TableFormat.MULB:
            return (c,) * 8
        case TableFormat.NONE:
            return ()


def add(left: Byte, right: Byte) -> Byte:
    return tuple(x ^ y for x, y in zip(left, right, strict=True))


def product(spec: KernelSpec, source: int, output: int, offset: int) -> Byte:
    """Return c[output][source] * src[source] at `offset`; for XOR and HORNER the source itself."""
    data = Data("src", source, offset)
    if spec.operation in (Operation.XOR, Operation.HORNER):
        return data_byte(data)
    if spec.baked is not None:
        return _product(spec.field, spec.baked.rows[output][source], data)
    return _product(spec.field, Coefficient(source, output), data)


@lru_cache(maxsize=1 << 16)
def _product(field: Field, factor: int | Coefficient, data: Data) -> Byte:
    constant = constant_byte(factor) if isinstance(factor, int) else coefficient_byte(factor)
    return multiply(field, constant, data_byte(data))


def advance(spec: KernelSpec, total: Byte, source: int, output: int, offset: int) -> Byte:
    """Return the sum over the sources up to `source`, given the sum up to the source before it.

    Horner's rule first multiplies the sum by 2^output, which is 1 << output in any field of bytes.
    """
    if spec.operation is Operation.HORNER:
        total = multiply(spec.field, constant_byte(1 << output), total)
    return add(total, product(spec, source, output, offset))


def initial(spec: KernelSpec, output: int, offset: int) -> Byte:
    """Return the value to which the sum over the sources is added."""
    if spec.operation is Operation.MAD:
        return data_byte(Data("dst", output, offset))
    return constant_byte(0)


def expected(spec: KernelSpec, sources: range, output: int, offset: int) -> Byte:
    """Return dst[output] at `offset` after the kernel has run over the given sources."""
    total = initial(spec, output, offset)
    for source in sources:
        total = advance(spec, total, source, output, offset)
    return total
