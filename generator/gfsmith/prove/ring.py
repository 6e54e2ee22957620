"""Polynomials over GF(2) in commuting unknowns, without x * x = x: what holds of them holds in every ring of
characteristic 2, so in every field of 256 elements, whatever bytes the unknowns are."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

#: How often each unknown is a factor, sorted.
Monomial = tuple[tuple[Hashable, int], ...]


@dataclass(frozen=True, slots=True)
class Element:
    """The sum of its monomials."""

    terms: frozenset[Monomial] = frozenset()

    @classmethod
    def unknown(cls, *name: Hashable) -> Element:
        return cls(frozenset({((name, 1),)}))

    def __xor__(self, other: Element) -> Element:
        return Element(self.terms ^ other.terms)

    def __mul__(self, other: Element) -> Element:
        total: set[Monomial] = set()
        for left in self.terms:
            for right in other.terms:
                powers = dict(left)
                for name, power in right:
                    powers[name] = powers.get(name, 0) + power
                total ^= {tuple(sorted(powers.items(), key=str))}
        return Element(frozenset(total))

    def __pow__(self, exponent: int) -> Element:
        result = self
        for _ in range(exponent - 1):
            result = result * self
        return result

    def __str__(self) -> str:
        def text(name: Hashable, power: int) -> str:
            word = "".join(f"{part}" if n == 0 else f"[{part}]" for n, part in enumerate(name))  # type: ignore[var-annotated, arg-type]
            return word if power == 1 else f"{word}^{power}"

        words = sorted(" ".join(text(*factor) for factor in monomial) for monomial in self.terms)
        return " + ".join(words) or "0"


ZERO = Element()
