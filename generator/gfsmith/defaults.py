"""What is taken where a configuration says "auto"."""

from __future__ import annotations

from gfsmith.ir import Op
from gfsmith.isa import Encoding, Isa
from gfsmith.schedule import Order, Store


def default_unroll(isa: Isa, outputs: int) -> int:
    """Vectors per turn so that unroll * outputs accumulators hide latency and leave registers free: half of
    them are needed elsewhere, three quarters where a product needs nibbles, a mask and two lookups."""
    if isa.registers is None:
        return 1
    accumulators = isa.registers // (2 if Op.LOOKUP2 in isa.ops else 4)
    unroll = 1
    while unroll * 2 * outputs <= accumulators and unroll < 4:
        unroll *= 2
    return unroll


def default_order(isa: Isa, unroll: int, baked: bool, store: Store) -> Order:
    """How the vectors of a turn are woven. With products of one instruction and 32 registers, step
    by step: up to 1.2 times as fast on Zen 4 (docs/tuning.md), but for stores around the cache."""
    able = isa.encoding is Encoding.EVEX and Op.AFFINE in isa.ops
    steps = able and unroll > 1 and not baked and store is Store.TEMPORAL
    return Order.STEPS if steps else Order.SUMS


def default_outputs(isa: Isa, packets: bool = False) -> int:
    """Parities that one baked kernel computes at most: so many sums, and as many values of a transform,
    have to fit into registers and frame. A parity of packets is eight sums."""
    if packets:
        return 4
    return 32 if isa.registers is not None and isa.registers >= 32 else 8


def default_baked_unroll(isa: Isa, outputs: int) -> int:
    """Vectors per turn: the sums of few outputs are too few chains to hide latency. Where an instruction
    overwrites an operand there are no registers for the copies that a second vector takes."""
    return 2 if outputs <= 2 and isa.encoding is not Encoding.LEGACY else 1
