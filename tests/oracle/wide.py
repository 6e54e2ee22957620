"""The parity matrix of a code of gfsmith_wide.h by Lagrange interpolation, without any transform.

The points of a code are the elements of GF(2^w), numbered by their coefficients in Cantor's basis, in blocks
of n points. In a Leopard code n is the least power of two >= m, block 0 has the parities, and the following
blocks have n data shards each; missing ones are 0. Each block of data determines a polynomial of degree below
n, and a parity is the value at its point of the sum of these polynomials. The other codes have that
arrangement or the opposite one: block 0 has the data, and the following blocks the parities.

Products are computed in the polynomial basis, by logarithms. The elements of shards have Cantor's
coordinates.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

POLYNOMIALS = {"leopard8": 0x11D, "leopard16": 0x1002D, "reed_solomon_simd": 0x1002D, "lch16": 0x1002D}
#: Shapes for the matrix: one shard, several blocks of data, truncated blocks, points in layers of distances 1
#: to 4 whose constants are not in GF(2^8).
SMALL = (
    ("leopard8", 1, 1),
    ("leopard8", 5, 3),
    ("leopard8", 20, 4),
    ("leopard8", 9, 17),
    ("leopard8", 30, 16),
    ("leopard16", 1, 1),
    ("leopard16", 3, 2),
    ("leopard16", 13, 5),
    ("leopard16", 6, 24),
    ("leopard16", 64, 64),
    ("leopard16", 1100, 5),
    ("reed_solomon_simd", 3, 2),
    ("reed_solomon_simd", 3, 4),
    ("reed_solomon_simd", 4, 3),
    ("reed_solomon_simd", 13, 5),
    ("reed_solomon_simd", 5, 21),
    ("lch16", 1, 1),
    ("lch16", 2, 4),
    ("lch16", 20, 3),
    ("lch16", 7, 5),
    ("lch16", 3, 24),
)
#: Shapes and lengths for the bytes of the originals; 342 of 1023 is that of JAM.
SHAPES = (
    ("leopard8", 1, 1, 64),
    ("leopard8", 17, 3, 8256),
    ("leopard8", 100, 20, 640),
    ("leopard8", 128, 128, 192),
    ("leopard16", 1, 1, 64),
    ("leopard16", 2, 1, 128),
    ("leopard16", 10, 4, 8256),
    ("leopard16", 200, 55, 320),
    ("leopard16", 256, 256, 1088),
    ("leopard16", 1000, 100, 192),
    ("leopard16", 342, 681, 448),
    ("leopard16", 1024, 1024, 576),
    ("leopard16", 5000, 1, 64),
    ("leopard16", 3, 2000, 64),
    ("reed_solomon_simd", 1, 1, 2),
    ("reed_solomon_simd", 60, 40, 66),
    ("reed_solomon_simd", 40, 60, 8254),
    ("reed_solomon_simd", 200, 50, 4094),
    ("reed_solomon_simd", 50, 200, 190),
    ("reed_solomon_simd", 342, 681, 448),
    ("reed_solomon_simd", 1000, 900, 64),
    ("reed_solomon_simd", 3, 2000, 130),
)


@cache
def powers_and_logs(code: str) -> tuple[Any, Any]:
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
    powers, logs = powers_and_logs(code)
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


def arrangement(code: str, k: int, m: int) -> tuple[int, int, int]:
    """Return the points of the first data shard and of the first parity, and the size of a block."""
    data, parity = (1 << (count - 1).bit_length() for count in (k, m))
    if data < parity and not code.startswith("leopard"):
        return 0, data, data
    return parity, 0, parity


def matrix(code: str, k: int, m: int) -> Any:
    """Return the m x k parity matrix."""
    powers, logs = powers_and_logs(code)
    point, (data, parity, block) = elements(code), arrangement(code, k, m)
    rows = np.zeros((m, k), np.int64)
    for j in range(k):
        own = data + j
        first = own // block * block
        others = point[[p for p in range(first, first + block) if p != own]]
        weight = logs[point[own] ^ others].sum()
        for i in range(m):
            rows[i, j] = powers[(logs[point[parity + i] ^ others].sum() - weight) % len(powers)]
    return rows


def order(code: str, length: int) -> Any:
    """Return where a shard has its low bytes, one after the other, and then its high bytes.

    In lch16 each word is a low byte and a high one. Otherwise the first half of each 64 bytes, and of the
    rest, is low.
    """
    if code == "leopard8":
        return np.arange(length)
    if code == "lch16":
        return np.concatenate([np.arange(0, length, 2), np.arange(1, length, 2)])
    pieces = np.split(np.arange(length), range(64, length, 64))
    return np.concatenate([np.split(piece, 2)[half] for half in (0, 1) for piece in pieces])


def encode(code: str, m: int, data: Any) -> Any:
    """Return the parity shards of an array of data shards."""
    point, places = elements(code), order(code, len(data[0]))
    coordinates = np.argsort(point)
    numbers = np.asarray(data, dtype=np.int64)[:, places]
    if code != "leopard8":
        low, high = np.split(numbers, 2, axis=1)
        numbers = low | high << 8
    total = np.zeros((m, numbers.shape[1]), np.int64)
    for column, shard in zip(matrix(code, len(data), m).T, point[numbers], strict=True):
        total ^= multiply(code, column[:, None], shard[None, :])
    found = coordinates[total]
    if code != "leopard8":
        found = np.concatenate([found & 0xFF, found >> 8], axis=1)
    return found[:, np.argsort(places)].astype(np.uint8)
