"""Baked kernels against their codes: matrices.inc, the harness's reference, agrees with gfsmith.codes, and
the kernels' results agree with galois.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gfsmith.codes import FAMILIES, frontier, parity_matrix
from gfsmith.field import Field
from gfsmith.field.matrix import bit_matrix
from tests.support.cpu import missing_flags
from tests.support.paths import ROOT
from tests.system.kernels.lists import Kernel, all_kernels_of
from tests.system.kernels.support import POLYNOMIAL, Bytes, call_kernel, galois_field

GENERATED = ROOT / "gen_out"
JUNK_K = 0x5BAD000000000001
SEED = 20240301

Listed = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def baked(kernels: list[Kernel]) -> list[Kernel]:
    """The baked kernels that this machine can run."""
    found = [kernel for kernel in kernels if kernel.matrix is not None]
    assert found, "gen_out/baked.inc is empty"
    return found


@pytest.fixture(scope="module")
def everywhere() -> list[Kernel]:
    """The baked kernels of all architectures."""
    return [kernel for kernel in all_kernels_of(GENERATED) if kernel.matrix is not None]


def code_of(kernel: Kernel, listed: Listed) -> tuple[str, int, slice]:
    """Return the kernel's code, its number of parities, and the rows that the kernel computes."""
    row = listed.get(kernel.symbol)
    assert row is not None, f"gfsmith.toml does not list {kernel.symbol}: run make gen"
    return row["code"], row["parities"], slice(row["first"], row["first"] + row["outputs"])


def test_list_names_the_same_kernels(everywhere: list[Kernel], listed: Listed) -> None:
    generated = {(k.symbol, k.isa, k.inputs, k.outputs) for k in everywhere}
    columns = ("symbol", "isa", "inputs", "outputs")
    expected = {tuple(row[name] for name in columns) for row in listed.values() if row["code"]}
    assert generated == expected, "run make gen"
    assert len(generated) == len(everywhere)


