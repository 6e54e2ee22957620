"""The codes of ISA-L."""

from __future__ import annotations

from gfsmith.codes.family import Family
from gfsmith.field import Field
from gfsmith.matrix import Matrix


def _vandermonde(field: Field, k: int, m: int) -> Matrix:
    rows = []
    for i in range(m):
        base = field.power(2, i)
        rows.append(tuple(field.power(base, j) for j in range(k)))
    return tuple(rows)


def _vandermonde_is_mds(k: int, m: int) -> bool:
    """The shapes that ISA-L's erasure_code.h names as safe for gf_gen_rs_matrix.

    m <= 3 and k <= 3 follow from Vandermonde determinants of distinct powers of 2; the other three
    are exhaustive checks, and one step beyond each there is a singular minor (tests/unit).
    """
    return m <= 3 or k <= 3 or (m == 4 and k <= 21) or (k == 4 and k + m <= 25) or (k == 5 and k + m <= 10)


def _cauchy(field: Field, k: int, m: int) -> Matrix:
    return tuple(tuple(field.inverse((k + i) ^ j) for j in range(k)) for i in range(m))


VANDERMONDE = Family(
    "vandermonde",
    "P[i][j] = (2^i)^j",
    "ISA-L gf_gen_rs_matrix",
    "m <= 3; k <= 3; m = 4, k <= 21; k = 4, m <= 21; k = 5, m <= 5",
    _vandermonde,
    _vandermonde_is_mds,
)

CAUCHY = Family(
    "cauchy",
    "P[i][j] = 1 / ((k + i) xor j)",
    "ISA-L gf_gen_cauchy1_matrix",
    "always: every minor of a Cauchy matrix is non-zero",
    _cauchy,
    lambda k, m: True,
)
