"""What a code family is: how a shape becomes an m x k parity matrix, and which shapes it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gfsmith.field import Field
from gfsmith.matrix import Matrix
from gfsmith.spec import MAX_SHARDS

POLYNOMIAL = 0x11D


class CodeError(ValueError):
    """An unknown family, or a shape that it does not have or at which it is not MDS."""


@dataclass(frozen=True, slots=True)
class Family:
    """parity(field, k, m) gives the matrix of the shapes with k <= most_k, least_m <= m <= most_m and
    k + m <= MAX_SHARDS.

    mds says in words why every shape is MDS, or that not every one is; mds.py decides each by itself.
    nested: the matrix of a shape is the upper left corner of that of every greater one, so that the shapes
    that are MDS are closed downwards; asked only of families that are not MDS everywhere.
    """

    name: str
    formula: str
    source: str
    mds: str
    parity: Callable[[Field, int, int], Matrix]
    most_k: int = MAX_SHARDS - 1
    least_m: int = 1
    most_m: int = MAX_SHARDS - 1
    nested: bool = False

    @property
    def fixed_m(self) -> int | None:
        """The number of parities, of a family that has just one."""
        return self.least_m if self.least_m == self.most_m else None

    @property
    def limits(self) -> str:
        """The shapes in words."""
        most_k = f"1 <= k <= {self.most_k}" if self.most_k < MAX_SHARDS - 1 else "k >= 1"
        if self.fixed_m is not None:
            m = f"m = {self.fixed_m}"
        elif self.most_m < MAX_SHARDS - 1:
            m = f"{self.least_m} <= m <= {self.most_m}"
        else:
            m = f"m >= {self.least_m}"
        return f"{most_k}, {m}, k + m <= {MAX_SHARDS}"

    def greatest_k(self, m: int) -> int:
        """The widest shape with m parities, 0 if there is none."""
        if not self.least_m <= m <= self.most_m:
            return 0
        return max(0, min(self.most_k, MAX_SHARDS - m))

    def complete(self, k: int | None, m: int | None) -> tuple[int, int]:
        """k and m of a user, who may leave m out if there is only one. Raises CodeError."""
        m = self.fixed_m if m is None else m
        if k is None or m is None:
            missing = " and ".join(flag for flag, value in (("--k", k), ("--m", m)) if value is None)
            raise CodeError(f"{self.name}: {missing} missing; allowed: {self.limits}")
        return k, m

    def check_shape(self, k: int, m: int) -> None:
        """Raises CodeError for a shape that the family does not have."""
        if not 1 <= k <= self.greatest_k(m):
            raise CodeError(f"{self.name} has no shape {k}+{m}; allowed: {self.limits}")


def powers(field: Field, k: int, m: int) -> Matrix:
    """P[i][j] = (2^i)^j, m x k."""
    rows = []
    for i in range(m):
        base, row = field.power(2, i), [1]
        while len(row) < k:
            row.append(field.multiply(row[-1], base))
        rows.append(tuple(row))
    return tuple(rows)
