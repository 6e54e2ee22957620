"""The codes of ISA-L."""

from __future__ import annotations

from gfsmith.codes import names
from gfsmith.codes.family import Family, powers
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix


def cauchy(field: Field, k: int, m: int) -> Matrix:
    return tuple(tuple(field.inverse((k + i) ^ j) for j in range(k)) for i in range(m))


FAMILIES = (
    Family(names.VANDERMONDE, powers),
    Family(names.CAUCHY, cauchy),
)
