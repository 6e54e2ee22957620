"""How a kernel goes about what it computes: the settings that change its speed and not its result."""

from __future__ import annotations

from enum import Enum

from gfsmith.ir import Op
from gfsmith.isa import Isa

LINE = 64  #: bytes of a cache line, by which kernels walk


class Store(Enum):
    """TEMPORAL stores go through the cache, STREAMING ones around it."""

    TEMPORAL = "temporal"
    STREAMING = "streaming"


class Circuit(Enum):
    """How a baked kernel computes its matrix: the circuit that an estimate finds cheapest, DENSE, element by
    element, or FACTORED over a subspace of that dimension, where the matrix has the structure for it."""

    CHEAPEST = "auto"
    DENSE = "dense"
    FACTORED1 = "factored1"
    FACTORED2 = "factored2"
    FACTORED3 = "factored3"
    FACTORED4 = "factored4"
    FACTORED5 = "factored5"


class Walk(Enum):
    """How a turn goes through the sources: TOGETHER, all lines of one source, then those of the next, or by
    ROWS, one line of every source, then the next line of every source."""

    TOGETHER = "together"
    ROWS = "rows"


class Order(Enum):
    """How the unrolled copies of a turn are woven: one SUM of each in turn (as far as registers last), one
    STEP, that is an instruction, of each in turn, or the COPIES one after the other."""

    SUMS = "sums"
    STEPS = "steps"
    COPIES = "copies"


class Placement(Enum):
    """Table entries for the whole call in REGISTERS, as many as are left over, or all of them in MEMORY."""

    REGISTERS = "registers"
    MEMORY = "memory"


class Hint(Enum):
    """The cache level a prefetch asks for."""

    T0 = "t0"
    T1 = "t1"
    T2 = "t2"
    NTA = "nta"


def shuffled(lines: int) -> tuple[int, ...]:
    """The lines of a turn in an order that a stream prefetcher finds no direction in: from the middle out,
    down and up in turn, the first line last. The step to the next turn, too, goes the other way than the one
    before it (DIALGA, 4.2.2)."""
    middle = lines // 2
    outwards = [middle + (n + 1) // 2 * (1 if n % 2 == 0 else -1) for n in range(lines)]
    return tuple(outwards)


def fits(isa: Isa, copies: int, outputs: int) -> bool:
    """Whether the sums of so many vectors side by side leave the registers that products need: the source of
    each vector, as nibbles two, but one at a time for one output; a table and a product, with nibbles two of
    either and a mask."""
    if isa.registers is None:
        return True
    parts, others = (1, 2) if Op.AFFINE in isa.ops else (2, 5)
    return copies * outputs + parts * (copies if outputs > 1 else 1) + others <= isa.registers
