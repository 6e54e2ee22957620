"""MDS or not: certificates hold for their matrices and no others, counterexamples are real losses, and every
shape of every family has a certificate or a counterexample.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations
from math import comb

import galois
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gfsmith import codes
from gfsmith.codes import mds
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix, generator_matrix, minors

FIELD = Field(codes.POLYNOMIAL)
SMALL = [(k, m) for k in range(1, 8) for m in range(1, 6)]
CAUCHY = codes.parity_matrix("cauchy", 6, 4)


@cache
def galois_field() -> type[galois.FieldArray]:
    """Return the field of galois, which compiles functions for it."""
    return galois.GF(256, irreducible_poly=codes.POLYNOMIAL)


def rank(matrix: Matrix) -> int:
    return int(np.linalg.matrix_rank(galois_field()(np.array(matrix))))


def any_k_shards_do(matrix: Matrix) -> bool:
    full, k = generator_matrix(matrix), len(matrix[0])
    return all(rank(tuple(full[i] for i in chosen)) == k for chosen in combinations(range(len(full)), k))


def changed(matrix: Matrix, i: int, j: int, element: int) -> Matrix:
    rows = [list(row) for row in matrix]
    rows[i][j] = element
    return tuple(map(tuple, rows))


def test_minors_are_determinants() -> None:
    matrix = tuple(map(tuple, np.random.default_rng(7).integers(0, 256, (4, 6)).tolist()))
    found = list(minors(FIELD, matrix))
    assert len(found) == comb(10, 4) - 1
    for (rows, columns), determinant in found:
        assert determinant == int(np.linalg.det(galois_field()(np.array(matrix)[np.ix_(rows, columns)])))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.sampled_from([2, 4, 256]))
def test_decisions_are_those_of_ranks(data: st.DataObject, k: int, m: int, below: int) -> None:
    """Matrices of arbitrary elements; those with few different elements are often singular."""
    element = st.integers(0, below - 1)
    matrix = tuple(tuple(data.draw(element) for _ in range(k)) for _ in range(m))
    answer = mds.decide(FIELD, matrix)
    assert isinstance(answer, mds.Counterexample) is not any_k_shards_do(matrix)
    if isinstance(answer, mds.Counterexample):
        assert len(answer.lost) == len(set(answer.lost)) == m
        left = [row for i, row in enumerate(generator_matrix(matrix)) if i not in answer.lost]
        assert rank(tuple(left)) < k
    else:
        assert answer.holds(FIELD, matrix)


@pytest.mark.parametrize("code", codes.FAMILIES)
def test_small_shapes_by_ranks(code: str) -> None:
    family = codes.FAMILIES[code]
    for k, m in SMALL:
        if k <= family.code.greatest_k(m) and k + m <= 9:
            matrix, answer = codes.decided(code, k, m)
            assert isinstance(answer, mds.Counterexample) is not any_k_shards_do(matrix), (k, m)


@pytest.mark.parametrize(
    ("certificate", "matrix"),
    [
        (mds.decide(FIELD, CAUCHY), CAUCHY),
        *((codes.decided(*shape)[1], codes.decided(*shape)[0]) for shape in (
            ("raidz", 7, 3), ("vandermonde", 3, 7), ("snapraid", 5, 4), ("vandermonde", 6, 4), ("lch", 1, 3),
        )),
    ],
)  # fmt: skip
def test_no_certificate_holds_for_another_matrix(certificate: mds.Certificate, matrix: Matrix) -> None:
    """Every certificate detects an element changed to 0; those that describe the matrix detect any change."""
    assert certificate.holds(FIELD, matrix)
    for i in range(len(matrix)):
        for j in range(len(matrix[0])):
            assert not certificate.holds(FIELD, changed(matrix, i, j, 0))
            if isinstance(certificate, mds.Cauchy | mds.Conic):
                assert not certificate.holds(FIELD, changed(matrix, i, j, matrix[i][j] ^ 0x41))


def test_points_must_differ() -> None:
    """Certificates with two equal columns are refused although the products agree; so are wrong scalings and
    sizes.
    """
    wide = tuple((*row, row[0]) for row in CAUCHY)
    found = mds.decide(FIELD, CAUCHY)
    assert isinstance(found, mds.Cauchy)
    assert not replace(found, columns=(*found.columns, found.columns[0])).holds(FIELD, wide)
    assert not found.holds(FIELD, wide)
    answer = mds.decide(FIELD, wide)
    assert isinstance(answer, mds.Counterexample) and answer.columns == (0, 6)
    conic = codes.decided("raidz", 4, 3)[1]
    assert isinstance(conic, mds.Conic)
    twice = tuple((*row, row[0]) for row in codes.decided("raidz", 4, 3)[0])
    scaled = replace(conic, points=(*conic.points, conic.points[0]), columns=(*conic.columns, 1))
    assert not scaled.holds(FIELD, twice)


def test_a_family_with_a_wrong_point_is_caught() -> None:
    """SnapRAID's formula repeats a point beyond its 251 disks."""
    family = codes.FAMILIES["snapraid"]
    good = mds.decide(FIELD, family.parity(FIELD, 251, 6))
    assert isinstance(good, mds.Cauchy)
    x = [FIELD.power(2, 255 - j) for j in range(252)]
    assert x[251] == 16  # = y of the last row: no 1 / 0
    bad = replace(good, columns=(*good.columns[:-1], good.columns[0]))
    assert not bad.holds(FIELD, family.parity(FIELD, 251, 6))


