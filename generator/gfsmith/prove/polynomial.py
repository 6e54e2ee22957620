"""Polynomials over GF(2) whose variables are the bits of data and of coefficients.

A bit of a kernel's output is such a polynomial; two are the same function exactly if they are the same
set of monomials, because bits satisfy b * b = b and a monomial is a set of variables.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

Variable = Hashable
Monomial = frozenset[Variable]


class Polynomial:
    """An immutable multilinear polynomial over GF(2): a set of monomials."""

    __slots__ = ("terms",)

    def __init__(self, terms: frozenset[Monomial] = frozenset()) -> None:
        self.terms = terms

    @classmethod
    def variable(cls, name: Variable) -> Polynomial:
        return cls(frozenset({frozenset({name})}))

    def __xor__(self, other: Polynomial) -> Polynomial:
        if not other.terms:
            return self
        return Polynomial(self.terms ^ other.terms) if self.terms else other

    def __and__(self, other: Polynomial) -> Polynomial:
        if not self.terms or not other.terms:
            return ZERO
        if self.terms == _ONE_TERMS:
            return other
        if other.terms == _ONE_TERMS:
            return self
        total: set[Monomial] = set()
        for left in self.terms:
            # Two monomials of `other` may have one product with `left`, and then cancel out.
            products = [left | right for right in other.terms]
            distinct = set(products)
            if len(distinct) == len(products):
                total ^= distinct
            else:
                for monomial in products:
                    total ^= {monomial}
        return Polynomial(frozenset(total))

    @property
    def linear(self) -> bool:
        """True if no monomial is a product of variables."""
        return all(len(monomial) < 2 for monomial in self.terms)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)

    def witness(self) -> frozenset[Variable]:
        """Return variables to set (all others clear) so that a non-zero polynomial is 1.

        They are all variables of a monomial of least degree: no other monomial can be a subset of it.
        """
        return min(self.terms, key=lambda m: (len(m), sorted(map(str, m))))

    def value(self, ones: Iterable[Variable]) -> int:
        """Return the value of the polynomial if exactly the variables `ones` are 1."""
        chosen = set(ones)
        return sum(1 for monomial in self.terms if monomial <= chosen) & 1


_ONE_TERMS: frozenset[Monomial] = frozenset({frozenset()})
ZERO = Polynomial()
ONE = Polynomial(_ONE_TERMS)


def constant_byte(value: int) -> tuple[Polynomial, ...]:
    return tuple(ONE if value >> bit & 1 else ZERO for bit in range(8))


def variable_byte(name: Hashable) -> tuple[Polynomial, ...]:
    """Return eight fresh variables (name, 0) ... (name, 7)."""
    return tuple(Polynomial.variable((name, bit)) for bit in range(8))
