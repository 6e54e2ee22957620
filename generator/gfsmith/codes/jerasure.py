"""The codes of Jerasure with w = 8."""

from __future__ import annotations

from gfsmith.codes.family import Family
from gfsmith.field import ORDER, Field
from gfsmith.matrix import Matrix


def _cauchy_orig(field: Field, k: int, m: int) -> Matrix:
    return tuple(tuple(field.inverse(i ^ (m + j)) for j in range(k)) for i in range(m))


def ones(field: Field, element: int) -> int:
    """Ones in the bit matrix of x -> element * x: what the element costs in packet layout."""
    return sum(row.bit_count() for row in field.matrix(element))


def _cauchy_good(field: Field, k: int, m: int) -> Matrix:
    """cauchy_orig with columns scaled so that the first row is 1, and every other row divided by that one
    of its elements which leaves it the fewest ones; for m = 2 the second row is the k lightest elements.

    Source: J. S. Plank, L. Xu, "Optimizing Cauchy Reed-Solomon codes for fault-tolerant network storage
    applications", NCA 2006; ties are decided as Jerasure decides them."""
    if m == 2:
        lightest = sorted(range(1, ORDER), key=lambda e: (ones(field, e), e))
        return ((1,) * k, tuple(lightest[:k]))
    original = _cauchy_orig(field, k, m)
    scales = [field.inverse(element) for element in original[0]]
    rows = [[field.multiply(e, s) for e, s in zip(row, scales, strict=True)] for row in original]
    return (tuple(rows[0]), *(_lightest(field, row) for row in rows[1:]))


def _lightest(field: Field, row: list[int]) -> tuple[int, ...]:
    """The row or the first of its quotients by its elements that has the fewest ones."""
    quotients = [row]
    for element in row:
        inverse = field.inverse(element)
        quotients.append([field.multiply(e, inverse) for e in row])
    return tuple(min(quotients, key=lambda quotient: sum(ones(field, e) for e in quotient)))


CAUCHY_ORIG = Family(
    "cauchy_orig",
    "P[i][j] = 1 / (i xor (m + j))",
    "Jerasure cauchy_original_coding_matrix, w = 8",
    "always: a Cauchy matrix",
    _cauchy_orig,
    lambda k, m: True,
)

CAUCHY_GOOD = Family(
    "cauchy_good",
    "cauchy_orig with rows and columns scaled for few ones; m = 2: 1 and the lightest elements",
    "Jerasure cauchy_good_general_coding_matrix, w = 8",
    "always: a Cauchy matrix with scaled rows and columns, or two rows of distinct quotients",
    _cauchy_good,
    lambda k, m: True,
)