@pytest.mark.parametrize(
    "code", sorted(set(codes.FAMILIES) - {"vandermonde", "plank_vandermonde", "cauchy_good"})
)
def test_widest_shapes_have_certificates(code: str) -> None:
    """Some shapes; tests/system/runtime/test_codes.py covers all."""
    family = codes.FAMILIES[code]
    for m in (1, 2, 3, 4, 6, 17, 100, 252, 254):
        k = family.code.greatest_k(m)
        if k:
            assert not isinstance(codes.decided(code, k, m)[1], mds.Counterexample), (k, m)


@pytest.mark.parametrize(("k", "m"), [(253, 2), (252, 3), (60, 4), (4, 60), (2, 253), (1, 254)])
def test_cauchy_good_has_certificates(k: int, m: int) -> None:
    assert codes.decided("cauchy_good", k, m)[1].kind in ("cauchy", "line")  # type: ignore[union-attr]


def test_vandermonde_at_every_shape() -> None:
    """The staircase: corners with certificates, minors one step beyond each; smaller shapes inherit the
    certificates.
    """
    bounds = codes.frontier(codes.FAMILIES["vandermonde"])
    assert list(bounds) == list(range(1, 255))
    assert all(bounds[m] >= bounds[m + 1] for m in range(1, 254))
    whole = codes.FAMILIES["vandermonde"].parity(FIELD, 128, 127)
    for k, m in ((128, 5), (20, 127), (7, 7)):
        corner = tuple(row[:k] for row in whole[:m])
        assert codes.FAMILIES["vandermonde"].parity(FIELD, k, m) == corner
    for m, k in bounds.items():
        if m in (1, 3, 4, 5, 21, 251) or k != bounds.get(m + 1):
            assert not isinstance(codes.decided("vandermonde", k, m)[1], mds.Counterexample), (k, m)
        if k < 255 - m and (m in (4, 5) or bounds[m - 1] > k):
            answer = codes.decided("vandermonde", k + 1, m)[1]
            assert isinstance(answer, mds.Counterexample), (k + 1, m)
            inner = np.array(codes.decided("vandermonde", k + 1, m)[0])[np.ix_(answer.rows, answer.columns)]
            assert int(np.linalg.det(galois_field()(inner))) == 0


def test_undecidable_shapes_are_reported() -> None:
    """A wide matrix without a certificate, and with more minors than can be computed."""
    matrix = codes.FAMILIES["cauchy"].parity(FIELD, 60, 7)
    with pytest.raises(mds.Undecided, match="7 x 60"):
        mds.decide(FIELD, changed(matrix, 6, 59, matrix[6][59] ^ 1))
