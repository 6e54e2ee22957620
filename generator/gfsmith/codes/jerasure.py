"""The codes of Jerasure with w = 8."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from gfsmith.codes import lagrange, names
from gfsmith.codes.family import Family, powers
from gfsmith.field import ORDER, Field
from gfsmith.field.matrix import Matrix


def _cauchy_orig(field: Field, k: int, m: int) -> Matrix:
    return tuple(tuple(field.inverse(i ^ (m + j)) for j in range(k)) for i in range(m))


def ones(field: Field, element: int) -> int:
    """Return the number of ones in the bit matrix of x -> element * x: the cost of the element in packet
    layout."""
    return sum(row.bit_count() for row in field.matrix(element))


@lru_cache(maxsize=8)
def weights(field: Field) -> tuple[int, ...]:
    """Return `ones` of every element."""
    return tuple(ones(field, element) for element in range(ORDER))


def cauchy_good(field: Field, k: int, m: int) -> Matrix:
    """Return cauchy_orig scaled for few ones, m x k. For m = 2 the second row is the k elements with the
    fewest ones.

    Source: J. S. Plank, L. Xu, "Optimizing Cauchy Reed-Solomon codes for fault-tolerant network storage
    applications", NCA 2006. Ties are resolved as in Jerasure."""
    if m == 2:
        lightest = sorted(range(1, ORDER), key=lambda e: (weights(field)[e], e))
        return ((1,) * k, tuple(lightest[:k]))
    return scaled(field, _cauchy_orig(field, k, m))


def scaled(field: Field, matrix: Sequence[Sequence[int]]) -> Matrix:
    """Return a matrix without 0, scaled: columns so that the first row is 1, then every other row is divided
    by the one of its elements that leaves the fewest ones."""
    scales = [field.inverse(element) for element in matrix[0]]
    rows = [[field.multiply(e, s) for e, s in zip(row, scales, strict=True)] for row in matrix]
    return (tuple(rows[0]), *(_lightest(field, row) for row in rows[1:]))


def _lightest(field: Field, row: list[int]) -> tuple[int, ...]:
    """Return the row, or its first quotient by one of its elements, with the fewest ones."""
    weight = weights(field)
    quotients = [row]
    for element in row:
        inverse = field.inverse(element)
        quotients.append([field.multiply(e, inverse) for e in row])
    return tuple(min(quotients, key=lambda quotient: sum(weight[e] for e in quotient)))


def _reed_sol_van(field: Field, k: int, m: int) -> Matrix:
    """Return the lower m rows of V V[:k]^-1, then columns scaled to a first row of 1 and rows to a first
    column of 1. V is the extended Vandermonde matrix: rows (i^j), and (0, .., 0, 1) as the last.

    Row i of V maps a polynomial to its value at i, the last row to its leading coefficient. Source: J. S.
    Plank, Y. Ding, "Note: Correction to the 1997 tutorial on Reed-Solomon coding", 2003."""
    points = range(k)
    weight = lagrange.weights(field, points)
    rows = [*(lagrange.values(field, points, weight, k + i) for i in range(m - 1)), weight]
    columns = [field.inverse(element) for element in rows[0]]
    scaled = [[field.multiply(e, s) for e, s in zip(row, columns, strict=True)] for row in rows]
    firsts = [field.inverse(row[0]) for row in scaled]
    return tuple(tuple(field.multiply(e, s) for e in row) for row, s in zip(scaled, firsts, strict=True))


FAMILIES = (
    Family(names.REED_SOL_VAN, _reed_sol_van),
    Family(names.REED_SOL_R6_OP, powers),
    Family(names.CAUCHY_ORIG, _cauchy_orig),
    Family(names.CAUCHY_GOOD, cauchy_good),
)
