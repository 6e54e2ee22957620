"""Settings that change the speed of a kernel and not its result."""

from __future__ import annotations

from enum import Enum

from gfsmith.ir import Op
from gfsmith.kernel.isa import Isa

LINE = 64  #: bytes of a cache line, the unit of ROWS, shuffled and pipelined kernels


class Store(Enum):
    """Type of stores: TEMPORAL go through the cache, STREAMING around it."""

    TEMPORAL = "temporal"
    STREAMING = "streaming"


class Circuit(Enum):
    """The circuit of a baked kernel: CHEAPEST, the one with the lowest estimate; DENSE, element by element;
    or FACTORED over a subspace of that dimension, if the matrix has the structure. For packets MATCHED and
    DERIVED, the schedules of Zerasure and Cerasure."""

    CHEAPEST = "auto"
    DENSE = "dense"
    FACTORED1 = "factored1"
    FACTORED2 = "factored2"
    FACTORED3 = "factored3"
    FACTORED4 = "factored4"
    FACTORED5 = "factored5"
    MATCHED = "matched"
    DERIVED = "derived"


class Walk(Enum):
    """Traversal order of the sources in an iteration: TOGETHER, all lines of one source, then those of the
    next; or ROWS, one line of every source, then the next line of every source."""

    TOGETHER = "together"
    ROWS = "rows"


class Order(Enum):
    """Order of the unrolled copies in an iteration: SUMS alternates between the copies after each sum (as far
    as registers last), STEPS after each instruction; COPIES computes one copy after the other."""

    SUMS = "sums"
    STEPS = "steps"
    COPIES = "copies"


class Placement(Enum):
    """Place of table entries during a call: as many as fit in REGISTERS, or all of them in MEMORY."""

    REGISTERS = "registers"
    MEMORY = "memory"


class Hint(Enum):
    """The cache level of a prefetch."""

    T0 = "t0"
    T1 = "t1"
    T2 = "t2"
    NTA = "nta"


def shuffled(lines: int) -> tuple[int, ...]:
    """Return the lines of an iteration in an order in which a stream prefetcher detects no direction: from
    the middle outwards, alternately down and up, the first line last. The step to the next iteration also
    reverses the direction of the step before it (DIALGA, 4.2.2)."""
    middle = lines // 2
    outwards = [middle + (n + 1) // 2 * (1 if n % 2 == 0 else -1) for n in range(lines)]
    return tuple(outwards)


def fits(isa: Isa, copies: int, outputs: int) -> bool:
    """Return True if the sums of `copies` vectors leave enough registers for products.

    A product needs the source of each vector (two registers as nibbles; with one output only one source at a
    time), and a table and a product (with nibbles also a mask, and two of each where one instruction adds
    both halves)."""
    if isa.registers is None:
        return True
    parts, others = (1, 2) if Op.AFFINE in isa.ops else (2, 5 if Op.XOR3 in isa.ops else 3)
    return copies * outputs + parts * (copies if outputs > 1 else 1) + others <= isa.registers
