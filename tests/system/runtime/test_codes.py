"""The named codes: their matrices equal those of the libraries they are named after and those of the
generator; shapes that a code lacks and shapes where it is not MDS are refused.
"""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest

from gfsmith import codes
from tests.support.library import (
    EINVAL,
    ENOTMDS,
    OK,
    Api,
    Arena,
    Bytes,
    backblaze,
    cauchy,
    cauchy_good,
    cauchy_orig,
    inverses,
    lch,
    products,
    vandermonde,
)

FAMILIES = {
    "vandermonde": vandermonde,
    "cauchy": cauchy,
    "backblaze": backblaze,
    "lch": lch,
    "cauchy_orig": cauchy_orig,
    "cauchy_good": cauchy_good,
}


def matrix_of(api: Api, code: str, k: int, m: int) -> Bytes:
    """Return the matrix that the codec uses, by encoding the unit vectors."""
    codec = api.create(code, k, m)
    arena = Arena(np.concatenate([np.eye(k, dtype=np.uint8), np.zeros((m, k), dtype=np.uint8)]))
    parity = arena.pointers(range(k, k + m))
    assert codec.encode(k, arena.pointers(range(k)), parity) == OK
    return np.stack([arena.shard(i) for i in range(k, k + m)])


def create_status(api: Api, code: str, k: int, m: int) -> int:
    out = ctypes.c_void_p()
    status = int(api.lib.gfsmith_codec_create(ctypes.byref(out), code.encode(), k, m))
    api.lib.gfsmith_codec_destroy(out)
    assert (out.value is not None) == (status == OK)
    return status


def documented_mds(k: int, m: int) -> bool:
    """Return True for the shapes that ISA-L's erasure_code.h states as MDS."""
    return m <= 3 or k <= 3 or (m == 4 and k <= 21) or (k == 4 and k + m <= 25) or (k == 5 and k + m <= 10)


def determinants(matrices: Bytes) -> Bytes:
    """Return the determinants over GF(2^8) modulo 0x11d of a stack of n x n matrices, by expansion."""
    table = products()
    size = matrices.shape[1]
    if size == 1:
        return matrices[:, 0, 0]
    total = np.zeros(len(matrices), dtype=np.uint8)
    for column in range(size):
        rest = [c for c in range(size) if c != column]
        minor = determinants(matrices[:, 1:, rest])
        total ^= table[matrices[:, 0, column], minor]
    return total


def has_singular_minor(matrix: Bytes) -> bool:
    """Return True if a square submatrix is singular: exactly then the code is not MDS."""
    m, k = matrix.shape
    for size in range(1, min(k, m) + 1):
        columns = np.array(list(itertools.combinations(range(k), size)))
        for rows in itertools.combinations(range(m), size):
            stack = matrix[np.array(rows)[:, None, None], columns[None, :, :]]
            if (determinants(np.moveaxis(stack, 0, 1)) == 0).any():
                return True
    return False


@pytest.mark.parametrize(
    ("code", "k", "m"),
    [
        ("vandermonde", 10, 4),
        ("vandermonde", 252, 3),
        ("vandermonde", 3, 252),
        ("vandermonde", 254, 1),
        ("vandermonde", 4, 21),
        ("vandermonde", 5, 5),
        ("cauchy", 10, 4),
        ("cauchy", 1, 254),
        ("cauchy", 254, 1),
        ("cauchy", 128, 127),
        ("backblaze", 1, 1),
        ("backblaze", 4, 2),
        ("backblaze", 10, 4),
        ("backblaze", 17, 3),
        ("backblaze", 100, 20),
        ("backblaze", 254, 1),
        ("backblaze", 1, 254),
        ("backblaze", 128, 127),
        ("lch", 1, 1),
        ("lch", 10, 4),
        ("lch", 17, 3),
        ("lch", 100, 20),
        ("lch", 254, 1),
        ("lch", 250, 5),
        ("lch", 1, 254),
        ("lch", 128, 127),
        ("cauchy_orig", 10, 4),
        ("cauchy_orig", 254, 1),
        ("cauchy_orig", 1, 254),
        ("cauchy_good", 1, 1),
        ("cauchy_good", 4, 2),
        ("cauchy_good", 253, 2),
        ("cauchy_good", 10, 4),
        ("cauchy_good", 254, 1),
        ("cauchy_good", 1, 254),
        ("cauchy_good", 100, 20),
    ],
)
def test_matrix(api: Api, code: str, k: int, m: int) -> None:
    assert np.array_equal(matrix_of(api, code, k, m), FAMILIES[code](k, m))


