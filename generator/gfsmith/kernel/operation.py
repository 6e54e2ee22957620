"""Operations of kernels, and known matrices."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MAX_SHARDS = 255  #: data and parity shards of a codec together


class Operation(Enum):
    """With j over sources and i over outputs, in GF(2^8), for every byte position:

    DOT  dst[i]  = sum_j c[i][j] * src[j]
    MAD  dst[i] ^= sum_j c[i][j] * src[j]
    MUL  dst[j]  = c[j] * src[j]
    XOR  dst[0]  = sum_j src[j]
    HORNER  dst[i] = sum_j (2^i)^j * src[j]: P, Q and R of RAID, by Horner's rule

    Butterflies of the additive FFT and its inverse have two, four or 16 elements of p byte planes each. The
    sources and the outputs are the planes of the first element, then those of the next ones. C, D and E are
    p x p matrices of maps of bytes; the columns of the table are those of C, then of D, then of E:

    FFT    of x, y: x += C y, then y += x
    IFFT   of x, y: y += x, then x += C y
    FFT4   of w, x, y, z: FFT of w, y and of x, z with C; then of w, x with D and of y, z with E
    IFFT4  of w, x, y, z: IFFT of w, x with D and of y, z with E; then of w, y and of x, z with C
    FFT16  four layers: FFT of elements at the distance 8, then 4, 2, 1. In a layer each block of twice the
           distance has its matrix; the table has that of the first layer, then those of the next ones
    IFFT16 the layers of FFT16 in the opposite order, with IFFT
    REFFT16 IFFT16 with the last 15 matrices of the table, then FFT16 with those before; the first matrix of
           each of its layers is 0, and its entry is not used

    Four operations also change the elements at one end. Two of them, on elements of two planes, change the
    basis: low += B high. B is the first entry of one more column of the table, whose other entry is not used.
    The others multiply each element by a matrix of its own; these are behind those of the layers. Two planes
    are in lines at this end: byte n of a plane is at 64 * (n / 32) + n % 32, and len is a multiple of 32.

    IFFT4LINES  the change of the basis of the sources, then IFFT4
    FFT4LINES   FFT4, then the change of the basis of the outputs
    IFFT4SCALED the products of the sources, then IFFT4
    FFT4SCALED  FFT4, then the products, which are the outputs
    """

    DOT = "dot"
    MAD = "mad"
    MUL = "mul"
    XOR = "xor"
    HORNER = "horner"
    FFT = "fft"
    IFFT = "ifft"
    FFT4 = "fft4"
    IFFT4 = "ifft4"
    FFT16 = "fft16"
    IFFT16 = "ifft16"
    REFFT16 = "refft16"
    FFT4LINES = "fft4lines"
    IFFT4LINES = "ifft4lines"
    FFT4SCALED = "fft4scaled"
    IFFT4SCALED = "ifft4scaled"


#: Butterflies, and the numbers of their elements, of which one less is the number of matrices of a pass.
BUTTERFLIES = {
    Operation.FFT: 2,
    Operation.IFFT: 2,
    Operation.FFT4: 4,
    Operation.IFFT4: 4,
    Operation.FFT16: 16,
    Operation.IFFT16: 16,
    Operation.REFFT16: 16,
    Operation.FFT4LINES: 4,
    Operation.IFFT4LINES: 4,
    Operation.FFT4SCALED: 4,
    Operation.IFFT4SCALED: 4,
}
BUTTERFLY_PLANES = (1, 2)  #: of an element of GF(2^8), of GF(2^16)
#: Butterflies of elements of GF(2^8) only: 32 planes do not fit into registers.
ONE_PLANE = frozenset({Operation.FFT16, Operation.IFFT16, Operation.REFFT16})
INVERSES = frozenset(
    {Operation.IFFT, Operation.IFFT4, Operation.IFFT16, Operation.IFFT4LINES, Operation.IFFT4SCALED}
)
#: An inverse, then an FFT in which the first matrix of each layer is 0.
BOTH = frozenset({Operation.REFFT16})
#: The elements at one end are multiplied by a matrix each; with the others of CHANGED their basis changes.
SCALED = frozenset({Operation.FFT4SCALED, Operation.IFFT4SCALED})

#: The end at which elements change, src or dst; two planes of them are in lines, of which each has so many
#: bytes.
CHANGED = {
    Operation.IFFT4LINES: "src",
    Operation.FFT4LINES: "dst",
    Operation.IFFT4SCALED: "src",
    Operation.FFT4SCALED: "dst",
}
LINE_PART = 32

#: An addition to an element: its number, the number of the element added, and the number of the matrix that
#: multiplies the latter before (None: no product).
Addition = tuple[int, int, int | None]


def _fft(elements: int) -> tuple[Addition, ...]:
    """Return the steps of an FFT, layer after layer: x += matrix y, then y += x."""
    steps: list[Addition] = []
    matrix, distance = 0, elements // 2
    while distance:
        for block in range(0, elements, 2 * distance):
            for x in range(block, block + distance):
                steps += [(x, x + distance, matrix), (x + distance, x, None)]
            matrix += 1
        distance //= 2
    return tuple(steps)


def is_first_of_layer(matrix: int) -> bool:
    """Return True for the matrices 0, 1, 3, 7, ..."""
    return matrix & (matrix + 1) == 0


def _both(elements: int) -> tuple[Addition, ...]:
    """Return the steps of an inverse, then of an FFT in which the first matrix of each layer is 0."""
    fft = _fft(elements)
    inverse = [(x, y, None if matrix is None else matrix + elements - 1) for x, y, matrix in fft[::-1]]
    rest = [(x, y, matrix) for x, y, matrix in fft if matrix is None or not is_first_of_layer(matrix)]
    return (*inverse, *rest)


#: The definition of the butterflies for the proofs: additions, one after the other; each is its own inverse.
#: Changes of the basis, and products of elements, come before those of the inverses, and behind the others.
ADDITIONS: dict[str, tuple[Addition, ...]] = {
    operation.value: _both(elements)
    if operation in BOTH
    else _fft(elements)[:: -1 if operation in INVERSES else 1]
    for operation, elements in BUTTERFLIES.items()
}


@dataclass(frozen=True, slots=True)
class Baked:
    """A known matrix: rows first, first + 1, ... of the m x k parity matrix of a code. Its kernel reads no
    table.

    rows: elements of GF(2^8), one row per output of the kernel. packets: the matrix is the 8 m x 8 k bit
    matrix of the code, and the kernel adds packets instead of multiplying shards; parities and first then
    count rows of the bit matrix.
    """

    code: str
    parities: int
    first: int
    rows: tuple[tuple[int, ...], ...]
    packets: bool = False

    @property
    def label(self) -> str:
        """Name of the code and layout, with the number of rows and the first row unless all rows are
        included."""
        name = f"{self.code}_packets" if self.packets else self.code
        if len(self.rows) == self.parities:
            return name
        return f"{name}m{self.parities}r{self.first}"
