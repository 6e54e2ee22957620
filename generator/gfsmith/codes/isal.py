"""The codes of ISA-L."""

from __future__ import annotations

from gfsmith.codes.family import Family, powers
from gfsmith.field import Field
from gfsmith.matrix import Matrix


def cauchy(field: Field, k: int, m: int) -> Matrix:
    return tuple(tuple(field.inverse((k + i) ^ j) for j in range(k)) for i in range(m))


VANDERMONDE = Family(
    "vandermonde",
    "P[i][j] = (2^i)^j",
    "ISA-L gf_gen_rs_matrix",
    "not always: m <= 3 and k <= 3 by theorem, the rest by all minors up to a singular one",
    powers,
    nested=True,
)

CAUCHY = Family(
    "cauchy",
    "P[i][j] = 1 / ((k + i) xor j)",
    "ISA-L gf_gen_cauchy1_matrix",
    "always: a Cauchy matrix, points 0 .. k + m - 1",
    cauchy,
)
