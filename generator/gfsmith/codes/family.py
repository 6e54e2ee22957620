"""What a code family is: how a shape becomes an m x k parity matrix, and where it is MDS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gfsmith.field import Field
from gfsmith.matrix import Matrix

POLYNOMIAL = 0x11D


class CodeError(ValueError):
    """An unknown family or a shape that it does not have."""


@dataclass(frozen=True, slots=True)
class Family:
    """parity(field, k, m) gives the matrix; mds(k, m) whether any k shards determine the data."""

    name: str
    formula: str
    source: str
    mds_when: str
    parity: Callable[[Field, int, int], Matrix]
    mds: Callable[[int, int], bool]
