"""GF(2^4), GF(2^8) and GF(2^16) as linear maps of the bytes that hold their elements.

Kernels compute with bytes: each coefficient is a linear map of bytes, an 8 x 8 bit matrix. A product by an
element c of GF(2^w) is such a map of the bytes of a shard:

w = 4   A byte holds two elements, the first in bits 0 to 3 and the second in bits 4 to 7. The matrix has two
        equal 4 x 4 blocks on its diagonal.
w = 8   A byte is an element.
w = 16  An element is a word whose low byte is in one plane and whose high byte is at the same position in
        another. A shard is two planes, low and high, and c is a 2 x 2 matrix of maps between them.

So a k x m matrix over GF(2^16) is a 2k x 2m matrix of maps, and the same kernels serve all three widths.
Source of the split into maps of bytes: J. S. Plank, K. M. Greenan, E. L. Miller, "Screaming fast Galois field
arithmetic using Intel SIMD instructions", FAST 2013 (the alternate mapping of w = 16).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from gfsmith.field.gf256 import DEGREE, BitMatrix, FieldError, apply

WIDTHS = (4, 8, 16)
_ALLOWED = "degree 4, 8 or 16, such as 0x13, 0x11d or 0x1100b"


@dataclass(frozen=True, slots=True)
class WidthField:
    """GF(2)[a] / p with 2^4, 2^8 or 2^16 elements. Raises FieldError unless p is irreducible and of such a
    degree."""

    polynomial: int

    def __post_init__(self) -> None:
        if self.width not in WIDTHS:
            raise FieldError(
                f"polynomial {self.polynomial:#x} has degree {self.width}; allowed: irreducible polynomials "
                f"of {_ALLOWED}"
            )
        if not _irreducible(self.polynomial):
            raise FieldError(
                f"polynomial {self.polynomial:#x} is reducible; allowed: irreducible ones of {_ALLOWED}"
            )

    @property
    def width(self) -> int:
        """Bits of an element."""
        return self.polynomial.bit_length() - 1

    @property
    def planes(self) -> int:
        """Byte planes of a shard."""
        return max(1, self.width // DEGREE)

    def matrix(self, constant: int) -> BitMatrix:
        """Return the w x w matrix over GF(2) of x -> constant * x, as w rows."""
        if not 0 <= constant < 1 << self.width:
            raise FieldError(f"{constant} is not an element of GF(2^{self.width})")
        return _matrix(self.polynomial, constant)

    def multiply(self, left: int, right: int) -> int:
        """Return the product of two elements."""
        return apply(self.matrix(left), right)

    def maps(self, constant: int) -> tuple[tuple[BitMatrix, ...], ...]:
        """Return the maps of bytes: [a][b] maps plane b of x to its part of plane a of constant * x."""
        rows = self.matrix(constant)
        if self.width < DEGREE:
            return (((*rows, *(row << self.width for row in rows)),),)
        places = range(0, self.width, DEGREE)
        return tuple(
            tuple(tuple(row >> column & 0xFF for row in rows[top : top + DEGREE]) for column in places)
            for top in places
        )


@lru_cache(maxsize=32)
def _irreducible(polynomial: int) -> bool:
    """Return whether a polynomial over GF(2) has no factors."""
    import sympy

    digits = [int(digit) for digit in f"{polynomial:b}"]
    return bool(sympy.Poly(digits, sympy.Symbol("a"), modulus=2).is_irreducible)


@lru_cache(maxsize=1 << 12)
def _matrix(polynomial: int, constant: int) -> BitMatrix:
    """Return the rows of the matrix whose column i is constant * a^i modulo p."""
    width = polynomial.bit_length() - 1
    rows, column = [0] * width, constant
    for i in range(width):
        for k in range(width):
            rows[k] |= (column >> k & 1) << i
        column <<= 1
        column ^= polynomial if column >> width else 0
    return tuple(rows)


def byte_maps(field: WidthField, matrix: Sequence[Sequence[int]]) -> list[list[BitMatrix]]:
    """Return an m x k matrix over the field as maps of byte planes, (planes m) x (planes k)."""
    blocks = [[field.maps(element) for element in row] for row in matrix]
    return [[map_ for block in row for map_ in block[a]] for row in blocks for a in range(field.planes)]
