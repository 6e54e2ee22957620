"""Fields GF(2^w) with w = 4, 8 or 16, for the matrices of other packages."""

from __future__ import annotations

from functools import cache


class Field:
    """A field whose polynomial is primitive: the powers of 2 are all its elements except 0."""

    def __init__(self, polynomial: int) -> None:
        self.degree = polynomial.bit_length() - 1
        self.order = (1 << self.degree) - 1  #: of the multiplicative group
        self.powers = [1]  #: 2^i for i < order
        while len(self.powers) < self.order:
            double = self.powers[-1] << 1
            self.powers.append(double ^ polynomial if double >> self.degree else double)
        self.logarithms = [0] * (1 << self.degree)  #: of 1 .. order
        for exponent, power in enumerate(self.powers):
            self.logarithms[power] = exponent

    def quotient(self, numerator: int, denominator: int) -> int:
        """Return numerator / denominator; denominator is not 0."""
        if numerator == 0:
            return 0
        return self.powers[(self.logarithms[numerator] - self.logarithms[denominator]) % self.order]

    def multiply(self, a: int, b: int) -> int:
        """Return a * b."""
        if a == 0 or b == 0:
            return 0
        return self.powers[(self.logarithms[a] + self.logarithms[b]) % self.order]


@cache
def field_of(polynomial: int) -> Field:
    """Return the field of a primitive polynomial, once."""
    return Field(polynomial)
