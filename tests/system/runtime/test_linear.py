"""gfsmith_linear: matrices over GF(2^4) and GF(2^16) on every set of this CPU against products of words in
numpy, and mutants."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from tests.support.compiler import Compiler
from tests.support.library import EINVAL, OK, Api, Bytes
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

SOURCES = [ROOT / "runtime/core/src" / name for name in ("linear.c", "tables.c")]
#: Polynomial, k, m, bytes of a plane: one element, several passes, and pieces of a long call.
CASES = (
    (0x13, 1, 1, 1),
    (0x19, 5, 3, 131),
    (0x1F, 3, 20, 70),
    (0x1100B, 1, 1, 200),
    (0x1002D, 4, 2, 67),
    (0x1100B, 3, 6, 33000),
    (0x13, 100, 155, 5),
    (0x1100B, 120, 7, 3),
)


def products(polynomial: int, matrix: Any, words: Any) -> Any:
    """Return matrix times words over GF(2)[x] / polynomial, bit by bit of the elements of the matrix."""
    width = polynomial.bit_length() - 1
    total = np.zeros((len(matrix), words.shape[1]), dtype=np.int64)
    power = words.astype(np.int64)
    for bit in range(width):
        for output, row in enumerate(matrix):
            total[output] ^= np.bitwise_xor.reduce(power[(row >> bit & 1).astype(bool)], axis=0)
        power = power << 1 ^ (power >> width - 1) * polynomial
    return total


def planes_of(words: Any, width: int) -> Bytes:
    """Return two elements in each byte, or the planes of low and high bytes."""
    numbers = np.asarray(words).astype(np.uint16)
    if width == 4:
        return (numbers[:, ::2] | numbers[:, 1::2] << 4).astype(np.uint8)
    return np.stack([numbers & 0xFF, numbers >> 8], axis=1).reshape(-1, numbers.shape[1]).astype(np.uint8)


def addresses(rows: Bytes) -> Any:
    return (ctypes.c_void_p * len(rows))(*(row.ctypes.data for row in rows))


def create(api: Api, polynomial: int, k: int, m: int, matrix: Any) -> tuple[int, ctypes.c_void_p]:
    made = ctypes.c_void_p()
    at = None if matrix is None else ctypes.c_void_p(matrix.ctypes.data)
    numbers = map(ctypes.c_uint, (polynomial, k, m))
    return int(api.lib.gfsmith_linear_create(ctypes.byref(made), *numbers, at)), made


def run(api: Api, name: str, made: ctypes.c_void_p, length: int, src: Any, dst: Any) -> int:
    return int(getattr(api.lib, f"gfsmith_linear_{name}")(made, ctypes.c_size_t(length), src, dst))


def check(api: Api, polynomial: int, k: int, m: int, length: int) -> None:
    """Compare dot, and mad after it, with the products of words; the bytes around results do not change."""
    width = polynomial.bit_length() - 1
    rng = np.random.default_rng(k * length)
    matrix = rng.integers(0, 1 << width, (m, k), dtype=np.uint16)
    words = rng.integers(0, 1 << width, (k, length * (2 if width == 4 else 1)))
    expected = planes_of(products(polynomial, matrix, words), width)
    sources = np.ascontiguousarray(planes_of(words, width))
    padded = np.full((len(expected), length + 2), 0xA5, dtype=np.uint8)
    results = padded[:, 1:-1]
    status, made = create(api, polynomial, k, m, matrix)
    assert status == OK
    matrix[:] = 0  # the object has its own copy
    for name, want in (("dot", expected), ("mad", np.zeros_like(expected)), ("mad", expected)):
        assert run(api, name, made, length, addresses(sources), addresses(results)) == OK
        assert np.array_equal(results, want), (name, hex(polynomial), k, m, length)
    assert (padded[:, [0, -1]] == 0xA5).all()
    api.lib.gfsmith_linear_destroy.restype = None
    api.lib.gfsmith_linear_destroy(made)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_sums_of_products(api: Api, isa: str, case: tuple[int, int, int, int]) -> None:
    check(api, *case)


def test_arguments(api: Api) -> None:
    one = np.ones((1, 1), dtype=np.uint16)
    for polynomial in (0, 1, 0x12, 0x15, 0x11D, 0x1100A, 0x10001, 0x2100B, 1 << 31):
        assert create(api, polynomial, 1, 1, one)[0] == EINVAL, hex(polynomial)
    many = np.ones(255, dtype=np.uint16)
    for polynomial, k, m in ((0x13, 0, 1), (0x13, 1, 0), (0x13, 255, 1), (0x13, 1, 255), (0x1100B, 127, 1)):
        assert create(api, polynomial, k, m, many)[0] == EINVAL, (k, m)
    assert create(api, 0x13, 1, 1, None)[0] == create(api, 0x13, 1, 1, 16 * one)[0] == EINVAL
    status, made = create(api, 0x1100B, 1, 1, 0xFFFF * one)
    assert status == OK
    row = np.zeros((2, 1), dtype=np.uint8)
    good, holed = addresses(row), (ctypes.c_void_p * 2)(row.ctypes.data, None)
    for src, dst in ((holed, good), (good, holed), (None, good), (good, None)):
        assert run(api, "dot", made, 1, src, dst) == EINVAL
        assert run(api, "mad", made, 0, src, dst) == OK
    assert run(api, "dot", ctypes.c_void_p(), 0, good, good) == EINVAL
    api.lib.gfsmith_linear_destroy(made)
    api.lib.gfsmith_linear_destroy(None)


MUTANTS = (
    Mutant("c ^= w->polynomial;", ";"),
    Mutant("bit % w->width", "bit"),
    Mutant("times_power(w, c, within) << (bit - within)", "times_power(w, c, within)"),
    Mutant("image >> i % w->planes * 8", "image"),
    Mutant("j % w->planes * 8 + b", "b"),
    Mutant("(size_t)(i / w->planes) * w->k", "(size_t)i * w->k"),
    Mutant("pass->first + i", "i", within="fill_pass"),
    Mutant("tables += (size_t)c->inputs * length * entry;", ";"),
    Mutant("to + pass->first", "to"),
    Mutant("src[j] + done", "src[j]"),
    Mutant("dst[i] + done", "dst[i]"),
    Mutant("matrix[n] >> w.width != 0", "false"),
    Mutant("m > most - k", "false"),
    Mutant("images[n] ^ column[bit]", "column[bit]"),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_tests_detect_the_error(mutant: Mutant, compiler: Compiler) -> None:
    api = Api(compiler.library_with_error(mutant, SOURCES))
    assert api.set_isa("sse") == OK  # with tables of nibbles
    with pytest.raises(AssertionError):
        for case in CASES:
            check(api, *case)
        test_arguments(api)
