"""Correction of wrong symbols by exhaustive search: every error pattern of up to t symbols with its syndrome.

The code's equations are applied to a received word with a multiplication table alone; no property of a code
is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def columns_of(matrix: Bytes) -> Bytes:
    """Return the columns of the equations [P I] of a parity matrix, m x (k + m)."""
    return np.concatenate([matrix, np.eye(len(matrix), dtype=np.uint8)], axis=1)


def syndromes(table: Bytes, matrix: Bytes, words: Bytes) -> Bytes:
    """Return the syndromes of words, (k + m) x len, as m x len bytes."""
    total = np.zeros((len(matrix), words.shape[1]), np.uint8)
    for column, shard in zip(columns_of(matrix).T, words, strict=True):
        total ^= table[column[:, None], shard[None, :]]
    return total


def _keys(syndrome: Bytes) -> NDArray[np.uint64]:
    """Return the syndromes, at most 8 bytes each, as numbers."""
    shifts = (8 * np.arange(len(syndrome), dtype=np.uint64))[:, None]
    return np.bitwise_or.reduce(syndrome.astype(np.uint64) << shifts, axis=0)


@dataclass(frozen=True)
class Patterns:
    """All error patterns of 1 to t wrong symbols, for m <= 8 parities. errors: one pattern per column, sorted
    by the syndromes `keys`."""

    table: Bytes
    matrix: Bytes
    keys: NDArray[np.uint64]
    errors: Bytes

    def correct(self, words: Bytes) -> tuple[Bytes, NDArray[np.int64]]:
        """Return the words after correction, and for each the number of changed symbols, -1 if no pattern has
        its syndrome."""
        keys = _keys(syndromes(self.table, self.matrix, words))
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found = self.keys[at] == keys
        change = np.where(found, self.errors[:, at], 0).astype(np.uint8)
        count = np.where(found, np.count_nonzero(change, axis=0), -1)
        return words ^ change, np.where(keys == 0, 0, count)


def patterns(table: Bytes, matrix: Bytes, t: int) -> Patterns:
    """Return all patterns; asserts that no two have the same syndrome, so that each is the only answer."""
    shards = sum(matrix.shape)
    parts = []
    for weight in range(1, t + 1):
        values = np.stack([axis.ravel() for axis in np.meshgrid(*[np.arange(1, 256)] * weight)])
        for chosen in combinations(range(shards), weight):
            part = np.zeros((shards, values.shape[1]), np.uint8)
            part[list(chosen)] = values
            parts.append(part)
    errors = np.hstack(parts)
    keys = _keys(syndromes(table, matrix, errors))
    order = np.argsort(keys)
    assert (np.diff(keys[order]) > 0).all(), "two patterns have the same syndrome"
    return Patterns(table, matrix, keys[order], errors[:, order])
