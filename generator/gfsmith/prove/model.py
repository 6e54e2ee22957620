"""What a kernel must compute, as polynomials, from its spec and the field alone.

Nothing here looks at how the generator makes tables or code. Coefficients are eight variables each, so a
proof holds for all coefficients at once; data bytes are eight variables per shard and position.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gfsmith.field import Field
from gfsmith.prove.polynomial import ZERO, Polynomial, constant_byte, variable_byte
from gfsmith.spec import KernelSpec, Operation, TableFormat

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
    """The product in the field, from its bilinear form."""
    result = []
    for pairs in field.bilinear():
        total = ZERO
        for i, j in pairs:
            total = total ^ (x[i] & constant[j])
        result.append(total)
    return tuple(result)


@lru_cache(maxsize=1 << 12)
def entry(field: Field, fmt: TableFormat, coefficient: Coefficient) -> tuple[Byte, ...]:
    """The bytes of a coefficient's table entry, straight from the definition of the format."""
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


@lru_cache(maxsize=1 << 16)
def product(spec: KernelSpec, source: int, output: int, offset: int) -> Byte:
    """c[output][source] * src[source] at `offset`; for XOR and HORNER the source itself."""
    x = data_byte(Data("src", source, offset))
    if spec.operation in (Operation.XOR, Operation.HORNER):
        return x
    if spec.baked is not None:
        return multiply(spec.field, constant_byte(spec.baked.rows[output][source]), x)
    return multiply(spec.field, coefficient_byte(Coefficient(source, output)), x)


def advance(spec: KernelSpec, total: Byte, source: int, output: int, offset: int) -> Byte:
    """The sum over the sources up to `source`, from the one up to the source before it.

    By Horner's rule it is multiplied by 2^output first, which is 1 << output in any field of bytes.
    """
    if spec.operation is Operation.HORNER:
        total = multiply(spec.field, constant_byte(1 << output), total)
    return add(total, product(spec, source, output, offset))


def initial(spec: KernelSpec, output: int, offset: int) -> Byte:
    """What the sum over the sources is added to."""
    if spec.operation is Operation.MAD:
        return data_byte(Data("dst", output, offset))
    return constant_byte(0)


def expected(spec: KernelSpec, sources: range, output: int, offset: int) -> Byte:
    """dst[output] at `offset` after the kernel has run over the given sources."""
    total = initial(spec, output, offset)
    for source in sources:
        total = advance(spec, total, source, output, offset)
    return total
