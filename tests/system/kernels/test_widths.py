"""GF(2^4) and GF(2^16) through every kernel with run-time coefficients, against products of words by galois.

The tables are those of kernel/tables.py; sources and outputs are byte planes (field/width.py).
"""

from __future__ import annotations

from typing import Any

import galois
import numpy as np
import pytest

from gfsmith.field.width import WidthField, byte_maps
from gfsmith.kernel.spec import TableFormat
from gfsmith.kernel.tables import map_entry
from tests.support.cpu import missing_flags
from tests.system.kernels.lists import Kernel
from tests.system.kernels.support import Bytes, call_kernel

POLYNOMIALS = (0x13, 0x1100B)
LENGTH = 201
SUMS = {"dot", "mad", "mul"}
FORMATS = {fmt.label: fmt for fmt in TableFormat if fmt not in (TableFormat.NONE, TableFormat.MULB)}


@pytest.fixture(scope="module")
def runtime(kernels: list[Kernel]) -> list[Kernel]:
    """The kernels with tables that this CPU can run and whose pointers are those of the shards,
    other than butterflies, whose tables have entries for half of the shards."""
    found = [
        kernel
        for kernel in kernels
        if kernel.operation in SUMS
        and kernel.tables in FORMATS
        and "_pipe" not in kernel.symbol
        and not missing_flags(kernel.isa)
    ]
    assert {kernel.operation for kernel in found} == SUMS
    return found


def split(words: Any, width: int) -> Bytes:
    """Return the byte planes of shards: two elements in a byte, or low and high bytes of every shard."""
    numbers = np.asarray(words).astype(np.uint16)
    if width == 4:
        return (numbers[:, ::2] | numbers[:, 1::2] << 4).astype(np.uint8)
    return np.stack([numbers & 0xFF, numbers >> 8], axis=1).reshape(-1, numbers.shape[1]).astype(np.uint8)


def case(polynomial: int, inputs: int, outputs: int, seed: int) -> tuple[list[Any], Bytes, Bytes]:
    """Return maps of an outputs x inputs matrix, the planes of its sources and those of the products. With an
    odd number of planes in GF(2^16), the last high plane is left out: of a source it is 0."""
    field = WidthField(polynomial)
    rng = np.random.default_rng(seed)
    k, m = -(-inputs // field.planes), -(-outputs // field.planes)
    matrix = rng.integers(0, 1 << field.width, (m, k))
    words = rng.integers(0, 1 << field.width, (k, LENGTH * (2 if field.width == 4 else 1)))
    words[-1] &= 0xFF if inputs % field.planes else 0xFFFF
    other = galois.GF(2**field.width, irreducible_poly=polynomial)
    products = other(matrix) @ other(words)
    maps = [row[:inputs] for row in byte_maps(field, matrix.tolist())[:outputs]]
    planes = split(words, field.width)[:inputs], split(products, field.width)[:outputs]
    return maps, np.ascontiguousarray(planes[0]), planes[1]


@pytest.mark.parametrize("polynomial", POLYNOMIALS)
def test_sums_of_products(library: Any, runtime: list[Kernel], polynomial: int) -> None:
    """dot and mad, and so encoding: any matrix. mul by elements of GF(2^16) is dot with two planes."""
    for kernel in runtime:
        if kernel.operation == "mul":
            continue
        inputs = kernel.inputs or 5
        maps, sources, expected = case(polynomial, inputs, kernel.outputs, seed=inputs)
        lines = maps if FORMATS[kernel.tables].stands_by_rows else zip(*maps, strict=True)
        table = b"".join(map_entry(FORMATS[kernel.tables], map_) for line in lines for map_ in line)
        address = library.address(kernel.symbol, "sysv")
        result = call_kernel(address, kernel.outputs, inputs, table, sources)
        before = 0xA5 if kernel.operation == "mad" else 0
        assert np.array_equal(result ^ before, expected), kernel.symbol


def test_products_of_nibbles(library: Any, runtime: list[Kernel]) -> None:
    """mul: shard j by its own constant."""
    field, other = WidthField(0x13), galois.GF(16, irreducible_poly=0x13)
    rng = np.random.default_rng(4)
    for kernel in runtime:
        if kernel.operation != "mul":
            continue
        inputs = kernel.inputs or 5
        constants, words = rng.integers(0, 16, inputs), rng.integers(0, 16, (inputs, 2 * LENGTH))
        table = b"".join(map_entry(FORMATS[kernel.tables], field.maps(int(c))[0][0]) for c in constants)
        address = library.address(kernel.symbol, "sysv")
        result = call_kernel(address, inputs, inputs, table, split(words, 4))
        assert np.array_equal(result, split(other(constants)[:, None] * other(words), 4)), kernel.symbol


def test_a_wrong_table_is_detected(library: Any, runtime: list[Kernel]) -> None:
    """The comparison detects a map in place of its neighbour, low and high bytes exchanged."""
    kernel = next(k for k in runtime if (k.operation, k.inputs, k.outputs) == ("dot", 0, 2))
    maps, sources, expected = case(0x1100B, 2, 2, seed=1)
    fmt, address = FORMATS[kernel.tables], library.address(kernel.symbol, "sysv")

    def run(entries: list[Any]) -> Bytes:
        return call_kernel(address, 2, 2, b"".join(map_entry(fmt, map_) for map_ in entries), sources)

    assert np.array_equal(run([maps[0][0], maps[1][0], maps[0][1], maps[1][1]]), expected)
    assert not np.array_equal(run([maps[0][0], maps[0][1], maps[1][0], maps[1][1]]), expected)
