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
    HORNER  dst[i] = sum_j (2^i)^(k-1-j) * src[j]: P, Q and R of RAID, by Horner's rule

    Butterflies of the additive FFT and its inverse have two elements x and y of p byte planes each. The
    sources and the outputs are the planes of x, then those of y. With C = (c[a][b]), a p x p matrix of maps
    of bytes:

    FFT   x += C y, then y += x
    IFFT  y += x, then x += C y
    """

    DOT = "dot"
    MAD = "mad"
    MUL = "mul"
    XOR = "xor"
    HORNER = "horner"
    FFT = "fft"
    IFFT = "ifft"


#: Butterflies, and the numbers of their sources: elements of GF(2^8) and of GF(2^16).
BUTTERFLIES = frozenset({Operation.FFT, Operation.IFFT})
BUTTERFLY_INPUTS = (2, 4)


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
