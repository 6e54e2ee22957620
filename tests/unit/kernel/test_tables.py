"""Table bytes: compared with galois and with the prover's own model; a wrong bit is detected."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from gfsmith.field import Field
from gfsmith.field.width import WidthField
from gfsmith.kernel import tables
from gfsmith.kernel.spec import TableFormat
from gfsmith.prove.program import model
from gfsmith.prove.program.model import Coefficient
from tests.support.paths import ROOT
from tests.support.specs import FORMATS, Machine, make_program, make_spec
from tests.system.kernels.support import galois_field

FIELD = Field(0x11D)


@pytest.mark.parametrize("fmt", FORMATS)
def test_entries_match_the_prover(fmt: TableFormat) -> None:
    """The prover derives each format from its definition, for any linear map; the bytes must agree for all
    constants, in the fields of every width."""
    symbolic = model.entry(fmt, 0, 0)

    def expected(rows: tuple[int, ...]) -> bytes:
        ones = {
            (Coefficient(0, 0, r), bit) for r, row in enumerate(rows) for bit in range(8) if row >> bit & 1
        }
        return bytes(sum(poly.value(ones) << bit for bit, poly in enumerate(byte)) for byte in symbolic)

    if fmt is TableFormat.MULB:
        assert [tables.entry(FIELD, fmt, c) for c in (0, 1, 255)] == [bytes([c]) * 8 for c in (0, 1, 255)]
        assert symbolic == (model.element(0, 0),) * 8
        return
    for constant in range(256):
        assert tables.entry(FIELD, fmt, constant) == expected(FIELD.matrix(constant))
    for polynomial in (0x13, 0x1100B):
        field = WidthField(polynomial)
        for constant in (*range(16), *(1 << bit for bit in range(4, field.width)), 0xF0B1):
            if constant >> field.width == 0:
                for row in field.maps(constant):
                    assert [tables.map_entry(fmt, m) for m in row] == [expected(m) for m in row]


def test_nibble_tables_multiply() -> None:
    for constant in range(256):
        table = tables.nibble(FIELD.matrix(constant))
        product = galois_field()(constant) * galois_field()(np.arange(256))
        assert [table[x & 15] ^ table[16 + (x >> 4)] for x in range(256)] == product.tolist()


def test_affine_matrix_of_doubling_is_the_one_of_the_paper() -> None:
    """Drucker, Gueron, Krasnov, figure 1: the matrix of multiplication by 2 modulo 0x11d."""
    assert tables.affine(FIELD.matrix(2)) == bytes([0x40, 0x20, 0x10, 0x88, 0x84, 0x82, 0x01, 0x80])


def test_tables_of_words_are_source_major() -> None:
    """The entries of plane 0 of source 0 come first: to the low and the high plane of every output."""
    field = WidthField(0x1100B)
    table = tables.width_table(field, TableFormat.AFFINE, ((5, 0x8001), (7, 9)))
    first, second = field.maps(5), field.maps(7)
    expected = [first[0][0], first[1][0], second[0][0], second[1][0], first[0][1], first[1][1]]
    assert table[:48] == b"".join(map(tables.affine, expected)) and len(table) == 4 * 4 * 8
    with pytest.raises(ValueError, match="mulb"):
        tables.width_table(field, TableFormat.MULB, ((1,),))


def test_the_page_is_right() -> None:
    assert doctest.testfile(str(ROOT / "docs/widths.md"), module_relative=False).failed == 0


def test_table_is_source_major() -> None:
    matrix = ((1, 2, 3), (4, 5, 6))
    table = tables.table(FIELD, TableFormat.MULB, matrix)
    assert [table[8 * n] for n in range(6)] == [1, 4, 2, 5, 3, 6]


@pytest.mark.parametrize("isa", ["avx2", "gfni_avx2", "scalar"])
def test_every_flipped_bit_of_a_table_changes_a_product(isa: str) -> None:
    spec = make_spec("dot", 1, 1, isa, unroll=1)
    program = make_program(spec)
    table = tables.table(FIELD, spec.tables, ((0x8E,),))
    sources = [bytearray(range(256))]

    def run(entry: bytes) -> bytes:
        out = [bytearray(256)]
        Machine(spec, entry, sources, out).run(program)
        return bytes(out[0])

    right = run(table)
    assert right == bytes((galois_field()(0x8E) * galois_field()(np.arange(256))).tolist())
    for bit in range(8 * len(table)):
        wrong = bytearray(table)
        wrong[bit // 8] ^= 1 << bit % 8
        assert run(bytes(wrong)) != right, f"flipping bit {bit} of the table was not detected"
