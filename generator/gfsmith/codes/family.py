"""Code families: a code with the function that returns its m x k parity matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gfsmith.codes.names import Code
from gfsmith.field import POLYNOMIAL as POLYNOMIAL
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix


@dataclass(frozen=True, slots=True)
class Family:
    """A code. parity(field, k, m): returns the m x k parity matrix, for every shape of the code."""

    code: Code
    parity: Callable[[Field, int, int], Matrix]


def powers(field: Field, k: int, m: int) -> Matrix:
    """Return the m x k matrix P[i][j] = (2^i)^j."""
    rows = []
    for i in range(m):
        base, row = field.power(2, i), [1]
        while len(row) < k:
            row.append(field.multiply(row[-1], base))
        rows.append(tuple(row))
    return tuple(rows)
