"""Parity matrices of the measured codes, over GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 (0x11d).

The module does not use the generator: the driver compares these matrices with the library's.
"""

from __future__ import annotations

from collections.abc import Sequence

POLYNOMIAL = 0x11D
ORDER = 255  #: of the multiplicative group

Matrix = tuple[tuple[int, ...], ...]


def _tables() -> tuple[list[int], list[int]]:
    """Return exp[n] = 2^n for n < 510, and its inverse; 2 generates the group."""
    exp, log, value = [0] * (2 * ORDER), [0] * 256, 1
    for n in range(ORDER):
        exp[n] = exp[n + ORDER] = value
        log[value] = n
        value <<= 1
        if value > 255:
            value ^= POLYNOMIAL
    return exp, log


_EXP, _LOG = _tables()


def multiply(a: int, b: int) -> int:
    return _EXP[_LOG[a] + _LOG[b]] if a and b else 0


def inverse(a: int) -> int:
    if a == 0:
        raise ZeroDivisionError("0 has no inverse")
    return _EXP[ORDER - _LOG[a]]


def power(a: int, n: int) -> int:
    """Return a^n, with 0^0 = 1."""
    if a == 0:
        return int(n == 0)
    return _EXP[_LOG[a] * n % ORDER]


def product(left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> Matrix:
    columns = list(zip(*right, strict=True))
    return tuple(tuple(_dot(row, column) for column in columns) for row in left)


def _dot(left: Sequence[int], right: Sequence[int]) -> int:
    total = 0
    for a, b in zip(left, right, strict=True):
        total ^= multiply(a, b)
    return total


def invert(matrix: Sequence[Sequence[int]]) -> Matrix:
    """Invert by Gauss-Jordan elimination. Raises ZeroDivisionError if the matrix is singular."""
    size = len(matrix)
    rows = [[*row, *(int(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for c in range(size):
        pivot = next((r for r in range(c, size) if rows[r][c]), c)
        rows[c], rows[pivot] = rows[pivot], rows[c]
        scale = inverse(rows[c][c])
        rows[c] = [multiply(scale, value) for value in rows[c]]
        for r in range(size):
            factor = rows[r][c]
            if r != c and factor:
                rows[r] = [a ^ multiply(factor, b) for a, b in zip(rows[r], rows[c], strict=True)]
    return tuple(tuple(row[size:]) for row in rows)


def vandermonde(k: int, m: int) -> Matrix:
    """ISA-L's gf_gen_rs_matrix: c[i][j] = (2^i)^j."""
    return tuple(tuple(power(power(2, i), j) for j in range(k)) for i in range(m))


def cauchy(k: int, m: int) -> Matrix:
    """ISA-L's gf_gen_cauchy1_matrix: c[i][j] = 1 / ((k + i) ^ j)."""
    return tuple(tuple(inverse((k + i) ^ j) for j in range(k)) for i in range(m))


def backblaze(k: int, m: int) -> Matrix:
    """Backblaze, klauspost, MinIO: V[i][j] = i^j times the inverse of its top k rows."""
    whole = [[power(i, j) for j in range(k)] for i in range(k + m)]
    return product(whole[k:], invert(whole[:k]))


def decode(k: int, m: int) -> Matrix:
    """Return the matrix that rebuilds the first m data shards of the Cauchy code from the other data and all
    parities.

    No library has a name for this matrix: its coefficients are known at run time only.
    """
    rows: list[Sequence[int]] = [[int(i == j) for j in range(k)] for i in range(m, k)]
    return invert([*rows, *cauchy(k, m)])[:m]


def dense(k: int, m: int) -> Matrix:
    """Return powers of 2 other than 1, without structure for a kernel, as the functions of Table I take
    them."""
    return tuple(tuple(power(2, 1 + 7 * i + 3 * j) for j in range(k)) for i in range(m))


def _ones(element: int) -> int:
    """Return the number of ones in the bit matrix of x -> element * x."""
    return sum(multiply(element, 1 << bit).bit_count() for bit in range(8))


def cauchy_good(k: int, m: int) -> Matrix:
    """Return Jerasure's cauchy_good_general_coding_matrix for m > 2: 1 / (i ^ (m + j)) with columns scaled so
    that the first row is 1, and every row divided by its element that leaves the fewest ones."""
    first = [inverse(m + j) for j in range(k)]
    rows = []
    for i in range(m):
        row = [multiply(inverse(i ^ (m + j)), inverse(first[j])) for j in range(k)]
        quotients = [row, *([multiply(e, inverse(d)) for e in row] for d in row)]
        rows.append(tuple(min(quotients, key=lambda q: sum(map(_ones, q)))))
    return tuple(rows)


CODES = {
    "vandermonde": vandermonde,
    "cauchy": cauchy,
    "backblaze": backblaze,
    "decode": decode,
    "dense": dense,
    "cauchy_good": cauchy_good,
}


def hexadecimal(code: str, k: int, m: int) -> str:
    """Return the matrix in the form that the driver reads; "-" for a code that only gfsmith has."""
    if code not in CODES:
        return "-"
    return "".join(f"{value:02x}" for row in CODES[code](k, m) for value in row)
