"""The parity matrix of a Leopard code by Lagrange interpolation, without any transform.

The points of the code are the elements of GF(2^w), numbered by their coefficients in Cantor's basis. With n
the least power of two >= m, block 0 of n points has the parities, and each following block of n points has n
data shards; missing ones are 0. Each block of data determines a polynomial of degree below n, and parity i is
the value at point i of the sum of these polynomials.

Products are computed in the polynomial basis, by logarithms. The elements of shards have Cantor's
coordinates.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

POLYNOMIALS = {"leopard8": 0x11D, "leopard16": 0x1002D}


@cache
def _powers(code: str) -> tuple[Any, Any]:
    """Return the powers of x, and their logarithms by element."""
    order = 1 << POLYNOMIALS[code].bit_length() - 1
    powers, logs, x = np.zeros(order - 1, np.int64), np.zeros(order, np.int64), 1
    for n in range(order - 1):
        powers[n], logs[x] = x, n
        x <<= 1
        x ^= POLYNOMIALS[code] if x >= order else 0
    assert x == 1 and len(set(powers.tolist())) == order - 1, "x is not primitive"
    return powers, logs


def multiply(code: str, left: Any, right: Any) -> Any:
    """Return products element by element."""
    powers, logs = _powers(code)
    product = powers[(logs[left] + logs[right]) % len(powers)]
    return np.where((np.asarray(left) == 0) | (np.asarray(right) == 0), 0, product)


@cache
def elements(code: str) -> Any:
    """Return the element of each point. The basis is b[0] = 1, b[i]^2 + b[i] = b[i-1], where of the two
    solutions b[i] is the one without x^0."""
    order = 1 << POLYNOMIALS[code].bit_length() - 1
    evens = np.arange(0, order, 2)
    images = multiply(code, evens, evens) ^ evens
    found, basis = np.zeros(1, np.int64), 1
    while len(found) < order:
        found = np.concatenate([found, found ^ basis])
        basis = 2 * int(np.flatnonzero(images == basis)[-1]) if len(found) < order else 0
    return found


def matrix(code: str, k: int, m: int) -> Any:
    """Return the m x k parity matrix."""
    powers, logs = _powers(code)
    point, block = elements(code), 1 << (m - 1).bit_length()
    rows = np.zeros((m, k), np.int64)
    for j in range(k):
        own = block + j
        first = own // block * block
        others = point[[p for p in range(first, first + block) if p != own]]
        weight = logs[point[own] ^ others].sum()
        for i in range(m):
            rows[i, j] = powers[(logs[point[i] ^ others].sum() - weight) % len(powers)]
    return rows


def encode(code: str, m: int, data: Any) -> Any:
    """Return the parity shards of an array of data shards. Of each 64 bytes of a shard of leopard16, the
    first 32 are the low bytes of 32 elements, the others the high ones."""
    point = elements(code)
    coordinates = np.argsort(point)
    numbers = np.asarray(data, dtype=np.int64)
    if code == "leopard16":
        halves = numbers.reshape(len(data), -1, 2, 32)
        numbers = (halves[:, :, 0] | halves[:, :, 1] << 8).reshape(len(data), -1)
    total = np.zeros((m, numbers.shape[1]), np.int64)
    for column, shard in zip(matrix(code, len(data), m).T, point[numbers], strict=True):
        total ^= multiply(code, column[:, None], shard[None, :])
    found = coordinates[total]
    if code == "leopard16":
        chunks = found.reshape(m, -1, 32)
        found = np.stack([chunks & 0xFF, chunks >> 8], axis=2).reshape(m, -1)
    return found.astype(np.uint8)
