"""Expected parities: products by gfsmith.field, which derives them from polynomials over GF(2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gfsmith.field import Field

Bytes = NDArray[np.uint8]


@lru_cache(maxsize=4)
def products(polynomial: int) -> Bytes:
    """All products: element [a, b] is a * b. A product is linear in a and in b, so
    64 products determine all.
    """
    field = Field(polynomial)
    table = np.zeros((256, 256), np.uint8)
    left, right = np.indices((256, 256))
    for i in range(8):
        for j in range(8):
            both = (left >> i & 1) & (right >> j & 1)
            table ^= (both * field.multiply(1 << i, 1 << j)).astype(np.uint8)
    return table


def encode(matrix: Sequence[Sequence[int]], data: Bytes, polynomial: int = 0x11D) -> Bytes:
    """parity[i] = sum over j of matrix[i][j] * data[j]."""
    table = products(polynomial)
    rows = [np.bitwise_xor.reduce([table[c][d] for c, d in zip(row, data, strict=True)]) for row in matrix]
    return np.array(rows, np.uint8)


def random_data(k: int, length: int, seed: int = 0) -> Bytes:
    return np.random.default_rng([k, length, seed]).integers(0, 256, (k, length), dtype=np.uint8)
