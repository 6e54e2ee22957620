"""The best repair of a loss by brute force, over every set of shards that a repair could read.

It shares neither equations nor search order with the planner (runtime/core/src/plan.c). Products come from
the `galois` package. A set of shards determines another shard if that shard's row of the generator matrix
is in the span of the set's rows, by Gaussian elimination.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.library import POLYNOMIAL, Bytes, inverses, products

CHUNK = 1 << 12  #: sets that one elimination handles


def generator(parity: Sequence[Sequence[int]] | Bytes) -> Bytes:
    """Return the generator matrix: the identity, then the m x k parity matrix."""
    below = np.array(parity, dtype=np.uint8)
    return np.concatenate([np.eye(below.shape[1], dtype=np.uint8), below])


def rebuilt(matrix: Sequence[Sequence[int]], rows: Bytes, polynomial: int = POLYNOMIAL) -> Bytes:
    """Return the generator rows of the rebuilt shards: the plan's matrix times the rows of the shards it
    reads.
    """
    factors = np.array(matrix, dtype=np.uint8).reshape(len(matrix), len(rows))
    return np.bitwise_xor.reduce(products(polynomial)[factors[:, :, None], rows[None]], axis=1)


def _bits(shards: Iterable[int]) -> int:
    return sum(1 << shard for shard in set(shards))


@dataclass(frozen=True, slots=True)
class Best:
    """reads: a smallest set that determines the targets; of several, one whose matrix has the fewest non-zero
    coefficients, then the one that leaves the last shards unread.
    """

    reads: tuple[int, ...]
    nonzero: int


class Oracle:
    """All sets of up to k shards of a code, and the shards that each determines.
    For up to about 16 shards.
    """

    def __init__(self, rows: Bytes, polynomial: int = POLYNOMIAL) -> None:
        """rows: the generator matrix, a row of k elements for every shard."""
        self._rows, self._polynomial = rows, polynomial
        found = [self._of_size(size) for size in range(rows.shape[1] + 1)]
        sets, determined, weights = (np.concatenate(part) for part in zip(*found, strict=True))
        self._sizes = np.bitwise_count(sets)
        self._sets, self._determined, self._weights = sets, determined, weights

    def _of_size(self, size: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Sets as bits, the shards they determine as bits, and the number of non-zero coefficients for every
        shard.
        """
        chosen = list(combinations(range(len(self._rows)), size))
        sets = np.array(chosen, dtype=int).reshape(len(chosen), size)
        parts = [self._eliminate(sets[n : n + CHUNK]) for n in range(0, len(sets), CHUNK)]
        determined, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        return (1 << sets).sum(axis=1), determined, weights

    def _eliminate(self, sets: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Solve sum of x[n] * row of set[n] = row of shard, for all sets and shards at once.

        The systems have a column for each element of the set, then one for each shard."""
        count, size = sets.shape
        shards, k = self._rows.shape
        table, inverse = products(self._polynomial), inverses(self._polynomial)
        left = self._rows[sets].transpose(0, 2, 1)
        work = np.concatenate([left, np.broadcast_to(self._rows.T, (count, k, shards))], axis=2)
        free = np.ones((count, k), dtype=bool)  # rows without a pivot
        every = np.arange(count)
        for column in range(size):
            candidates = (work[:, :, column] != 0) & free
            pivot = candidates.argmax(axis=1)
            has = candidates[every, pivot]
            row = table[inverse[work[every, pivot, column]][:, None], work[every, pivot]]
            factors = np.where(has[:, None], work[:, :, column], 0)
            factors[every, pivot] = 0
            work ^= table[factors[:, :, None], row[:, None, :]]
            work[every[has], pivot[has]] = row[has]
            free[every[has], pivot[has]] = False
        solutions = work[:, :, size:] != 0
        determined = ~(solutions & free[:, :, None]).any(axis=1)
        weights = (solutions & ~free[:, :, None]).sum(axis=1, dtype=np.uint8)
        return (determined << np.arange(shards)).sum(axis=1), weights

    def best(self, lost: Iterable[int], targets: Iterable[int]) -> Best | None:
        """Return the best repair of the targets, or None if the present shards do not determine them."""
        goals = sorted(set(targets))
        able = (self._sets & _bits(lost) == 0) & (self._determined & _bits(goals) == _bits(goals))
        (found,) = np.nonzero(able)
        if found.size == 0:
            return None
        # A smallest set is independent, so its coefficients are unique.
        smallest = found[self._sizes[found] == self._sizes[found].min()]
        nonzero = self._weights[smallest][:, goals].sum(axis=1, dtype=int)
        lightest = smallest[nonzero == nonzero.min()]
        chosen = int(self._sets[lightest].min())
        reads = tuple(shard for shard in range(len(self._rows)) if chosen >> shard & 1)
        return Best(reads, int(nonzero.min()))
