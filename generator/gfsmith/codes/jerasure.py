"""The codes of Jerasure with w = 8."""

from __future__ import annotations

from gfsmith.codes import lagrange
from gfsmith.codes.family import Family, powers
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
    weight = [ones(field, element) for element in range(ORDER)]
    quotients = [row]
    for element in row:
        inverse = field.inverse(element)
        quotients.append([field.multiply(e, inverse) for e in row])
    return tuple(min(quotients, key=lambda quotient: sum(weight[e] for e in quotient)))


def _reed_sol_van(field: Field, k: int, m: int) -> Matrix:
    """The lower rows of V V[:k]^-1, V the extended Vandermonde matrix whose rows are (i^j) but for the last,
    (0, .., 0, 1); then columns scaled to a first row of 1 and rows to a first column of 1.

    Row i of V takes the value of a polynomial at i, the last row its leading coefficient.
    Source: J. S. Plank, Y. Ding, "Note: Correction to the 1997 tutorial on Reed-Solomon coding", 2003."""
    points = range(k)
    weight = lagrange.weights(field, points)
    rows = [*(lagrange.values(field, points, weight, k + i) for i in range(m - 1)), weight]
    columns = [field.inverse(element) for element in rows[0]]
    scaled = [[field.multiply(e, s) for e, s in zip(row, columns, strict=True)] for row in rows]
    firsts = [field.inverse(row[0]) for row in scaled]
    return tuple(tuple(field.multiply(e, s) for e in row) for row, s in zip(scaled, firsts, strict=True))


REED_SOL_VAN = Family(
    "reed_sol_van",
    "rows k.. of V V[:k]^-1, V[i][j] = i^j, last row 0 .. 0 1; scaled: first row and column 1",
    "Jerasure reed_sol_vandermonde_coding_matrix, w = 8; Ceph's default",
    "always: the values of a polynomial at distinct points and infinity, a Cauchy matrix up to scaling",
    _reed_sol_van,
)

REED_SOL_R6_OP = Family(
    "reed_sol_r6_op",
    "rows 1 and 2^j, as raid6",
    "Jerasure reed_sol_r6_coding_matrix, w = 8",
    "always: two rows with distinct quotients 2^j, j < 255",
    powers,
    least_m=2,
    most_m=2,
)

CAUCHY_ORIG = Family(
    "cauchy_orig",
    "P[i][j] = 1 / (i xor (m + j))",
    "Jerasure cauchy_original_coding_matrix, w = 8",
    "always: a Cauchy matrix, points 0 .. k + m - 1",
    _cauchy_orig,
)

CAUCHY_GOOD = Family(
    "cauchy_good",
    "cauchy_orig with rows and columns scaled for few ones; m = 2: 1 and the lightest elements",
    "Jerasure cauchy_good_general_coding_matrix, w = 8",
    "always: a Cauchy matrix with scaled rows and columns, or two rows of distinct quotients",
    _cauchy_good,
)
