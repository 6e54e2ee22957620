"""Systematic Reed-Solomon codes by Lagrange's formula. The data are the values of a polynomial at some
points. The parities are its values at other points, or its leading coefficient, which is its value at
infinity."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.field import Field
from gfsmith.field.matrix import Row


def weights(field: Field, points: Sequence[int]) -> Row:
    """Return w[j] = 1 / product of x[j] - x[l] over l != j, for the k points x.

    w[j] is the leading coefficient of the polynomial of degree below k that is 1 at x[j] and 0 at the
    others."""
    found = []
    for x in points:
        product = 1
        for other in points:
            if other != x:
                product = field.multiply(product, x ^ other)
        found.append(field.inverse(product))
    return tuple(found)


def values(field: Field, points: Sequence[int], weight: Row, y: int) -> Row:
    """Return the values of these k polynomials at y, which must not be one of the points: w[j] s(y) / (y -
    x[j]) with s the product of y - x[l] over all l."""
    s = 1
    for x in points:
        s = field.multiply(s, y ^ x)
    return tuple(
        field.multiply(field.multiply(s, w), field.inverse(y ^ x))
        for x, w in zip(points, weight, strict=True)
    )
