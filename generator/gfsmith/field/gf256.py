"""Arithmetic of GF(2^8), derived from sympy polynomials over GF(2): the reference for all other code.

An element is a byte b = b_7...b_0 and represents the polynomial sum b_i a^i. A field is given by its
irreducible polynomial p of degree 8, written as an integer in the same way (0x11d is a^8 + a^4 + a^3 + a^2 +
1, the polynomial of ISA-L, Jerasure, MinIO and Linux RAID-6; 0x11b is that of AES and of the instruction
gf2p8mulb).

Multiplication is bilinear over GF(2). With symbolic x = sum b_i a^i and c = sum c_j a^j the product is
reduced modulo p once and its coefficients are collected:

    (c * x)_k = sum over i, j of T[k][i][j] * b_i * c_j

T determines the field: every 8 x 8 matrix, table and proof is computed from it.

sympy takes most of a second to load, so only the functions that compute with polynomials import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sympy

DEGREE = 8
ORDER = 1 << DEGREE
MASK = ORDER - 1
POLYNOMIAL = 0x11D  #: GFSMITH_POLYNOMIAL: of the named codes, of RAID and of the Go package

#: Rows of a bit matrix: bit i of row k is set if input bit i contributes to output bit k.
BitMatrix = tuple[int, ...]


class FieldError(ValueError):
    """A polynomial that does not define a field of 256 elements, or a number that is not an element."""


@dataclass(frozen=True, slots=True)
class _Bilinear:
    """The tensor T. terms[k]: the pairs (i, j) for which b_i * c_j contributes to bit k of the product."""

    terms: tuple[frozenset[tuple[int, int]], ...]


def _as_poly(value: int, symbol: sympy.Symbol) -> sympy.Poly:
    """Return the polynomial over GF(2) whose coefficient of a^i is bit i of `value`."""
    import sympy

    bits = [int(digit) for digit in f"{value:b}"]
    return sympy.Poly(bits, symbol, modulus=2)


@cache
def check_polynomial(polynomial: int) -> None:
    """Raise FieldError unless `polynomial` is irreducible over GF(2) and of degree 8."""
    import sympy

    if polynomial.bit_length() != DEGREE + 1:
        degree = polynomial.bit_length() - 1
        raise FieldError(
            f"polynomial {polynomial:#x} has degree {degree}; allowed: irreducible polynomials of "
            f"degree 8 (0x100..0x1ff), such as 0x11d or 0x11b"
        )
    poly = _as_poly(polynomial, sympy.Symbol("a"))
    if not poly.is_irreducible:
        factors = " * ".join(
            f"{_as_int(factor):#x}" + (f"^{power}" if power > 1 else "")
            for factor, power in poly.factor_list()[1]
        )
        raise FieldError(
            f"polynomial {polynomial:#x} is reducible ({factors}); allowed: irreducible "
            f"polynomials of degree 8, such as 0x11d or 0x11b"
        )


def _as_int(poly: sympy.Poly) -> int:
    return sum(1 << int(monomial[0]) for monomial, c in poly.terms() if int(c) % 2)


@lru_cache(maxsize=32)
def _bilinear(polynomial: int) -> _Bilinear:
    """Return T: the symbolic product x * c, reduced modulo p, with the coefficients of each bit.

    The product is a polynomial in a whose coefficients are polynomials over GF(2) in the bits b_i of x and
    c_j of c. p is monic, so the remainder exists over that ring.
    """
    import sympy

    a = sympy.Symbol("a")
    b = sympy.symbols(f"b0:{DEGREE}")
    c = sympy.symbols(f"c0:{DEGREE}")
    ring = sympy.GF(2)[(*b, *c)]
    x = sympy.Poly(sum(bit * a**i for i, bit in enumerate(b)), a, domain=ring)
    constant = sympy.Poly(sum(bit * a**j for j, bit in enumerate(c)), a, domain=ring)
    modulus = sympy.Poly([int(digit) for digit in f"{polynomial:b}"], a, domain=ring)
    product = (x * constant).rem(modulus, auto=False)
    terms = []
    for k in range(DEGREE):
        coefficient = sympy.Poly(product.coeff_monomial(a**k), *b, *c, modulus=2)
        pairs = set()
        for exponents, value in coefficient.terms():
            if int(value) % 2 == 0:
                continue
            i = exponents[:DEGREE].index(1)
            j = exponents[DEGREE:].index(1)
            pairs.add((i, j))
        terms.append(frozenset(pairs))
    return _Bilinear(tuple(terms))


@dataclass(frozen=True)
class Field:
    """GF(2)[a] / p, 256 elements. Raises FieldError unless p is irreducible of degree 8."""

    polynomial: int = POLYNOMIAL

    def __post_init__(self) -> None:
        check_polynomial(self.polynomial)

    def bilinear(self) -> tuple[frozenset[tuple[int, int]], ...]:
        """Return T of the module's docstring: for each product bit k the pairs (data bit i, constant bit
        j)."""
        return _bilinear(self.polynomial).terms

    def matrix(self, constant: int) -> BitMatrix:
        """Return the 8 x 8 matrix over GF(2) of x -> constant * x, as 8 rows.

        Bit i of row k is set if bit i of x contributes to bit k of the product.
        """
        return _matrix(self.polynomial, self._element(constant))

    def multiply(self, left: int, right: int) -> int:
        """Return the product of two elements."""
        return _multiples(self.polynomial, self._element(left))[self._element(right)]

    def power(self, base: int, exponent: int) -> int:
        """Return base ** exponent for exponent >= 0, with 0 ** 0 = 1."""
        result, square = 1, self._element(base)
        while exponent:
            if exponent & 1:
                result = self.multiply(result, square)
            square = self.multiply(square, square)
            exponent >>= 1
        return result

    def inverse(self, element: int) -> int:
        """Return the y with element * y = 1, that is element ** 254. Raises FieldError for 0."""
        if self._element(element) == 0:
            raise FieldError("0 has no inverse in a field")
        return _inverse(self.polynomial, element)

    @staticmethod
    def _element(value: int) -> int:
        if not 0 <= value <= MASK:
            raise FieldError(f"{value} is not an element of GF(2^8); allowed: 0..255")
        return value


@lru_cache(maxsize=32 * ORDER)
def _matrix(polynomial: int, constant: int) -> BitMatrix:
    rows = []
    for pairs in _bilinear(polynomial).terms:
        row = 0
        for i, j in pairs:
            row ^= ((constant >> j) & 1) << i
        rows.append(row)
    return tuple(rows)


@lru_cache(maxsize=32 * ORDER)
def _multiples(polynomial: int, constant: int) -> tuple[int, ...]:
    """Return constant * x for every x, computed from the images of the powers of 2."""
    matrix = _matrix(polynomial, constant)
    products = [0]
    for bit in range(DEGREE):
        image = apply(matrix, 1 << bit)
        products += [product ^ image for product in products]
    return tuple(products)


@lru_cache(maxsize=32 * ORDER)
def _inverse(polynomial: int, element: int) -> int:
    return Field(polynomial).power(element, ORDER - 2)


def apply(matrix: BitMatrix, vector: int) -> int:
    """Return the product of a bit matrix and a byte: bit k is the parity of (row k AND the byte)."""
    return sum(((row & vector).bit_count() & 1) << k for k, row in enumerate(matrix))


@lru_cache(maxsize=1)
def irreducible_polynomials() -> tuple[int, ...]:
    """Return the 30 polynomials of fields of 256 elements, in ascending order."""
    import sympy

    symbol = sympy.Symbol("a")
    return tuple(p for p in range(ORDER, 2 * ORDER) if _as_poly(p, symbol).is_irreducible)
