"""Code families: how a name and a shape become an m x k parity matrix, and where it is MDS."""

from __future__ import annotations

from functools import lru_cache

from gfsmith.codes import mds
from gfsmith.codes.backblaze import BACKBLAZE
from gfsmith.codes.family import POLYNOMIAL, CodeError, Family
from gfsmith.codes.hdfs import HDFS
from gfsmith.codes.isal import CAUCHY, VANDERMONDE
from gfsmith.codes.jerasure import CAUCHY_GOOD, CAUCHY_ORIG, REED_SOL_R6_OP, REED_SOL_VAN
from gfsmith.codes.lch import LCH
from gfsmith.codes.raid import RAID6, RAIDZ, SNAPRAID
from gfsmith.field import Field
from gfsmith.matrix import Matrix

__all__ = [
    "ALIASES",
    "FAMILIES",
    "POLYNOMIAL",
    "CodeError",
    "Family",
    "allowed",
    "decided",
    "find",
    "frontier",
    "parity_matrix",
    "safe_shapes",
]

_ALL = (
    *(VANDERMONDE, CAUCHY, BACKBLAZE, LCH, CAUCHY_ORIG, CAUCHY_GOOD),
    *(REED_SOL_VAN, REED_SOL_R6_OP, HDFS, RAID6, RAIDZ, SNAPRAID),
)
FAMILIES: dict[str, Family] = {family.name: family for family in _ALL}

#: Other names, of projects that write these codes. runtime/src/codes.c has the same.
ALIASES: dict[str, str] = {
    "klauspost": "backblaze",
    "minio": "backblaze",
    "seaweedfs": "backblaze",
    "reed-solomon-erasure": "backblaze",
    "hadoop": "hdfs",
    "md": "raid6",
    "btrfs": "raid6",
    "zfs": "raidz",
    "openzfs": "raidz",
}


def allowed() -> str:
    """Every name that find knows, in a line."""
    others = ", ".join(f"{alias} = {name}" for alias, name in ALIASES.items())
    return f"{', '.join(FAMILIES)}; or {others}"


def find(name: str) -> Family:
    """The family of a name or an alias. Raises CodeError."""
    family = FAMILIES.get(ALIASES.get(name, name))
    if family is None:
        raise CodeError(f"code '{name}' is unknown; allowed: {allowed()}")
    return family


@lru_cache(maxsize=256)
def decided(name: str, k: int, m: int) -> tuple[Matrix, mds.Certificate | mds.Counterexample]:
    """The m x k parity matrix of a family over 0x11d, MDS or not, and what shows which.

    Raises CodeError for an unknown name and a shape that the family does not have."""
    family = find(name)
    family.check_shape(k, m)
    field = Field(POLYNOMIAL)
    matrix = family.parity(field, k, m)
    return matrix, mds.decide(field, matrix)


def parity_matrix(name: str, k: int, m: int) -> Matrix:
    """The m x k parity matrix of a family over 0x11d.

    Raises CodeError for an unknown name, a shape that the family does not have, or one that is not MDS.
    """
    matrix, answer = decided(name, k, m)
    if isinstance(answer, mds.Counterexample):
        family = find(name)
        raise CodeError(f"{family.name} {k}+{m} is not MDS: {answer.words}; it is for: {safe_shapes(family)}")
    return matrix


@lru_cache(maxsize=32)
def frontier(family: Family) -> dict[int, int]:
    """For each number of parities the greatest k up to which all shapes are MDS.

    Where that is not every shape, a staircase: a singular minor excludes all greater shapes, and a shape
    that is MDS shows it for all smaller ones, whose matrices are its submatrices. So only the corners are
    decided: at each m the greatest k, then for that k the greatest m."""
    widest = {m: family.greatest_k(m) for m in range(family.least_m, family.most_m + 1)}
    if not family.nested:
        return widest
    found: dict[int, int] = {}
    m, k = 1, family.most_k
    while m <= family.most_m:
        k = min(k, widest[m])
        while isinstance(answer := decided(family.name, k, m)[1], mds.Counterexample):
            k = max(answer.columns)
        last = max(other for other in widest if widest[other] >= k)
        while isinstance(answer := decided(family.name, k, last)[1], mds.Counterexample):
            last = max(answer.rows)
        found |= dict.fromkeys(range(m, last + 1), k)
        m = last + 1
    return found


def safe_shapes(family: Family) -> str:
    """The shapes that are MDS, in words: "m <= 3; m = 4, k <= 21; k <= 3"."""
    if not family.nested:
        return family.limits
    bounds = frontier(family)
    free = max(m for m in bounds if all(bounds[n] == family.greatest_k(n) for n in range(1, m + 1)))
    steps: dict[int, list[int]] = {}
    for m, k in bounds.items():
        if k < family.greatest_k(m):
            steps.setdefault(k, []).append(m)
    parts = [f"m <= {free}"]
    for k, ms in steps.items():
        start = f"m = {ms[0]}, " if len(ms) == 1 else f"m <= {ms[-1]}, "
        parts.append(f"{'' if k == min(steps) else start}k <= {k}")
    return "; ".join(parts)