def test_vandermonde_is_refused_exactly_outside_the_documented_shapes(api: Api) -> None:
    for k in range(1, 255):
        for m in (*range(1, 30), 100, 255 - k):
            if 1 <= m <= 255 - k:
                expected = OK if documented_mds(k, m) else ENOTMDS
                assert create_status(api, "vandermonde", k, m) == expected, (k, m)


SOME = [*((k, m) for k in (1, 2, 3, 4, 5, 10, 23, 100) for m in (1, 2, 3, 4, 5, 6, 7, 20))]
WIDE = [(254, 1), (253, 2), (252, 3), (251, 4), (249, 6), (1, 254), (64, 191)]


@pytest.mark.parametrize("code", [*codes.FAMILIES, *codes.ALIASES])
def test_library_and_generator_agree(api: Api, code: str) -> None:
    """They agree on the matrix, on the existing shapes, and on those that are not MDS, for every name."""
    family = codes.find(code)
    for k, m in (*SOME, *WIDE):
        if k > family.code.greatest_k(m):
            assert create_status(api, code, k, m) == EINVAL, (k, m)
        elif k > codes.frontier(family)[m]:
            assert create_status(api, code, k, m) == ENOTMDS, (k, m)
        else:
            ours = matrix_of(api, code, k, m)
            assert np.array_equal(ours, np.array(codes.parity_matrix(code, k, m))), (k, m)


@pytest.mark.parametrize("code", codes.FAMILIES)
def test_the_limits_are_the_generators(api: Api, code: str) -> None:
    """The limits agree at the greatest k of every m, and one beyond."""
    family = codes.FAMILIES[code]
    for m in range(256):
        widest = family.code.greatest_k(m)
        safe = codes.frontier(family).get(m, 0)
        if code != "cauchy_good":  # its rows are weighed element by element
            for k in {widest, safe} - {0}:
                assert create_status(api, code, k, m) == (OK if k <= safe else ENOTMDS), (k, m)
        if safe < widest:
            assert create_status(api, code, safe + 1, m) == ENOTMDS, (safe + 1, m)
        assert create_status(api, code, widest + 1, m) == EINVAL, (widest + 1, m)


def is_cauchy(matrix: Bytes) -> bool:
    """Return True if 1/P = A B with A of two columns and B of two rows, no two rows of A and no two columns
    of B being multiples of each other; then no minor is 0, by Cauchy's determinant.
    """
    table, inverse = products(), inverses()
    if not matrix.all():
        return False
    whole = inverse[matrix]
    (p, s), (q, t) = whole[:2, 0], whole[:2, 1]
    determinant = table[p, t] ^ table[q, s]
    scale = inverse[determinant]
    first = table[scale, table[whole[:, 0], t] ^ table[whole[:, 1], s]]
    second = table[scale, table[whole[:, 1], p] ^ table[whole[:, 0], q]]
    product = table[first[:, None], whole[0]] ^ table[second[:, None], whole[1]]
    columns = set(table[whole[1], inverse[whole[0]]].tolist())
    rows = set(np.where(first, table[second, inverse[first]].astype(int), 256).tolist())
    same = np.array_equal(product, whole)
    return bool(determinant) and same and (len(rows), len(columns)) == matrix.shape


@pytest.mark.parametrize("code", sorted(set(codes.FAMILIES) - {"vandermonde", "plank_vandermonde", "raidz"}))
def test_every_shape_is_mds(api: Api, code: str) -> None:
    """The test covers the widest shape of every m. The matrices of the others are, up to scaling, parts of
    one of them: with the same k, or with the same m for lch, cauchy_orig and cauchy_good.
    """
    family = codes.FAMILIES[code]
    for m in range(family.code.least_m, family.code.most_m + 1):
        matrix = matrix_of(api, code, family.code.greatest_k(m), m)
        assert matrix.all() if 1 in matrix.shape else is_cauchy(matrix), m


