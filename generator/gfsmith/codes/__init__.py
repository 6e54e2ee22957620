"""Code families: how a name and a shape become an m x k parity matrix, and where it is MDS."""

from __future__ import annotations

from gfsmith.codes.backblaze import BACKBLAZE
from gfsmith.codes.family import POLYNOMIAL, CodeError, Family
from gfsmith.codes.isal import CAUCHY, VANDERMONDE
from gfsmith.codes.jerasure import CAUCHY_GOOD, CAUCHY_ORIG
from gfsmith.codes.lch import LCH
from gfsmith.field import Field
from gfsmith.matrix import Matrix
from gfsmith.spec import MAX_SHARDS

__all__ = ["FAMILIES", "POLYNOMIAL", "CodeError", "Family", "parity_matrix"]

FAMILIES: dict[str, Family] = {
    family.name: family for family in (VANDERMONDE, CAUCHY, BACKBLAZE, LCH, CAUCHY_ORIG, CAUCHY_GOOD)
}


def parity_matrix(name: str, k: int, m: int) -> Matrix:
    """The m x k parity matrix of a family over 0x11d.

    Raises CodeError for an unknown name, k or m of 0, more than 255 shards, or a shape that is not
    MDS.
    """
    if name not in FAMILIES:
        raise CodeError(f"code '{name}' is unknown; allowed: {', '.join(FAMILIES)}")
    if k < 1 or m < 1 or k + m > MAX_SHARDS:
        raise CodeError(f"shape {k}+{m}; allowed: k >= 1, m >= 1, k + m <= {MAX_SHARDS}")
    family = FAMILIES[name]
    if not family.mds(k, m):
        raise CodeError(f"{name} {k}+{m} is not MDS; it is for: {family.mds_when}")
    return family.parity(Field(POLYNOMIAL), k, m)
