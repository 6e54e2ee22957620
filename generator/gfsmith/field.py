"""GF(2^8) from sympy polynomials over GF(2): the oracle of everything else.

An element is a byte b = b_7...b_0 and stands for the polynomial sum b_i a^i. A field is its
irreducible polynomial p of degree 8, written as an integer in the same way (0x11d is
a^8 + a^4 + a^3 + a^2 + 1, the polynomial of ISA-L, Jerasure, MinIO and Linux RAID-6; 0x11b is that of
AES and of the instruction gf2p8mulb).

Multiplication is bilinear over GF(2). With symbolic x = sum b_i a^i and c = sum c_j a^j the product is
reduced modulo p once and its coefficients are collected:

    (c * x)_k = sum over i, j of T[k][i][j] * b_i * c_j

T is all there is to a field: every 8 x 8 matrix, table and proof comes from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import sympy

DEGREE = 8
ORDER = 1 << DEGREE
MASK = ORDER - 1

#: Rows of a bit matrix: bit i of row k says that input bit i contributes to output bit k.
BitMatrix = tuple[int, ...]


class FieldError(ValueError):
    """A polynomial or element that no field of 256 elements has."""


@dataclass(frozen=True, slots=True)
class _Bilinear:
    """T[k] = the pairs (i, j) for which b_i * c_j contributes to bit k of the product."""

    terms: tuple[frozenset[tuple[int, int]], ...]


def _as_poly(value: int, symbol: sympy.Symbol) -> sympy.Poly:
    """The polynomial over GF(2) whose coefficient of a^i is bit i of `value`."""
    bits = [int(digit) for digit in f"{value:b}"]
    return sympy.Poly(bits, symbol, modulus=2)


def check_polynomial(polynomial: int) -> None:
    """Raise FieldError unless `polynomial` is irreducible over GF(2) and of degree 8."""
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
    """Reduce the symbolic product x * c modulo p and collect the coefficients of each bit.

    The product is a polynomial in a whose coefficients are polynomials over GF(2) in the bits b_i of
    x and c_j of c; p is monic, so the remainder exists over that ring.
    """
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

    polynomial: int = 0x11D

    def __post_init__(self) -> None:
        check_polynomial(self.polynomial)

    def bilinear(self) -> tuple[frozenset[tuple[int, int]], ...]:
        """T of the module's docstring: for each product bit k the pairs (data bit i, constant bit j)."""
        return _bilinear(self.polynomial).terms

    def matrix(self, constant: int) -> BitMatrix:
        """The 8 x 8 matrix over GF(2) of x -> constant * x, as 8 rows.

        Row k holds in bit i whether bit i of x contributes to bit k of the product.
        """
        return _matrix(self.polynomial, self._element(constant))

    def multiply(self, left: int, right: int) -> int:
        """The product of two elements."""
        return _multiples(self.polynomial, self._element(left))[self._element(right)]

    def power(self, base: int, exponent: int) -> int:
        """base ** exponent for exponent >= 0, with 0 ** 0 = 1."""
        result, square = 1, self._element(base)
        while exponent:
            if exponent & 1:
                result = self.multiply(result, square)
            square = self.multiply(square, square)
            exponent >>= 1
        return result

    def inverse(self, element: int) -> int:
        """The y with element * y = 1, that is element ** 254. Raises FieldError for 0."""
        if self._element(element) == 0:
            raise FieldError("0 has no inverse in a field")
        return _inverse(self.polynomial, element)

    @cached_property
    def is_primitive(self) -> bool:
        """Whether a (the element 2) generates all 255 non-zero elements."""
        return all(self.power(2, (ORDER - 1) // prime) != 1 for prime in (3, 5, 17))

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
    """constant * x for every x, from the images of the powers of 2."""
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
    """The product of a bit matrix and a byte: bit k is the parity of row k AND the byte."""
    return sum(((row & vector).bit_count() & 1) << k for k, row in enumerate(matrix))


@lru_cache(maxsize=1)
def irreducible_polynomials() -> tuple[int, ...]:
    """All polynomials of fields of 256 elements, in ascending order: there are 30."""
    symbol = sympy.Symbol("a")
    return tuple(p for p in range(ORDER, 2 * ORDER) if _as_poly(p, symbol).is_irreducible)


def isomorphism(source: Field, target: Field) -> BitMatrix:
    """The matrix of a ring isomorphism f: GF(2)[a]/p -> GF(2)[a]/q, for source's p and target's q.

    f is linear over GF(2) and f(a) = r, the least root of p in the target, so column i is r^i. That f keeps
    products is then checked on all pairs of powers of a; both sides being bilinear, it does so everywhere.
    Raises FieldError if it does not.
    """
    root = next(r for r in range(2, ORDER) if _evaluate(target, source.polynomial, r) == 0)
    columns = [target.power(root, i) for i in range(DEGREE)]
    matrix = tuple(sum((column >> k & 1) << i for i, column in enumerate(columns)) for k in range(DEGREE))
    check_isomorphism(source, target, matrix)
    return matrix


def check_isomorphism(source: Field, target: Field, matrix: BitMatrix) -> None:
    """Raise FieldError unless the linear map is a ring isomorphism from source to target."""
    powers = [1 << i for i in range(DEGREE)]
    images = {x: apply(matrix, x) for x in range(ORDER)}
    if images[1] != 1 or any(
        images[source.multiply(x, y)] != target.multiply(images[x], images[y]) for x in powers for y in powers
    ):
        raise FieldError(f"no isomorphism from {source.polynomial:#x} to {target.polynomial:#x}: {matrix}")


def _evaluate(field: Field, polynomial: int, point: int) -> int:
    """The value at an element of a polynomial over GF(2), by Horner's rule."""
    value = 0
    for digit in f"{polynomial:b}":
        value = field.multiply(value, point) ^ int(digit)
    return value


def inverse_matrix(matrix: BitMatrix) -> BitMatrix:
    """The inverse of an invertible bit matrix."""
    preimages = {apply(matrix, x): x for x in range(ORDER)}
    columns = [preimages[1 << i] for i in range(DEGREE)]
    return tuple(sum((column >> k & 1) << i for i, column in enumerate(columns)) for k in range(DEGREE))