def test_cauchy_is_not_found_where_it_is_not(api: Api) -> None:
    matrix = matrix_of(api, "cauchy", 12, 5)
    assert is_cauchy(matrix)
    for i, j in itertools.product(range(5), range(12)):
        other = matrix.copy()
        other[i, j] ^= 0x30
        assert not is_cauchy(other), (i, j)
    assert not is_cauchy(np.hstack([matrix, matrix[:, :1]]))
    assert not is_cauchy(vandermonde(6, 4))


@pytest.mark.parametrize("code", ["", "minio ", "Cauchy", "raid", "raidz4"])
def test_unknown_names_are_refused(api: Api, code: str) -> None:
    assert create_status(api, code, 4, 2) == EINVAL


@pytest.mark.parametrize("code", ["cauchy", "backblaze", "lch"])
def test_the_others_are_never_refused(api: Api, code: str) -> None:
    for k in range(1, 255, 3):
        for m in {1, min(5, 255 - k), 255 - k}:
            assert create_status(api, code, k, m) == OK, (k, m)


@pytest.mark.parametrize(("k", "m"), [(10, 4), (20, 3), (250, 2), (5, 5)])
@pytest.mark.parametrize("code", ["backblaze", "lch"])
def test_the_others_have_no_singular_minor(code: str, k: int, m: int) -> None:
    assert not has_singular_minor(FAMILIES[code](k, m))


def test_points_of_lch_differ() -> None:
    """lch is MDS as a Cauchy matrix with scaled columns if no two of its points are equal, up to the shapes
    that use all points outside V.
    """
    for m in range(1, 255):
        size = 1 << (m - 1).bit_length()
        points = [*range(m), *[*range(size, 256), *range(m, size)][: 255 - m]]
        assert len(set(points)) == 255


def test_plank_vandermonde_is_mds_where_documented() -> None:
    """By all minors: 3+4 is not MDS, 2+253 and the conics of three parities are; 10+4 cannot repair 0, 1, 2
    and 12."""
    table = products()
    rows = [np.ones(252, np.uint8)]
    while len(rows) < 253:
        rows.append(table[rows[-1], np.arange(1, 253)])
    whole = np.stack(rows)
    assert has_singular_minor(whole[:4, :3])
    assert not has_singular_minor(whole[:3, :40]) and not has_singular_minor(whole[:, :2])
    assert determinants(whole[None, [0, 1, 3]][..., :3]) == 0
    assert len(set(whole[1])) == 252  # so the widest three rows are a conic as well


@pytest.mark.parametrize(("k", "m"), [(22, 4), (4, 22), (5, 6), (6, 5), (7, 5)])
def test_just_outside_a_minor_is_singular(k: int, m: int) -> None:
    """The documented bounds are tight: the next shape is not MDS."""
    assert has_singular_minor(vandermonde(k, m))


@pytest.mark.parametrize(("k", "m"), [(21, 4), (4, 21), (5, 5), (40, 3), (3, 40), (252, 2)])
def test_just_inside_no_minor_is_singular(k: int, m: int) -> None:
    assert not has_singular_minor(vandermonde(k, m))


def test_three_parities_are_always_safe() -> None:
    """All minors of the widest shape with m = 3 (and, transposed, k = 3).

    1 x 1 minors are powers of 2. The columns are (1, x, x^2) with distinct x = 2^j, so 3 x 3 minors are
    Vandermonde determinants; of rows {0,1} and {1,2} the 2 x 2 minors are x + y and xy(x + y), of rows
    {0,2} x^2 + y^2 = (x + y)^2. It remains to check that the x are distinct.
    """
    matrix = vandermonde(252, 3)
    assert len(set(matrix[1])) == 252
    assert np.array_equal(matrix[2], products()[matrix[1], matrix[1]])
    assert np.array_equal(vandermonde(3, 252), matrix.T)


def test_inverse_table_of_the_reference() -> None:
    elements = np.arange(1, 256)
    assert (products()[elements, inverses()[1:]] == 1).all()
