"""Reference for gfsmith_algebra.h (the galois package, numpy), and calls through ctypes."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from tests.support.library import Api, Bytes, products

GUARD = 80  #: bytes around every array
Words = NDArray[np.uint64]


class Buffer:
    """Bytes at their own misalignment, between guard bytes."""

    def __init__(self, content: Bytes, shift: int) -> None:
        self.memory = np.full(content.size + 2 * GUARD, 0xA5, dtype=np.uint8)
        self.start, self.size = GUARD // 2 + shift, content.size
        self.bytes[:] = content.reshape(-1)

    @property
    def bytes(self) -> Bytes:
        return self.memory[self.start : self.start + self.size]

    @property
    def pointer(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.memory.ctypes.data + self.start)

    def guarded(self) -> bool:
        before, after = self.memory[: self.start], self.memory[self.start + self.size :]
        return bool((before == 0xA5).all() and (after == 0xA5).all())


def call(api: Api, name: str, numbers: tuple[int, ...], *arrays: object) -> int:
    """Call gfsmith_<name>: unsigned numbers first, the last of them a size, then pointers."""
    *small, size = numbers
    values = [*map(ctypes.c_uint, small), ctypes.c_size_t(size), *arrays]
    return int(getattr(api.lib, f"gfsmith_{name}")(*values))


def binary(api: Api, name: str, numbers: tuple[int, ...], a: Bytes, b: Bytes, *more: object) -> Bytes:
    """Return the result of a call on misaligned copies of a and b, after checking that in place, in a and in
    b, it is the same.
    """
    results = []
    for place in ("apart", "a", "b"):
        left, right = Buffer(a, 3), Buffer(b, 7)
        out = {"apart": Buffer(np.zeros_like(a), 5), "a": left, "b": right}[place]
        assert call(api, name, numbers, left.pointer, right.pointer, *more, out.pointer) == 0
        assert left.guarded() and right.guarded() and out.guarded()
        assert place == "a" or np.array_equal(left.bytes, a.reshape(-1))
        assert place == "b" or np.array_equal(right.bytes, b.reshape(-1))
        results.append(out.bytes.copy())
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])
    return results[0].reshape(a.shape)


def polynomial_products(polynomial: int, a: Bytes, b: Bytes, modulus: Bytes) -> Bytes:
    """Return A B mod P row by row: the whole product, then division by P from the highest coefficient."""
    table, degree = products(polynomial), modulus.size
    whole = np.zeros((len(a), 2 * degree), dtype=np.uint8)
    for i in range(degree):
        whole[:, i : i + degree] ^= table[a[:, i, None], b]
    for i in reversed(range(degree)):
        whole[:, i : i + degree] ^= table[whole[:, degree + i, None], modulus[None, :]]
    return whole[:, :degree]


def bits(matrices: Bytes, size: int) -> NDArray[np.uint8]:
    """Return n x size x size bits of matrices whose rows are bytes, the lowest bit and byte first."""
    return np.unpackbits(matrices.reshape(-1, size, size // 8), axis=-1, bitorder="little")


def matrix_products(a: Bytes, b: Bytes, size: int) -> Bytes:
    """Return A B over GF(2) for rows given as bytes."""
    product = bits(a, size).astype(np.int64) @ bits(b, size).astype(np.int64) & 1
    return np.packbits(product.astype(np.uint8), axis=-1, bitorder="little").reshape(a.shape)
