"""The field compared with the galois package, and refused polynomials."""

from __future__ import annotations

import galois
import numpy as np
import pytest

from gfsmith.field import Field, FieldError, apply

IRREDUCIBLE = [p for p in range(0x100, 0x200) if galois.Poly.Int(p).is_irreducible()]


def reference(polynomial: int) -> type[galois.FieldArray]:
    """Return galois's field in pure Python, because galois would compile each field. It differs from the
    field of other tests, since galois keeps one object per field.
    """
    mode = None if polynomial == 0x11D else "python-calculate"
    return galois.GF(256, irreducible_poly=polynomial, compile=mode)


def test_there_are_thirty_irreducible_polynomials_of_degree_8() -> None:
    accepted = []
    for polynomial in range(0x100, 0x200):
        try:
            accepted.append(Field(polynomial).polynomial)
        except FieldError:
            continue
    assert accepted == IRREDUCIBLE
    assert len(accepted) == 30


@pytest.mark.parametrize("polynomial", [0x11D, 0x11B, 0x187, IRREDUCIBLE[-1]])
def test_products_are_those_of_galois(polynomial: int) -> None:
    field = Field(polynomial)
    elements = reference(polynomial)(np.arange(256))
    expected = np.asarray(np.multiply.outer(elements, elements))
    ours = [[field.multiply(a, b) for b in range(256)] for a in range(256)]
    assert np.array_equal(ours, expected)


@pytest.mark.parametrize("polynomial", IRREDUCIBLE)
def test_matrix_is_multiplication_in_every_field(polynomial: int) -> None:
    field = Field(polynomial)
    theirs = reference(polynomial)
    rng = np.random.default_rng(polynomial)
    for constant in (0, 1, 2, 255, *rng.integers(0, 256, 6).tolist()):
        matrix = field.matrix(constant)
        product = theirs(constant) * theirs(np.arange(256))
        assert [apply(matrix, x) for x in range(256)] == product.tolist()


def test_inverse_and_power() -> None:
    field = Field(0x11D)
    assert all(field.multiply(x, field.inverse(x)) == 1 for x in range(1, 256))
    assert field.power(2, 255) == 1
    assert field.power(0, 0) == 1
    with pytest.raises(FieldError, match="0 has no inverse"):
        field.inverse(0)


def test_primitive_polynomials() -> None:
    """The element 2 generates all 255 non-zero elements if its order divides none of 255 / 3, 5 and 17."""

    def is_primitive(polynomial: int) -> bool:
        return all(Field(polynomial).power(2, 255 // prime) != 1 for prime in (3, 5, 17))

    assert is_primitive(0x11D)
    assert not is_primitive(0x11B)


@pytest.mark.parametrize(
    ("polynomial", "words"),
    [
        (0x100, "reducible"),
        (0x11A, "reducible"),
        (0x1FF, "reducible"),
        (0x11, "degree 4"),
        (0x21D, "degree 9"),
        (0, "degree -1"),
    ],
)
def test_wrong_polynomials_are_refused_in_one_line(polynomial: int, words: str) -> None:
    with pytest.raises(FieldError, match=words) as error:
        Field(polynomial)
    assert "0x11d" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("element", [-1, 256])
def test_elements_are_bytes(element: int) -> None:
    with pytest.raises(FieldError, match=r"allowed: 0\.\.255"):
        Field().matrix(element)
