"""Systematic Reed-Solomon codes by Lagrange's formula: data are values of a polynomial at some points,
parities its values at others, or its leading coefficient, which is its value at infinity."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.field import Field
from gfsmith.matrix import Row


def weights(field: Field, points: Sequence[int]) -> Row:
    """w[j] = 1 / product of x[j] - x[l] over l != j: the leading coefficient of the polynomial of degree
    below k that is 1 at x[j] and 0 at the other points."""
    found = []
    for x in points:
        product = 1
        for other in points:
            if other != x:
                product = field.multiply(product, x ^ other)
        found.append(field.inverse(product))
    return tuple(found)


def values(field: Field, points: Sequence[int], weight: Row, y: int) -> Row:
    """The values of these polynomials at y, which is none of the points: w[j] s(y) / (y - x[j]) with s the
    product of y - x[l] over all l."""
    s = 1
    for x in points:
        s = field.multiply(s, y ^ x)
    return tuple(
        field.multiply(field.multiply(s, w), field.inverse(y ^ x))
        for x, w in zip(points, weight, strict=True)
    )
