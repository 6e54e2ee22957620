"""Code families and linear algebra compared with galois, and the MDS statements checked exhaustively."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import galois
import numpy as np
import pytest

from gfsmith import codes
from gfsmith.field import Field
from gfsmith.field.matrix import generator_matrix, identity, multiply
from tests.oracle.matrices import SingularError, decode_matrix, invert, singular_minor

FIELD = Field(codes.POLYNOMIAL)


@cache
def _gf() -> type[galois.FieldArray]:
    """Return the field of galois. Its compilation takes seconds, so not every process that imports this
    module makes it."""
    return galois.GF(256, irreducible_poly=codes.POLYNOMIAL)


def test_inverse_is_that_of_galois() -> None:
    rng = np.random.default_rng(5)
    for size in (1, 2, 5, 9):
        matrix = _gf()(rng.integers(0, 256, (size, size)))
        if np.linalg.matrix_rank(matrix) < size:
            continue
        rows = tuple(map(tuple, matrix.tolist()))
        inverse = invert(FIELD, rows)
        assert [list(r) for r in inverse] == np.linalg.inv(matrix).tolist()
        assert multiply(FIELD, rows, inverse) == identity(size)


def test_singular_matrices_are_named() -> None:
    with pytest.raises(SingularError, match="column 1"):
        invert(FIELD, ((1, 2), (2, 4)))


@pytest.mark.parametrize(("name", "k", "m"), [("cauchy", 5, 3), ("vandermonde", 5, 3)])
def test_any_k_shards_give_the_lost_ones_back(name: str, k: int, m: int) -> None:
    parity = codes.parity_matrix(name, k, m)
    data = tuple((x,) for x in (0, 1, 77, 128, 255))
    shards = multiply(FIELD, generator_matrix(parity), data)
    for present in combinations(range(k + m), k):
        lost = [i for i in range(k + m) if i not in present]
        rows = decode_matrix(FIELD, parity, present, lost)
        rebuilt = multiply(FIELD, rows, tuple(shards[i] for i in present))
        assert rebuilt == tuple(shards[i] for i in lost)


def _determinant4(matrix: np.ndarray) -> galois.FieldArray:
    """Return determinants of a stack of 4 x 4 matrices over the field, by expansion."""
    total = _gf().Zeros(matrix.shape[0])
    for a, b in combinations(range(4), 2):
        c, d = (x for x in range(4) if x not in (a, b))
        top = matrix[:, 0, a] * matrix[:, 1, b] + matrix[:, 0, b] * matrix[:, 1, a]
        low = matrix[:, 2, c] * matrix[:, 3, d] + matrix[:, 2, d] * matrix[:, 3, c]
        total = total + top * low
    return total


def _minors4(k: int, m: int) -> bool:
    """Return True if a 4 x 4 minor of the m x k Vandermonde parity matrix is singular."""
    parity = _gf()(np.array(codes.FAMILIES["vandermonde"].parity(FIELD, k, m)))
    columns = np.array(list(combinations(range(k), 4)))
    for rows in combinations(range(m), 4):
        stack = parity[np.array(rows)][:, columns].transpose(1, 0, 2)
        if np.any(_determinant4(stack) == 0):
            return True
    return False


def _small_minor(k: int, m: int) -> bool:
    """Return True if a minor of size 2 or 3 of the parity matrix is singular."""
    parity = codes.FAMILIES["vandermonde"].parity(FIELD, k, m)
    array = _gf()(np.array(parity))
    for rows in combinations(range(m), 2):
        columns = np.array(list(combinations(range(k), 2)))
        top, low = array[rows[0]], array[rows[1]]
        a, b = columns[:, 0], columns[:, 1]
        if np.any(top[a] * low[b] == top[b] * low[a]):
            return True
    for rows in combinations(range(m), 3):
        columns = np.array(list(combinations(range(k), 3)))
        x, y, z = (array[r] for r in rows)
        a, b, c = columns.T
        determinant = (
            x[a] * (y[b] * z[c] + y[c] * z[b])
            + x[b] * (y[a] * z[c] + y[c] * z[a])
            + x[c] * (y[a] * z[b] + y[b] * z[a])
        )
        if np.any(determinant == 0):
            return True
    return False


@pytest.mark.parametrize(("k", "m", "mds"), [(21, 4, True), (22, 4, False), (4, 21, True), (4, 22, False)])
def test_the_boundary_at_four(k: int, m: int, mds: bool) -> None:
    """m = 4 is MDS up to k = 21 and k = 4 up to m = 21; the next shapes are not."""
    assert (k <= codes.frontier(codes.FAMILIES["vandermonde"])[m]) is mds
    assert (not _small_minor(k, m) and not _minors4(k, m)) is mds


def test_cauchy_minors_are_never_zero_in_a_sample() -> None:
    assert singular_minor(FIELD, codes.parity_matrix("cauchy", 7, 4)) is None


@pytest.mark.parametrize(
    ("name", "k", "m", "words"),
    [
        ("cauchi", 4, 2, "allowed: vandermonde, cauchy.* minio = backblaze"),
        ("raid6", 4, 3, "raid6 has no shape 4\\+3; allowed: k >= 1, m = 2, k \\+ m <= 255"),
        ("snapraid", 252, 1, "no shape 252\\+1; allowed: 1 <= k <= 251, 1 <= m <= 6"),
        ("zfs", 4, 4, "raidz has no shape 4\\+4; allowed: k >= 1, 1 <= m <= 3"),
        ("cauchy", 0, 2, "allowed: k >= 1"),
        ("cauchy", 4, 0, "allowed: k >= 1"),
        ("cauchy", 200, 56, "k \\+ m <= 255"),
        (
            *("vandermonde", 22, 4),
            "not MDS: losing shards 0, 10, 21, 24 cannot be repaired; allowed: m <= 3; m = 4, k <= 21; "
            "m = 5, k <= 5; m <= 21, k <= 4; k <= 3$",
        ),
        (
            *("plank_vandermonde", 10, 4),
            "not MDS: losing shards 0, 1, 2, 12 cannot be repaired; allowed: m <= 3; k <= 2$",
        ),
        ("vandermonde", 100, 20, "losing shards .* and all parities but 100, 101, 103 cannot be repaired"),
    ],
)
def test_unknown_codes_and_shapes_are_refused(name: str, k: int, m: int, words: str) -> None:
    with pytest.raises(codes.CodeError, match=words):
        codes.parity_matrix(name, k, m)
