"""What a kernel computes: the operations, and matrices that are known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Operation(Enum):
    """With j over sources and i over outputs, in GF(2^8), for every byte position:

    DOT  dst[i]  = sum_j c[i][j] * src[j]
    MAD  dst[i] ^= sum_j c[i][j] * src[j]
    MUL  dst[j]  = c[j] * src[j]
    XOR  dst[0]  = sum_j src[j]
    HORNER  dst[i] = sum_j (2^i)^(k-1-j) * src[j]: P, Q and R of RAID, by Horner's rule
    """

    DOT = "dot"
    MAD = "mad"
    MUL = "mul"
    XOR = "xor"
    HORNER = "horner"


@dataclass(frozen=True, slots=True)
class Baked:
    """A matrix known at generation time: rows first, first + 1, ... of the m x k parity matrix of a code.

    rows: elements of GF(2^8), one row per output of the kernel. Its kernel reads no table.
    packets: the matrix is the 8 m x 8 k bit matrix of the code, whose kernel works on packets instead of
    shards and only adds; parities and first count its rows.
    """

    code: str
    parities: int
    first: int
    rows: tuple[tuple[int, ...], ...]
    packets: bool = False

    @property
    def label(self) -> str:
        """The code and layout, with the number of rows and the first one where it is not all of them."""
        name = f"{self.code}_packets" if self.packets else self.code
        if len(self.rows) == self.parities:
            return name
        return f"{name}m{self.parities}r{self.first}"
