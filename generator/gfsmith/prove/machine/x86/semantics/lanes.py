"""Look-ups and products in 128-bit lanes and eight-byte elements, as x86 has them."""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Form, Piece, Runs, Table, Unsupported
from gfsmith.prove.machine.lanes import sign, table_entry
from gfsmith.prove.machine.state import State, constant_bytes


def selects(index: int) -> int | None:
    """pshufb: the lower four bits, and 0 where bit 7 is set."""
    return None if index & 0x80 else index & 15


def uniform(lane: Runs) -> int | None:
    """The byte that a lane consists of, if it is known and the same everywhere."""
    piece = lane[0][1]
    alike = len(lane) == 1 and isinstance(piece, Form) and piece.is_constant
    return piece.constant if alike and isinstance(piece, Form) else None


def unless_signed(byte: int, piece: Piece) -> Form:
    """`byte` where bit 7 is clear, else 0."""
    cleared = domain.masked(sign(piece), byte)
    return domain.make_form(cleared.constant ^ byte, cleared.atoms)


def affine(state: State, matrix: Runs, piece: Piece) -> Form:
    """gf2p8affineqb of one run by one matrix, without the immediate."""
    if isinstance(piece, Table):
        raise Unsupported("a matrix times raw table bytes")
    found = table_entry(state, matrix, 8)
    if found is None:
        rows = reversed(constant_bytes(matrix))
        return domain.map_matrix(sum(row << 8 * r for r, row in enumerate(rows)), piece)
    fmt, within, entry = found
    if fmt != "affine" or within != 0:
        raise Unsupported(f"a matrix from byte {within} of a table entry of format {fmt}")
    return domain.map_table(entry._replace(part="matrix"), piece)


def product(state: State, factor: Runs, piece: Piece) -> Form:
    """gf2p8mulb of one run by one coefficient's entry, or by a constant byte."""
    if isinstance(piece, Table):
        raise Unsupported("a product of raw table bytes")
    found = table_entry(state, factor, 8)
    if found is None:
        values = set(constant_bytes(factor))
        if len(values) != 1:
            raise Unsupported("a product by bytes that differ")
        return domain.map_matrix(_times(values.pop()), piece)
    fmt, within, entry = found
    if fmt != "mulb" or within != 0:
        raise Unsupported(f"a product by byte {within} of a table entry of format {fmt}")
    return domain.map_table(entry._replace(part="product"), piece)


def _times(constant: int) -> int:
    """The matrix of x -> constant * x modulo 0x11b (Intel SDM, GF2P8MULB)."""
    columns, value = [], constant
    for _ in range(8):
        columns.append(value)
        value = value << 1 ^ (0x11B if value & 0x80 else 0)
    rows = [sum((columns[i] >> r & 1) << i for i in range(8)) for r in range(8)]
    return sum(row << 8 * r for r, row in enumerate(rows))
