"""GF(2^4), GF(2^8) and GF(2^16) as maps of bytes: compared with galois and with the products of words."""

from __future__ import annotations

import galois
import numpy as np
import pytest

from gfsmith.field import Field, FieldError, apply
from gfsmith.field.width import WidthField, byte_maps

POLYNOMIALS = (0x13, 0x19, 0x1F, 0x11B, 0x11D, 0x1100B, 0x1002D)


@pytest.mark.parametrize("polynomial", POLYNOMIALS)
def test_products_equal_those_of_galois(polynomial: int) -> None:
    field = WidthField(polynomial)
    other = galois.GF(2**field.width, irreducible_poly=polynomial)
    rng = np.random.default_rng(polynomial)
    left, right = rng.integers(0, 1 << field.width, (2, 300))
    products = [field.multiply(int(a), int(b)) for a, b in zip(left, right, strict=True)]
    assert products == (other(left) * other(right)).tolist()


@pytest.mark.parametrize("polynomial", POLYNOMIALS)
def test_maps_of_bytes_are_products(polynomial: int) -> None:
    """The bytes that hold elements are mapped to those that hold the products."""
    field = WidthField(polynomial)
    rng = np.random.default_rng(1)
    for c in (0, 1, 2, (1 << field.width) - 1, *map(int, rng.integers(0, 1 << field.width, 20))):
        maps = field.maps(c)
        assert len(maps) == len(maps[0]) == field.planes
        for byte in rng.integers(0, 256, (20, 2)).tolist():
            if field.width == 16:
                word = field.multiply(c, byte[0] | byte[1] << 8)
                got = [apply(row[0], byte[0]) ^ apply(row[1], byte[1]) for row in maps]
                assert got == [word & 0xFF, word >> 8]
            elif field.width == 8:
                assert apply(maps[0][0], byte[0]) == Field(polynomial).multiply(c, byte[0])
            else:
                low, high = field.multiply(c, byte[0] & 15), field.multiply(c, byte[0] >> 4)
                assert apply(maps[0][0], byte[0]) == low | high << 4


@pytest.mark.parametrize("polynomial", [0x13, 0x1100B, 0x1002D])
def test_every_product_by_a_basis(polynomial: int) -> None:
    """Maps are linear in the constant and in the bytes, so the products of two bases determine all products:
    column x of the maps of c is c * x for all c and x of a basis."""
    field = WidthField(polynomial)
    other = galois.GF(2**field.width, irreducible_poly=polynomial)
    basis = [1 << bit for bit in range(field.width)]
    products = np.asarray(np.multiply.outer(other(basis), other(basis))).tolist()
    for c, row in zip(basis, products, strict=True):
        maps = field.maps(c)
        for x, product in zip(basis, row, strict=True):
            sources = [x & 0xFF, x >> 8][: field.planes]
            got = [0] * field.planes
            for a, b in np.ndindex(field.planes, field.planes):
                got[a] ^= apply(maps[a][b], sources[b])
            assert sum(byte << 8 * n for n, byte in enumerate(got)) == product
            if field.width == 4:
                assert apply(maps[0][0], x << 4) == product << 4
    for c, d in ((3, 5), (0xA, 0x7)):
        sums = zip(field.maps(c)[0], field.maps(d)[0], field.maps(c ^ d)[0], strict=True)
        assert all([p ^ q for p, q in zip(u, v, strict=True)] == list(w) for u, v, w in sums)


def test_a_matrix_of_words_is_a_matrix_of_maps() -> None:
    field = WidthField(0x1100B)
    maps = byte_maps(field, [[1, 0x8001, 7], [0, 5, 0xFFFF]])
    assert (len(maps), len(maps[0])) == (4, 6)
    assert tuple(tuple(row[2:4]) for row in maps[:2]) == field.maps(0x8001)
    assert tuple(tuple(row[4:]) for row in maps[2:]) == field.maps(0xFFFF)
    assert byte_maps(WidthField(0x13), [[3]]) == [[WidthField(0x13).maps(3)[0][0]]]


@pytest.mark.parametrize(
    ("polynomial", "words"),
    [
        (0x15, "0x15 is reducible; allowed: irreducible ones of degree 4"),
        (0x25, "degree 5; allowed: irreducible polynomials of degree 4, 8 or 16"),
        (0x11C, "is reducible"),
        (0x10001, "0x10001 is reducible; .* degree 4, 8 or 16, such as 0x13"),
        (0, "degree -1"),
    ],
)
def test_other_polynomials_are_refused(polynomial: int, words: str) -> None:
    with pytest.raises(FieldError, match=words):
        WidthField(polynomial)


def test_elements_of_another_width_are_refused() -> None:
    with pytest.raises(FieldError, match=r"16 is not an element of GF\(2\^4\)"):
        WidthField(0x13).maps(16)
