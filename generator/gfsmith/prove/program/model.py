"""The required results of a kernel, as polynomials, from its spec and the field alone.

This module does not depend on the generator's tables or code. A run-time coefficient is any linear map of
bytes: an 8 x 8 bit matrix of 64 variables, so a proof holds for all of them at once, among them the products
by elements of GF(2^8) modulo any polynomial, and the parts of products in GF(2^4) and GF(2^16). The
coefficients of MULB are elements of its field, of eight variables. Data bytes are eight variables per shard
and position.

A map of a byte that is not linear in the variables, such as a product, is a byte of eight more variables,
which the map and the byte identify: equal bytes have equal images. No other property of it is used, so
polynomials that are equal are equal for all data, and those of butterflies of many layers stay short.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gfsmith.field import Field
from gfsmith.kernel.operation import ADDITIONS, CHANGED, SCALED
from gfsmith.kernel.spec import KernelSpec, Operation, TableFormat
from gfsmith.prove.polynomial import ZERO, Polynomial, constant_byte, variable_byte

Byte = tuple[Polynomial, ...]
Map = tuple[Byte, ...]  #: the rows of a bit matrix; bit i of a row is the coefficient of input bit i


@dataclass(frozen=True, slots=True)
class Coefficient:
    """The coefficient of one source in one output. row: a row of its bit matrix; None: MULB's element."""

    source: int
    output: int
    row: int | None = None


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
def element(source: int, output: int) -> Byte:
    return variable_byte(Coefficient(source, output))


@lru_cache(maxsize=1 << 12)
def linear_map(source: int, output: int) -> Map:
    return tuple(variable_byte(Coefficient(source, output, row)) for row in range(8))


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


@dataclass(frozen=True, slots=True)
class Image:
    """The image of a byte that is not linear, under a map."""

    matrix: Map
    byte: Byte

    def __repr__(self) -> str:
        return "image of a product"


@lru_cache(maxsize=1 << 12)
def image(matrix: Map, x: Byte) -> Byte:
    return variable_byte(Image(matrix, x))


def apply(matrix: Map, x: Byte) -> Byte:
    """Return the product of a bit matrix and a byte."""
    if not all(bit.linear for bit in x):
        return image(matrix, x)
    result = []
    for row in matrix:
        total = ZERO
        for coefficient, bit in zip(row, x, strict=True):
            if bit:
                total = total ^ (bit & coefficient)
        result.append(total)
    return tuple(result)


@lru_cache(maxsize=1 << 12)
def entry(fmt: TableFormat, source: int, output: int) -> tuple[Byte, ...]:
    """Return the bytes of a coefficient's table entry, from the definition of the format."""
    matrix = linear_map(source, output)
    match fmt:
        case TableFormat.NIBBLE | TableFormat.ISAL_NIBBLE:
            low = [apply(matrix, constant_byte(n)) for n in range(16)]
            high = [apply(matrix, constant_byte(n << 4)) for n in range(16)]
            return (*low, *high)
        case TableFormat.PERMXOR:
            straight = entry(TableFormat.NIBBLE, source, output)
            return tuple(straight[n ^ 7] for n in range(32))
        case TableFormat.AFFINE:
            return tuple(reversed(matrix))
        case TableFormat.ISAL:
            return tuple(reversed(matrix)) * 4
        case TableFormat.BITPLANE:
            return tuple(apply(matrix, constant_byte(1 << b)) for b in range(8))
        case TableFormat.MULB:
            return (element(source, output),) * 8
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
        return _known(spec.field, spec.baked.rows[output][source], data)
    if spec.tables is TableFormat.MULB:
        return multiply(spec.field, element(source, output), data_byte(data))
    return _mapped(source, output, data)


@lru_cache(maxsize=1 << 16)
def _known(field: Field, constant: int, data: Data) -> Byte:
    return multiply(field, constant_byte(constant), data_byte(data))


@lru_cache(maxsize=1 << 16)
def _mapped(source: int, output: int, data: Data) -> Byte:
    return apply(linear_map(source, output), data_byte(data))


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


@lru_cache(maxsize=64)
def _butterfly(operation: str, planes: int, outputs: int, offset: int) -> tuple[Byte, ...]:
    """Return all destinations of a butterfly of elements with `planes` bytes each."""
    found = [data_byte(Data("src", source, offset)) for source in range(outputs)]
    side = CHANGED.get(Operation(operation))
    change = _scale if Operation(operation) in SCALED else _change
    if side == "src":
        change(found, planes)
    for to, element, matrix in ADDITIONS[operation]:
        terms = found[element * planes : (element + 1) * planes]
        for plane in range(planes):
            total = found[to * planes + plane]
            if matrix is None:
                total = add(total, terms[plane])
            else:
                for column, term in enumerate(terms, matrix * planes):
                    total = add(total, apply(linear_map(column, plane), term))
            found[to * planes + plane] = total
    if side == "dst":
        change(found, planes)
    return tuple(found)


def _scale(found: list[Byte], planes: int) -> None:
    """Multiply each element by a matrix. Their columns stand behind those of the other matrices, one less
    than there are elements."""
    first = len(found) - planes
    for low in range(0, len(found), planes):
        element = found[low : low + planes]
        for plane in range(planes):
            total = constant_byte(0)
            for column, byte in enumerate(element, first + low):
                total = add(total, apply(linear_map(column, plane), byte))
            found[low + plane] = total


def _change(found: list[Byte], planes: int) -> None:
    """Change the basis of elements of two planes: low += B high, B in the column behind those of the
    matrices."""
    column = len(found) - planes
    for low in range(0, len(found), planes):
        found[low] = add(found[low], apply(linear_map(column, 0), found[low + 1]))


def expected(spec: KernelSpec, sources: range, output: int, offset: int) -> Byte:
    """Return dst[output] at `offset` after the kernel has run over the given sources."""
    if spec.butterfly:
        return _butterfly(spec.operation.value, spec.table_outputs, spec.outputs, offset)[output]
    total = initial(spec, output, offset)
    for source in sources:
        total = advance(spec, total, source, output, offset)
    return total
