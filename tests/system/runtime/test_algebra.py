"""gfsmith_algebra.h on every instruction set of this CPU against galois and numpy."""

from __future__ import annotations

import ctypes
from itertools import pairwise

import numpy as np
import pytest

from tests.support.library import EINVAL, OK, Api, inverses, products
from tests.system.runtime.algebra import Buffer, binary, call, matrix_products, polynomial_products

POLYNOMIALS = (0x11B, 0x11D, 0x12B, 0x1F5)
LENGTHS = (*range(130), 191, 192, 193, 1000, 4099)
COUNTS = (0, 1, 2, 3, 5, 7, 8, 9, 16, 33)


def test_all_products(api: Api, isa: str) -> None:
    values = np.arange(256, dtype=np.uint8)
    a, b = (array.reshape(-1) for array in np.meshgrid(values, values, indexing="ij"))
    for polynomial in POLYNOMIALS:
        want = products(polynomial).reshape(-1)
        assert np.array_equal(binary(api, "multiply", (polynomial, a.size), a, b), want)


def test_all_inverses(api: Api, isa: str) -> None:
    values = np.arange(256, dtype=np.uint8)
    for polynomial in POLYNOMIALS:
        buffer = Buffer(values, 11)
        assert call(api, "invert", (polynomial, 256), buffer.pointer, buffer.pointer) == OK
        want = np.where(values == 0, 0, inverses(polynomial))
        assert np.array_equal(buffer.bytes, want) and buffer.guarded()


def test_lengths(api: Api, isa: str) -> None:
    rng = np.random.default_rng(1)
    for length in LENGTHS:
        a, b = rng.integers(0, 256, (2, length), dtype=np.uint8)
        for polynomial in POLYNOMIALS[:2]:
            want = products(polynomial)[a, b]
            assert np.array_equal(binary(api, "multiply", (polynomial, length), a, b), want)
            source, out = Buffer(a, 9), Buffer(np.zeros_like(a), 2)
            assert call(api, "invert", (polynomial, length), source.pointer, out.pointer) == OK
            assert np.array_equal(out.bytes, np.where(a == 0, 0, inverses(polynomial)[a])) and out.guarded()


@pytest.mark.parametrize("degree", [8, 16, 32])
def test_polynomials(api: Api, isa: str, degree: int) -> None:
    rng = np.random.default_rng(degree)
    for polynomial in POLYNOMIALS:
        for count in COUNTS:
            a, b = rng.integers(0, 256, (2, count, degree), dtype=np.uint8)
            modulus = rng.integers(0, 256, degree, dtype=np.uint8)
            pointer = ctypes.c_void_p(modulus.ctypes.data)
            got = binary(api, "multiply_polynomials", (polynomial, degree, count), a, b, pointer)
            assert np.array_equal(got, polynomial_products(polynomial, a, b, modulus))


def test_the_ring_modulo_an_irreducible_polynomial_is_a_field(api: Api, isa: str) -> None:
    """y^8 + y^4 + y^3 + y + 1 has coefficients in GF(2), so the powers of A = y are those of 2 in GF(2^8)."""
    modulus = np.array([1, 1, 0, 1, 1, 0, 0, 0], dtype=np.uint8)
    y = np.eye(8, dtype=np.uint8)[1][None, :]
    power, powers = y, [y]
    for _ in range(60):
        pointer = ctypes.c_void_p(modulus.ctypes.data)
        power = binary(api, "multiply_polynomials", (0x11D, 8, 1), power, y, pointer)
        powers.append(power)
    numbers = [int(np.packbits(p, bitorder="little")[0]) for p in powers]
    assert all(products(0x11B)[a, 2] == b for a, b in pairwise(numbers))


def test_matrices(api: Api, isa: str) -> None:
    rng = np.random.default_rng(2)
    for count in COUNTS:
        for size, name in ((8, "multiply_matrices8"), (64, "multiply_matrices64")):
            a, b = rng.integers(0, 256, (2, count, size * size // 8), dtype=np.uint8)
            assert np.array_equal(binary(api, name, (count,), a, b), matrix_products(a, b, size))
            identity = np.packbits(np.eye(size, dtype=np.uint8), bitorder="little")
            ones = np.broadcast_to(identity, a.shape).copy()
            assert np.array_equal(binary(api, name, (count,), a, ones), a)
            assert np.array_equal(binary(api, name, (count,), ones, b), b)


def test_arguments(api: Api, isa: str) -> None:
    """A call that fails writes nothing, and a call of size 0 reads nothing."""
    null, buffer = ctypes.c_void_p(), Buffer(np.arange(64, dtype=np.uint8), 1)
    at = buffer.pointer
    for polynomial in (0, 0x1D, 0x11A, 0x101, 0x211, 0x12, 1 << 31):
        assert call(api, "multiply", (polynomial, 8), at, at, at) == EINVAL
        assert call(api, "invert", (polynomial, 8), at, at) == EINVAL
        assert call(api, "multiply_polynomials", (polynomial, 8, 1), at, at, at, at) == EINVAL
        assert call(api, "multiply", (polynomial, 0), null, null, null) == EINVAL
    for degree in (0, 1, 7, 9, 24, 64):
        assert call(api, "multiply_polynomials", (0x11D, degree, 1), at, at, at, at) == EINVAL
    most = ctypes.c_size_t(-1).value
    assert call(api, "multiply_polynomials", (0x11D, 8, most // 8 + 1), at, at, at, at) == EINVAL
    assert call(api, "multiply_matrices8", (most // 8 + 1,), at, at, at) == EINVAL
    assert call(api, "multiply_matrices64", (most // 512 + 1,), at, at, at) == EINVAL
    for name, numbers, count in (
        ("multiply", (0x11D,), 3),
        ("invert", (0x11D,), 2),
        ("multiply_polynomials", (0x11D, 8), 4),
        ("multiply_matrices8", (), 3),
        ("multiply_matrices64", (), 3),
    ):
        assert call(api, name, (*numbers, 0), *[null] * count) == OK
        for missing in range(count):
            arrays = [null if n == missing else at for n in range(count)]
            assert call(api, name, (*numbers, 1), *arrays) == EINVAL
    assert np.array_equal(buffer.bytes, np.arange(64)) and buffer.guarded()
