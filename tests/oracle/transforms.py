"""The additive FFT of gfsmith_wide.h by its definition: values of basis polynomials, without butterflies.

b[0], b[1], ... is Cantor's basis, V(i) the span of b[0] to b[i-1], and s(i) the product of x + v over all v
in V(i), divided by its value at b[i]. Basis polynomial j is the product of the s(i) of which j has bit i.
Point p is the element whose coefficients in Cantor's basis are the bits of p.

Source: S.-J. Lin, W.-H. Chung, Y. S. Han, "Novel polynomial basis and its application to Reed-Solomon erasure
codes", FOCS 2014.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tests.oracle.wide import POLYNOMIALS, elements, multiply, powers_and_logs


def width(code: str) -> int:
    """Return the number of bits of an element."""
    return POLYNOMIALS[code].bit_length() - 1


def _products(code: str, factors: Any) -> Any:
    """Return the product of each row of an array."""
    powers, logs = powers_and_logs(code)
    found = powers[logs[factors].sum(axis=-1) % len(powers)]
    return np.where((factors == 0).any(axis=-1), 0, found)


@cache
def subspace(code: str, i: int, points: tuple[int, ...]) -> Any:
    """Return the values of s(i) at points."""
    element = elements(code)
    span = element[: 1 << i]
    values = _products(code, element[np.array(points)][:, None] ^ span)
    scale = _products(code, element[1 << i] ^ span)
    powers, logs = powers_and_logs(code)
    return multiply(code, values, powers[-int(logs[scale]) % len(powers)])


def values(code: str, size: int, first: int) -> Any:
    """Return the values of the basis polynomials 0 to size - 1, one column each, at the points from `first`
    on."""
    points = tuple(range(first, first + size))
    found = np.ones((size, size), dtype=np.int64)
    for i in range(size.bit_length() - 1):
        has = np.arange(size) >> i & 1 == 1
        found[:, has] = multiply(code, found[:, has], subspace(code, i, points)[:, None])
    return found


def derivatives(code: str, size: int) -> Any:
    """Return the coefficients of the sums of each basis polynomial and its derivative, one column each.

    The s(i) are linear over GF(2), so their derivatives are constants: the coefficients of x.
    """
    element = elements(code)
    powers, logs = powers_and_logs(code)
    found = np.eye(size, dtype=np.int64)
    for i in range(size.bit_length() - 1):
        span = element[: 1 << i]
        scale = _products(code, element[1 << i] ^ span)
        slope = multiply(code, _products(code, span[1:]), powers[-int(logs[scale]) % len(powers)])
        for j in range(size):
            if j >> i & 1:
                found[j ^ 1 << i, j] = slope
    return found


@cache
def basis(code: str) -> Any:
    """Return the basis of elements in rows: b[0] to b[7], then, in GF(2^16), their products by b[8]."""
    element, bits = elements(code), 1 << np.arange(8)
    if width(code) == 8:
        return element[bits]
    return np.concatenate([element[bits], multiply(code, element[256], element[bits])])


@cache
def coordinates(code: str) -> Any:
    """Return the coefficients in that basis of every element."""
    numbers = np.zeros(1, dtype=np.int64)
    for one in basis(code):
        numbers = np.concatenate([numbers, numbers ^ one])
    return np.argsort(numbers)


def bits(code: str, matrix: Any) -> Any:
    """Return a matrix of elements as one of bits: row w i + t has bit t of result i, in the basis of rows."""
    w = width(code)
    images = coordinates(code)[multiply(code, np.asarray(matrix)[:, :, None], basis(code))]
    rows, columns = np.shape(matrix)
    found = images[:, None] >> np.arange(w)[None, :, None, None] & 1
    return found.reshape(rows * w, columns * w).astype(np.uint8)
