"""How a kernel goes about what it computes: the settings that change its speed and not its result."""

from __future__ import annotations

from enum import Enum


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
