"""Sketches by their definition (docs/checksums.md): the weight of each place, then the sum of products.

Elements of K are vectors of 4 coefficients of 1, y, y^2, y^3, elements of L of 8: those of 1 and then of z.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tests.support.library import POLYNOMIAL, inverses, products

Bytes = NDArray[np.uint8]

LINE = 64
BLOCK = 4096  #: bytes whose weights are computed together
ORDER = 2**32 - 1
PRIMES = (3, 5, 17, 257, 65537)


@dataclass(frozen=True, slots=True)
class Fields:
    """K = F[y] / (y^4 + t y^3 + y^2 + y + c) and L = K[z] / (z^2 + z + y)."""

    polynomial: int
    t: int
    c: int

    def times_y(self, a: Bytes) -> Bytes:
        """Return y times the elements in the last axis of an array."""
        reduced = products(self.polynomial)[a[..., 3:], [self.c, 1, 1, self.t]]
        return reduced ^ np.concatenate((np.zeros_like(a[..., :1]), a[..., :3]), axis=-1)

    def over_y(self, a: Bytes) -> Bytes:
        """Return the b with y b = a: its highest coefficient is a[0] / c."""
        table = products(self.polynomial)
        highest = table[a[..., :1], inverses(self.polynomial)[self.c]]
        rest = a ^ table[highest, [self.c, 1, 1, self.t]]
        return np.concatenate((rest[..., 1:], highest), axis=-1)

    def product(self, a: Bytes, b: Bytes) -> Bytes:
        total = np.zeros(4, dtype=np.uint8)
        for coefficient in a[::-1]:
            total = self.times_y(total) ^ products(self.polynomial)[coefficient][b]
        return total

    def power(self, exponent: int) -> Bytes:
        """Return y^exponent."""
        result, square = np.array([1, 0, 0, 0], dtype=np.uint8), np.array([0, 1, 0, 0], dtype=np.uint8)
        while exponent:
            if exponent & 1:
                result = self.product(result, square)
            square = self.product(square, square)
            exponent >>= 1
        return result

    def is_primitive(self) -> bool:
        """Is the order of y that of K's units?"""
        one = [1, 0, 0, 0]
        proper = any(self.power(ORDER // prime).tolist() == one for prime in PRIMES)
        return self.power(ORDER).tolist() == one and not proper

    def line(self, first: Bytes) -> Bytes:
        """Return first z^b for the bytes b of a line, LINE x 8. first: an element of K."""
        weights = np.zeros((LINE, 8), dtype=np.uint8)
        weights[0, :4] = first
        for b in range(1, LINE):
            constant, linear = weights[b - 1, :4], weights[b - 1, 4:]
            weights[b] = [*self.times_y(linear), *(constant ^ linear)]
        return weights

    def weights(self, first: int, last: int) -> Bytes:
        """Return the weights of the bytes first .. last - 1 of a shard, one row of 8 for each."""
        rows = [self.line(self.power(ORDER - first // LINE % ORDER))]
        for _ in range(first // LINE + 1, -(-last // LINE)):
            halves = rows[-1].reshape(LINE, 2, 4)
            rows.append(self.over_y(halves).reshape(LINE, 8))
        skipped = first % LINE
        return np.concatenate(rows)[skipped : skipped + last - first]


def _trace(polynomial: int, a: int) -> int:
    total = 0
    for _ in range(8):
        total ^= a
        a = int(products(polynomial)[a, a])
    return total


@cache
def fields(polynomial: int = POLYNOMIAL) -> Fields:
    """Return the fields of a polynomial: the least t of trace 1, then the least c that makes y primitive."""
    t = next(t for t in range(1, 256) if _trace(polynomial, t) == 1)
    found = (Fields(polynomial, t, c) for c in range(1, 256))
    return next(candidate for candidate in found if candidate.is_primitive())


@cache
def _weights(polynomial: int, block: int) -> Bytes:
    return fields(polynomial).weights(block * BLOCK, (block + 1) * BLOCK)


def weights(polynomial: int, first: int, last: int) -> Bytes:
    """Return the weights of the bytes first .. last - 1 of a shard, one row of 8 for each."""
    blocks = range(first // BLOCK, -(-last // BLOCK))
    rows = np.concatenate([_weights(polynomial, block) for block in blocks])
    return rows[first % BLOCK :][: last - first]


def sketch(data: Bytes, offset: int = 0, polynomial: int = POLYNOMIAL) -> bytes:
    """Return the sketch of a piece of a shard at this offset."""
    if data.size == 0:
        return bytes(8)
    terms = products(polynomial)[data[:, None], weights(polynomial, offset, offset + data.size)]
    return np.bitwise_xor.reduce(terms, axis=0).tobytes()
