"""The oracle against galois, and the kernels against Debian's ISA-L and Jerasure.

The harness compares kernels with the sympy model. This file compares the model with the galois package,
and the dot kernels with two libraries whose format existing files use; all with polynomial 0x11d.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from gfsmith.field import Field
from tests.support.levels import sample
from tests.system.kernels.support import Bytes, call_kernel, galois_field, pointers

LENGTHS = (1, 16, 63, 64, 100, 1000, 4097)
ANY_K = (1, 4, 10, 37)
SEED = 20240229

#: (outputs x k coefficients, k sources of one length) -> outputs of that length
Encode = Callable[[Bytes, Bytes], Bytes]


def load(name: str, package: str) -> ctypes.CDLL:
    path = ctypes.util.find_library(name)
    if path is None:
        pytest.fail(f"lib{name} is missing: apt-get install {package}")
    return ctypes.CDLL(path)


def isal_encode(matrix: Bytes, sources: Bytes) -> Bytes:
    """ISA-L: ec_init_tables, then ec_encode_data (erasure_code.h)."""
    isal = load("isal", "libisal-dev")
    outputs, k = matrix.shape
    length = sources.shape[1]
    tables = np.zeros(32 * k * outputs, np.uint8)
    result = np.zeros((outputs, length), np.uint8)
    isal.ec_init_tables(k, outputs, ctypes.c_void_p(matrix.ctypes.data), ctypes.c_void_p(tables.ctypes.data))
    isal.ec_encode_data(
        length,
        k,
        outputs,
        ctypes.c_void_p(tables.ctypes.data),
        pointers(sources),
        pointers(result),
    )
    return result


def aligned(rows: int, length: int) -> Bytes:
    """Return zeroed, cache-line-aligned rows of whole cache lines, as gf-complete requires."""
    stride = -(-length // 64) * 64
    memory = np.zeros(rows * stride + 63, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + rows * stride].reshape(rows, stride)


def jerasure_encode(matrix: Bytes, sources: Bytes) -> Bytes:
    """Jerasure on gf-complete: jerasure_matrix_encode, w = 8."""
    jerasure = load("Jerasure", "libjerasure-dev")
    outputs, k = matrix.shape
    length = sources.shape[1]
    padded, result = aligned(k, length), aligned(outputs, length)
    padded[:, :length] = sources
    numbers = np.ascontiguousarray(matrix, np.int32)
    jerasure.jerasure_matrix_encode(
        k,
        outputs,
        8,
        ctypes.c_void_p(numbers.ctypes.data),
        pointers(padded),
        pointers(result),
        padded.shape[1],
    )
    return result[:, :length]


@lru_cache(maxsize=3 * 256)
def entry(tables: str, c: int) -> bytes:
    """Return the table entry of one coefficient; docs/contract.md has the formats."""
    field = galois_field()
    times = [int(x) for x in field(c) * field(np.arange(256, dtype=np.uint8))]
    match tables:
        case "nibble":
            return bytes(times[:16] + times[::16])
        case "bitplane":
            return bytes(times[1 << b] for b in range(8))
        case "affine":
            rows = [sum((times[1 << b] >> i & 1) << b for b in range(8)) for i in range(8)]
            return bytes(reversed(rows))
        case "isal":
            return entry("affine", c) * 4
    raise AssertionError(f"unknown table format {tables}")


def run_kernel(library: Any, kernel: Any, matrix: Bytes, sources: Bytes) -> Bytes:
    """Call a System V kernel directly."""
    outputs, k = matrix.shape
    entries = {int(c): entry(kernel.tables, int(c)) for c in np.unique(matrix)}
    order = matrix if kernel.tables == "isal" else matrix.T
    table = b"".join(entries[int(c)] for c in order.flat)
    return call_kernel(library.address(kernel.symbol, "sysv"), outputs, k, table, sources)


def dot_kernels(kernels: Sequence[Any], isa: str) -> list[Any]:
    formats = ("nibble", "affine", "isal", "bitplane")
    return [k for k in kernels if (k.isa, k.operation) == (isa, "dot") and k.tables in formats]


@pytest.mark.campaign
@pytest.mark.parametrize("encode", sample([isal_encode, jerasure_encode], isal_encode))
def test_dot_kernels_agree_with_a_library(
    library: Any, kernels: list[Any], require_isa: Any, isa: str, encode: Encode
) -> None:
    require_isa(isa)
    chosen = dot_kernels(kernels, isa)
    assert chosen, f"no dot kernels for {isa}"
    random = np.random.default_rng(SEED)
    for kernel in chosen:
        for k in [kernel.inputs] if kernel.inputs else ANY_K:
            matrix = random.integers(0, 256, (kernel.outputs, k), np.uint8)
            matrix[0, 0] = 1
            data = random.integers(0, 256, (k, LENGTHS[-1]), np.uint8)
            for length in LENGTHS:
                sources = np.ascontiguousarray(data[:, :length])
                result = run_kernel(library, kernel, matrix, sources)
                expected = encode(matrix, sources)
                assert np.array_equal(result, expected), (kernel.symbol, k, length)


@pytest.mark.parametrize("encode", [isal_encode, jerasure_encode])
def test_libraries_agree_with_galois(encode: Encode) -> None:
    """The test calls the libraries correctly, and they multiply modulo 0x11d."""
    random = np.random.default_rng(SEED)
    matrix = random.integers(0, 256, (3, 5), np.uint8)
    sources = random.integers(0, 256, (5, 77), np.uint8)
    field = galois_field()
    assert np.array_equal(encode(matrix, sources), np.asarray(field(matrix) @ field(sources)))


@pytest.mark.parametrize("polynomial", [0x11D, 0x11B])
def test_oracle_agrees_with_galois(multiplication: Callable[[int], bytes], polynomial: int) -> None:
    """All 65536 products of the harness's table agree."""
    table = np.frombuffer(multiplication(polynomial), np.uint8).reshape(256, 256)
    elements = galois_field(polynomial)(np.arange(256, dtype=np.uint8))
    assert np.array_equal(table, np.asarray(np.multiply.outer(elements, elements)))
    assert Field(polynomial).multiply(2, 0x80) == polynomial & 0xFF