def test_matrices_are_those_of_the_codes(everywhere: list[Kernel], listed: Listed) -> None:
    """matrices.inc has the rows of parity_matrix that `gfsmith list` states for each kernel."""
    for kernel in everywhere:
        code, parities, rows = code_of(kernel, listed)
        assert kernel.matrix is not None
        assert kernel.matrix.polynomial == listed[kernel.symbol]["polynomial"] == POLYNOMIAL
        if listed[kernel.symbol]["packets"]:
            matrix = bit_matrix(Field(POLYNOMIAL), parity_matrix(code, kernel.inputs // 8, parities // 8))
        else:
            matrix = parity_matrix(code, kernel.inputs, parities)
        assert kernel.matrix.rows == matrix[rows], kernel.symbol


# ---- the codes, computed again by galois ----


def vandermonde(field: Any, k: int, m: int) -> Bytes:
    """P[i][j] = (2^i)^j."""
    return np.array([[field(2) ** (i * j) for j in range(k)] for i in range(m)], np.uint8)


def cauchy(field: Any, k: int, m: int) -> Bytes:
    """P[i][j] = 1 / ((k + i) xor j)."""
    return np.asarray(field(1) / field(np.bitwise_xor.outer(np.arange(k, k + m), np.arange(k))))


def backblaze(field: Any, k: int, m: int) -> Bytes:
    """The lower rows of V V[:k]^-1, V[i][j] = i^j, 0^0 = 1."""
    points = field(np.arange(k + m))
    powers = field(np.array([points**j for j in range(k)], np.uint8).T)
    return np.asarray(powers[k:] @ np.linalg.inv(powers[:k]))


def lch(field: Any, k: int, m: int) -> Bytes:
    """P[i][j] = s(x[j]) / c / (x[j] xor i): x[j] = M + j, s(x) the product of x xor v over v < M, c the
    product of the nonzero v. Wider codes also have the points from m to M - 1, which are not scaled.
    """
    size = 1 << (m - 1).bit_length()
    x = np.concatenate([np.arange(size, 256), np.arange(m, size)])[:k]
    scale = np.multiply.reduce(field(np.bitwise_xor.outer(np.arange(size), x)), axis=0)
    scale = scale / np.multiply.reduce(field(np.arange(1, size))) if size > 1 else scale
    scale[x < size] = 1
    return np.asarray(scale / field(np.bitwise_xor.outer(np.arange(m), x)))


def cauchy_orig(field: Any, k: int, m: int) -> Bytes:
    """P[i][j] = 1 / (i xor (m + j))."""
    return np.asarray(field(1) / field(np.bitwise_xor.outer(np.arange(m), np.arange(m, m + k))))


def bits(field: Any, matrix: Bytes) -> Bytes:
    """Return the bit matrix: column x of an element's block holds the bits of the element times 2^x."""
    images = np.asarray(field(matrix)[..., None] * field(1 << np.arange(8)))
    blocks = np.unpackbits(images[..., None].astype(np.uint8), axis=-1, bitorder="little")
    return blocks.transpose(0, 3, 1, 2).reshape(8 * matrix.shape[0], 8 * matrix.shape[1])


def cauchy_good(field: Any, k: int, m: int) -> Bytes:
    """cauchy_orig divided by its first row, each other row divided by the element that leaves the fewest
    ones; for two rows 1 and the lightest elements.
    """
    if m == 2:
        elements = np.arange(1, 256, dtype=np.uint8)
        ones = [int(bits(field, np.array([[e]], np.uint8)).sum()) for e in elements]
        return np.stack([np.ones(k, np.uint8), elements[np.argsort(ones, kind="stable")][:k]])
    matrix = field(cauchy_orig(field, k, m))
    matrix = matrix / matrix[0]
    for i in range(1, m):
        choices = [matrix[i], *(matrix[i] / element for element in matrix[i])]
        matrix[i] = min(choices, key=lambda row: int(bits(field, np.asarray(row)[None, :]).sum()))
    return np.asarray(matrix)


def reed_sol_van(field: Any, k: int, m: int) -> Bytes:
    """The lower rows of V V[:k]^-1, V[i][j] = i^j except for the last row, 0 .. 0 1; columns divided by the
    first row, rows by the first column.
    """
    powers = field(np.array([field(np.arange(k + m)) ** j for j in range(k)], np.uint8).T)
    powers[-1] = [0] * (k - 1) + [1]
    matrix = powers[k:] @ np.linalg.inv(powers[:k])
    matrix = matrix / matrix[0]
    return np.asarray(matrix / matrix[:, :1])


def raid6(field: Any, k: int, m: int) -> Bytes:
    """Rows 1 and 2^j."""
    assert m == 2
    return vandermonde(field, k, 2)


def raidz(field: Any, k: int, m: int) -> Bytes:
    """Horner's rule in 1, 2 and 4: the first column has the highest power."""
    return np.array([[field(2) ** (i * (k - 1 - j)) for j in range(k)] for i in range(m)], np.uint8)


def snapraid(field: Any, k: int, m: int) -> Bytes:
    """Below a row of 1, 1 / (2^-j + y), y = 0, 2, 4, ..., each row divided by its first element."""
    x, y = field(2) ** -np.arange(k), field([0, 2, 4, 8, 16])[: m - 1]
    matrix = field(1) / np.add.outer(y, x)
    return np.vstack([np.ones((1, k), np.uint8), np.asarray(matrix / matrix[:, :1])])


def zfec(field: Any, k: int, m: int) -> Bytes:
    """Values of polynomials at 0, 1, 2, 4, ...: the rows below the first k, times the inverse of these."""
    points = field([0, *(int(field(2) ** i) for i in range(k + m - 1))])
    whole = np.vstack([points[:, None] ** i for i in range(k)]).reshape(k, k + m).T
    return np.asarray(whole[k:] @ np.linalg.inv(whole[:k]))


def plank_vandermonde(field: Any, k: int, m: int) -> Bytes:
    """Row i has the powers i of the elements 1 .. k."""
    return np.array([[field(j) ** i for j in range(1, k + 1)] for i in range(m)], np.uint8)


BY_GALOIS = {
    "vandermonde": vandermonde,
    "cauchy": cauchy,
    "backblaze": backblaze,
    "lch": lch,
    "cauchy_orig": cauchy_orig,
    "cauchy_good": cauchy_good,
    "reed_sol_van": reed_sol_van,
    "reed_sol_r6_op": raid6,
    "hdfs": cauchy,
    "raid6": raid6,
    "raidz": raidz,
    "snapraid": snapraid,
    "zfec": zfec,
    "plank_vandermonde": plank_vandermonde,
}
#: Codes of the library for which the default set has no kernels under their names.
NOT_BAKED = {
    *("cauchy_orig", "reed_sol_van", "reed_sol_r6_op", "hdfs", "raid6", "raidz", "snapraid", "zfec"),
    "plank_vandermonde",
}


@pytest.mark.parametrize("code", BY_GALOIS)
def test_matrices_agree_with_galois(code: str) -> None:
    """The test includes codes for which the default set has no kernels."""
    field = galois_field()
    for k in (1, 2, 3, 5, 10, 17, 60):
        for m in (1, 2, 3, 4, 6, 9):
            if k <= frontier(FAMILIES[code]).get(m, 0):
                expected = BY_GALOIS[code](field, k, m)
                assert np.array_equal(np.array(parity_matrix(code, k, m)), expected), (k, m)


def telling_sources(k: int) -> Bytes:
    """Return sources that determine a linear map: each source alone with every value, then all of them
    random.
    """
    alone = np.zeros((k, k, 256), np.uint8)
    alone[np.arange(k), np.arange(k)] = np.arange(256)
    together = np.random.default_rng(SEED).integers(0, 256, (k, 4099), np.uint8)
    return np.hstack([alone.reshape(k, -1), together])


def test_every_code_has_a_reference() -> None:
    assert set(BY_GALOIS) == set(FAMILIES)


@pytest.mark.parametrize("code", BY_GALOIS)
def test_kernels_agree_with_galois(library: Any, baked: list[Kernel], listed: Listed, code: str) -> None:
    """The test runs all kernels of the code that this CPU can execute, with every value of every source."""
    field = galois_field()
    chosen = [kernel for kernel in baked if code_of(kernel, listed)[0] == code]
    assert bool(chosen) == (code not in NOT_BAKED), f"no kernel for {code}"
    for kernel in chosen:
        if missing_flags(kernel.isa):
            continue
        _, parities, rows = code_of(kernel, listed)
        if listed[kernel.symbol]["packets"]:
            matrix = bits(field, BY_GALOIS[code](field, kernel.inputs // 8, parities // 8))[rows]
        else:
            matrix = BY_GALOIS[code](field, kernel.inputs, parities)[rows]
        sources = telling_sources(kernel.inputs)
        address = library.address(kernel.symbol, "sysv")
        result = call_kernel(address, kernel.outputs, JUNK_K, None, sources)
        assert np.array_equal(result, np.asarray(field(matrix) @ field(sources))), kernel.symbol
