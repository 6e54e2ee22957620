"""Code families: the m x k parity matrix of a name and a shape, and the shapes at which a family is MDS."""

from __future__ import annotations

from functools import lru_cache

from gfsmith.codes import backblaze, cerasure, hdfs, isal, jerasure, lch, mds, plank, raid, zerasure, zfec
from gfsmith.codes.family import POLYNOMIAL, Family
from gfsmith.codes.names import ALIASES, CODES, SEARCHED, CodeError, allowed
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix

__all__ = [
    "ALIASES",
    "FAMILIES",
    "POLYNOMIAL",
    "SEARCHED",
    "CodeError",
    "Family",
    "allowed",
    "decided",
    "find",
    "frontier",
    "parity_matrix",
    "safe_shapes",
]

_MODULES = (isal, backblaze, lch, jerasure, hdfs, raid, zfec, plank, zerasure, cerasure)
_MADE = {family.code: family for module in _MODULES for family in module.FAMILIES}
FAMILIES: dict[str, Family] = {code.name: _MADE[code] for code in CODES}
_ALL: dict[str, Family] = {**FAMILIES, **{code.name: _MADE[code] for code in SEARCHED}}


def find(name: str) -> Family:
    """Return the family of a name or an alias. Raises CodeError for an unknown name."""
    family = _ALL.get(ALIASES.get(name, name))
    if family is None:
        raise CodeError(f"code '{name}' is unknown; allowed: {allowed()}")
    return family


@lru_cache(maxsize=256)
def decided(name: str, k: int, m: int) -> tuple[Matrix, mds.Certificate | mds.Counterexample]:
    """Return the m x k parity matrix of a family over 0x11d with the proof that it is MDS or not.

    Raises CodeError for an unknown name and for a shape that the family does not have."""
    family = find(name)
    family.code.check_shape(k, m)
    field = Field(POLYNOMIAL)
    matrix = family.parity(field, k, m)
    return matrix, mds.decide(field, matrix)


def parity_matrix(name: str, k: int, m: int) -> Matrix:
    """Return the m x k parity matrix of a family over 0x11d.

    Raises CodeError for an unknown name, for a shape that the family does not have, and for one that is not
    MDS.
    """
    matrix, answer = decided(name, k, m)
    if isinstance(answer, mds.Counterexample):
        family = find(name)
        safe = safe_shapes(family)
        raise CodeError(f"{family.code.name} {k}+{m} is not MDS: {answer.words}; allowed: {safe}")
    return matrix


@lru_cache(maxsize=32)
def frontier(family: Family) -> dict[int, int]:
    """Return for each number of parities the greatest k up to which all shapes are MDS.

    The matrix of a nested code contains those of all smaller shapes, so a singular minor excludes all greater
    shapes, and an MDS shape proves all smaller ones. The MDS shapes form a staircase, and only its corners
    are decided: at each m the greatest k, then for that k the greatest m."""
    code = family.code
    widest = {m: code.greatest_k(m) for m in range(code.least_m, code.most_m + 1)}
    if not code.nested:
        return widest
    found: dict[int, int] = {}
    m, k = 1, code.most_k
    while m <= code.most_m:
        k = min(k, widest[m])
        while isinstance(answer := decided(code.name, k, m)[1], mds.Counterexample):
            k = max(answer.columns)
        last = max(other for other in widest if widest[other] >= k)
        while isinstance(answer := decided(code.name, k, last)[1], mds.Counterexample):
            last = max(answer.rows)
        found |= dict.fromkeys(range(m, last + 1), k)
        m = last + 1
    return found


def safe_shapes(family: Family) -> str:
    """Return the shapes that are MDS in words, such as "m <= 3; m = 4, k <= 21; k <= 3"."""
    code = family.code
    if not code.nested:
        return code.limits
    bounds = frontier(family)
    free = max(m for m in bounds if all(bounds[n] == code.greatest_k(n) for n in range(1, m + 1)))
    steps: dict[int, list[int]] = {}
    for m, k in bounds.items():
        if k < code.greatest_k(m):
            steps.setdefault(k, []).append(m)
    parts = [f"m <= {free}"]
    for k, ms in steps.items():
        start = f"m = {ms[0]}, " if len(ms) == 1 else f"m <= {ms[-1]}, "
        parts.append(f"{'' if k == min(steps) else start}k <= {k}")
    return "; ".join(parts)
