"""The values of settings that a configuration leaves at "auto"."""

from __future__ import annotations

from gfsmith.ir import Op
from gfsmith.kernel.isa import Encoding, Isa
from gfsmith.kernel.tuning_parameters import Order, Store

PASS_MAX = 8  #: GFS_PASS_MAX of map.h: most outputs of one pass with tables


def default_unroll(isa: Isa, outputs: int) -> int:
    """Return the vectors per iteration such that unroll * outputs accumulators hide latency.

    Half of the registers remain for other values, three quarters where a product needs nibbles, a mask and
    two lookups."""
    if isa.registers is None:
        return 1
    accumulators = isa.registers // (2 if Op.LOOKUP2 in isa.ops else 4)
    unroll = 1
    while unroll * 2 * outputs <= accumulators and unroll < 4:
        unroll *= 2
    return unroll


def default_order(isa: Isa, unroll: int, baked: bool, store: Store) -> Order:
    """Return the order of the vectors of an iteration.

    STEPS if the set has 32 registers and a product is one instruction, except for baked kernels and streaming
    stores: up to 1.2 times as fast on Zen 4 (docs/tuning.md)."""
    able = isa.encoding is Encoding.EVEX and Op.AFFINE in isa.ops
    steps = able and unroll > 1 and not baked and store is Store.TEMPORAL
    return Order.STEPS if steps else Order.SUMS


def default_outputs(isa: Isa, packets: bool = False) -> int:
    """Return the greatest number of parities of one baked kernel.

    Registers and frame must hold that many sums and as many values of a transform. A parity of packets is
    eight sums."""
    if packets:
        return 4
    return 32 if isa.registers is not None and isa.registers >= 32 else 8


def default_baked_unroll(isa: Isa, outputs: int) -> int:
    """Return the vectors per iteration of a baked kernel.

    Two vectors hide latency where few outputs give few dependency chains. Where instructions overwrite an
    operand no registers remain for the copies that a second vector needs."""
    return 2 if outputs <= 2 and isa.encoding is not Encoding.LEGACY else 1
