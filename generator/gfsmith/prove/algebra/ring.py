"""Polynomials over GF(2) in commuting unknowns, without x * x = x. An identity of such polynomials holds in
every ring of characteristic 2, so in every field of 256 elements, for all bytes as unknowns."""

from __future__ import annotations

from dataclasses import dataclass

#: An unknown: a byte of an array.
Name = tuple[str, int]
#: A product of unknowns: each unknown with its exponent, sorted.
Monomial = tuple[tuple[Name, int], ...]


@dataclass(frozen=True, slots=True)
class Element:
    """A sum of monomials."""

    terms: frozenset[Monomial] = frozenset()

    @classmethod
    def unknown(cls, array: str, index: int) -> Element:
        return cls(frozenset({(((array, index), 1),)}))

    def __xor__(self, other: Element) -> Element:
        return Element(self.terms ^ other.terms)

    def __mul__(self, other: Element) -> Element:
        total: set[Monomial] = set()
        for left in self.terms:
            for right in other.terms:
                powers = dict(left)
                for name, power in right:
                    powers[name] = powers.get(name, 0) + power
                total ^= {tuple(sorted(powers.items()))}
        return Element(frozenset(total))

    def __pow__(self, exponent: int) -> Element:
        """Return a power. The exponent is at least 1."""
        if exponent == 1:
            return self
        half: Element = self ** (exponent // 2)
        return half * half * self if exponent % 2 else half * half

    def __str__(self) -> str:
        def text(name: Name, power: int) -> str:
            word = f"{name[0]}[{name[1]}]"
            return word if power == 1 else f"{word}^{power}"

        words = sorted(" ".join(text(*factor) for factor in monomial) for monomial in self.terms)
        return " + ".join(words) or "0"


ZERO = Element()
