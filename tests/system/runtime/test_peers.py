"""The parities equal those of Debian's ISA-L (2.30) and Jerasure (2.0), on the same matrices."""

from __future__ import annotations

import ctypes
import ctypes.util

import numpy as np
import pytest

from tests.support.library import OK, Api, Arena, Bytes, random_matrix

SHAPES = [(1, 1), (4, 2), (10, 4), (17, 3), (48, 4), (20, 12), (100, 20), (200, 55), (254, 1)]
LENGTHS = (64, 1000, 4096)


def load(name: str) -> ctypes.CDLL:
    path = ctypes.util.find_library(name)
    assert path is not None, f"lib{name} is not installed"
    return ctypes.CDLL(path)


@pytest.fixture(scope="module")
def isal() -> ctypes.CDLL:
    return load("isal")


@pytest.fixture(scope="module")
def jerasure() -> ctypes.CDLL:
    return load("Jerasure")


def isal_matrix(isal: ctypes.CDLL, generator: str, k: int, m: int) -> Bytes:
    """Return the parity rows of the matrix that ISA-L generates, by one of its two functions."""
    whole = np.zeros((k + m, k), dtype=np.uint8)
    getattr(isal, generator)(whole.ctypes.data_as(ctypes.c_void_p), k + m, k)
    return whole[k:].copy()


def isal_encode(isal: ctypes.CDLL, matrix: Bytes, data: Bytes) -> Bytes:
    m, k = matrix.shape
    tables = np.zeros(32 * k * m, dtype=np.uint8)
    at = ctypes.c_void_p(tables.ctypes.data)
    isal.ec_init_tables(k, m, ctypes.c_void_p(matrix.ctypes.data), at)
    arena = Arena(np.concatenate([data, np.zeros((m, data.shape[1]), dtype=np.uint8)]))
    parity = arena.pointers(range(k, k + m))
    isal.ec_encode_data(data.shape[1], k, m, at, arena.pointers(range(k)), parity)
    return np.stack([arena.shard(i) for i in range(k, k + m)])


def jerasure_encode(jerasure: ctypes.CDLL, matrix: Bytes, data: Bytes) -> Bytes:
    m, k = matrix.shape
    size = data.shape[1]
    coefficients = matrix.astype(np.intc)
    # Jerasure processes whole words, and all buffers must be equally misaligned modulo 16.
    assert size % 8 == 0
    memory = np.zeros((k + m, (size + 15) // 16 * 2), dtype=np.uint64)
    shards = memory.view(np.uint8)[:, :size]
    shards[:k] = data
    pointers = [ctypes.c_void_p(shards[i].ctypes.data) for i in range(k + m)]
    jerasure.jerasure_matrix_encode(
        *(k, m, 8, ctypes.c_void_p(coefficients.ctypes.data)),
        *((ctypes.c_void_p * k)(*pointers[:k]), (ctypes.c_void_p * m)(*pointers[k:]), size),
    )
    return shards[k:].copy()


def our_encode(api: Api, matrix: Bytes, data: Bytes, code: str | None = None) -> Bytes:
    m, k = matrix.shape
    codec = api.create_matrix(matrix) if code is None else api.create(code, k, m)
    arena = Arena(np.concatenate([data, np.zeros((m, data.shape[1]), dtype=np.uint8)]))
    parity = arena.pointers(range(k, k + m))
    assert codec.encode(data.shape[1], arena.pointers(range(k)), parity) == OK
    return np.stack([arena.shard(i) for i in range(k, k + m)])


def sample(k: int, length: int) -> Bytes:
    return np.random.default_rng(k).integers(0, 256, (k, length), dtype=np.uint8)


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_isal_cauchy(api: Api, isa: str, isal: ctypes.CDLL, k: int, m: int) -> None:
    matrix = isal_matrix(isal, "gf_gen_cauchy1_matrix", k, m)
    for length in LENGTHS:
        data = sample(k, length)
        expected = isal_encode(isal, matrix, data)
        assert np.array_equal(our_encode(api, matrix, data, "cauchy"), expected)


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_isal_vandermonde(api: Api, isa: str, isal: ctypes.CDLL, k: int, m: int) -> None:
    """By name if the shape is safe, else through the matrix."""
    matrix = isal_matrix(isal, "gf_gen_rs_matrix", k, m)
    code = "vandermonde" if m <= 3 or (m == 4 and k <= 21) else None
    for length in LENGTHS:
        data = sample(k, length)
        expected = isal_encode(isal, matrix, data)
        assert np.array_equal(our_encode(api, matrix, data, code), expected)


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_jerasure(api: Api, isa: str, jerasure: ctypes.CDLL, k: int, m: int) -> None:
    matrix = random_matrix(k, m, seed=k + m)
    for length in LENGTHS:
        data = sample(k, length)
        expected = jerasure_encode(jerasure, matrix, data)
        assert np.array_equal(our_encode(api, matrix, data), expected)
