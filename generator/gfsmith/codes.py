"""Code families: how a name and a shape become an m x k parity matrix, and where it is MDS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gfsmith.field import ORDER, Field
from gfsmith.matrix import Matrix
from gfsmith.spec import MAX_SHARDS

POLYNOMIAL = 0x11D


class CodeError(ValueError):
    """An unknown family or a shape that it does not have."""


@dataclass(frozen=True, slots=True)
class Family:
    """parity(field, k, m) gives the matrix; mds(k, m) whether any k shards determine the data."""

    name: str
    formula: str
    source: str
    mds_when: str
    parity: Callable[[Field, int, int], Matrix]
    mds: Callable[[int, int], bool]


def _vandermonde(field: Field, k: int, m: int) -> Matrix:
    rows = []
    for i in range(m):
        base = field.power(2, i)
        rows.append(tuple(field.power(base, j) for j in range(k)))
    return tuple(rows)


def _vandermonde_is_mds(k: int, m: int) -> bool:
    """The shapes that ISA-L's erasure_code.h names as safe for gf_gen_rs_matrix.

    m <= 3 and k <= 3 follow from Vandermonde determinants of distinct powers of 2; the other three
    are exhaustive checks, and one step beyond each there is a singular minor (tests/unit).
    """
    return m <= 3 or k <= 3 or (m == 4 and k <= 21) or (k == 4 and k + m <= 25) or (k == 5 and k + m <= 10)


def _cauchy(field: Field, k: int, m: int) -> Matrix:
    return tuple(tuple(field.inverse((k + i) ^ j) for j in range(k)) for i in range(m))


def _backblaze(field: Field, k: int, m: int) -> Matrix:
    """V times the inverse of its top: by Lagrange's formula the values at k + i of the polynomials that
    are 1 at j and 0 at the other points below k."""

    def element(i: int, j: int) -> int:
        value = 1
        for other in range(k):
            if other != j:
                quotient = field.multiply((k + i) ^ other, field.inverse(j ^ other))
                value = field.multiply(value, quotient)
        return value

    return tuple(tuple(element(i, j) for j in range(k)) for i in range(m))


def _lch(field: Field, k: int, m: int) -> Matrix:
    """A Cauchy matrix whose columns are scaled so that it factors without further constants."""
    size = 1 << (m - 1).bit_length()
    constant = 1
    for v in range(1, size):
        constant = field.multiply(constant, v)

    def scale(x: int) -> int:
        value = field.inverse(constant)
        for v in range(size):
            value = field.multiply(value, x ^ v)
        return value if x >= size else 1

    points = [*range(size, 256), *range(m, size)][:k]
    scales = [scale(x) for x in points]
    return tuple(
        tuple(field.multiply(s, field.inverse(x ^ i)) for x, s in zip(points, scales, strict=True))
        for i in range(m)
    )


def _cauchy_orig(field: Field, k: int, m: int) -> Matrix:
    return tuple(tuple(field.inverse(i ^ (m + j)) for j in range(k)) for i in range(m))


def ones(field: Field, element: int) -> int:
    """Ones in the bit matrix of x -> element * x: what the element costs in packet layout."""
    return sum(row.bit_count() for row in field.matrix(element))


def _cauchy_good(field: Field, k: int, m: int) -> Matrix:
    """cauchy_orig with columns scaled so that the first row is 1, and every other row divided by that one
    of its elements which leaves it the fewest ones; for m = 2 the second row is the k lightest elements.

    Source: J. S. Plank, L. Xu, "Optimizing Cauchy Reed-Solomon codes for fault-tolerant network storage
    applications", NCA 2006; ties are decided as Jerasure decides them."""
    if m == 2:
        lightest = sorted(range(1, ORDER), key=lambda e: (ones(field, e), e))
        return ((1,) * k, tuple(lightest[:k]))
    original = _cauchy_orig(field, k, m)
    scales = [field.inverse(element) for element in original[0]]
    rows = [[field.multiply(e, s) for e, s in zip(row, scales, strict=True)] for row in original]
    return (tuple(rows[0]), *(_lightest(field, row) for row in rows[1:]))


def _lightest(field: Field, row: list[int]) -> tuple[int, ...]:
    """The row or the first of its quotients by its elements that has the fewest ones."""
    quotients = [row]
    for element in row:
        inverse = field.inverse(element)
        quotients.append([field.multiply(e, inverse) for e in row])
    return tuple(min(quotients, key=lambda quotient: sum(ones(field, e) for e in quotient)))


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "vandermonde",
            "P[i][j] = (2^i)^j",
            "ISA-L gf_gen_rs_matrix",
            "m <= 3; k <= 3; m = 4, k <= 21; k = 4, m <= 21; k = 5, m <= 5",
            _vandermonde,
            _vandermonde_is_mds,
        ),
        Family(
            "cauchy",
            "P[i][j] = 1 / ((k + i) xor j)",
            "ISA-L gf_gen_cauchy1_matrix",
            "always: every minor of a Cauchy matrix is non-zero",
            _cauchy,
            lambda k, m: True,
        ),
        Family(
            "backblaze",
            "rows k.. of V V[:k]^-1, V[i][j] = i^j",
            "Backblaze JavaReedSolomon, klauspost/reedsolomon, MinIO",
            "always: k + m distinct points",
            _backblaze,
            lambda k, m: True,
        ),
        Family(
            "lch",
            "P[i][j] = s(x[j])/c / (x[j] xor i), s(x) = product of x xor v over v < M, x[j] = M + j",
            "the transform of Lin, Chung, Han (FOCS 2014) over M = 2^ceil(log2 m) points",
            "always: a Cauchy matrix with scaled columns",
            _lch,
            lambda k, m: True,
        ),
        Family(
            "cauchy_orig",
            "P[i][j] = 1 / (i xor (m + j))",
            "Jerasure cauchy_original_coding_matrix, w = 8",
            "always: a Cauchy matrix",
            _cauchy_orig,
            lambda k, m: True,
        ),
        Family(
            "cauchy_good",
            "cauchy_orig with rows and columns scaled for few ones; m = 2: 1 and the lightest elements",
            "Jerasure cauchy_good_general_coding_matrix, w = 8",
            "always: a Cauchy matrix with scaled rows and columns, or two rows of distinct quotients",
            _cauchy_good,
            lambda k, m: True,
        ),
    )
}


def parity_matrix(name: str, k: int, m: int) -> Matrix:
    """The m x k parity matrix of a family over 0x11d.

    Raises CodeError for an unknown name, k or m of 0, more than 255 shards, or a shape that is not
    MDS.
    """
    if name not in FAMILIES:
        raise CodeError(f"code '{name}' is unknown; allowed: {', '.join(FAMILIES)}")
    if k < 1 or m < 1 or k + m > MAX_SHARDS:
        raise CodeError(f"shape {k}+{m}; allowed: k >= 1, m >= 1, k + m <= {MAX_SHARDS}")
    family = FAMILIES[name]
    if not family.mds(k, m):
        raise CodeError(f"{name} {k}+{m} is not MDS; it is for: {family.mds_when}")
    return family.parity(Field(POLYNOMIAL), k, m)
