"""The values of settings that a configuration leaves at "auto"."""

from __future__ import annotations

from gfsmith.ir import Op
from gfsmith.kernel.isa import Encoding, Isa
from gfsmith.kernel.operation import Operation
from gfsmith.kernel.tuning_parameters import Order, Store, fits

PASS_MAX = 8  #: GFS_PASS_MAX of map.h: most outputs of one pass with tables


def default_unroll(isa: Isa, outputs: int) -> int:
    """Return the vectors per iteration such that unroll * outputs accumulators hide latency.

    Half of the registers remain for other values where a product is one lookup, or where vectors share the
    loads of tables; elsewhere three quarters."""
    if isa.registers is None:
        return 1
    accumulators = isa.registers // (2 if Op.LOOKUP2 in isa.ops or _shares_tables(isa) else 4)
    unroll = 1
    while unroll * 2 * outputs <= accumulators and fits(isa, unroll * 2, outputs) and unroll < 4:
        unroll *= 2
    return unroll


def _shares_tables(isa: Isa) -> bool:
    """Return whether loads of tables limit a kernel that takes one vector an iteration: 16 registers hold few
    tables, and a product reads two. Two vectors were 1.1 to 1.3 times as fast on Zen 3."""
    return isa.encoding is Encoding.VEX and Op.AFFINE not in isa.ops


def default_order(
    isa: Isa, operation: Operation, outputs: int, unroll: int, baked: bool, store: Store
) -> Order:
    """Return the order of the vectors of an iteration.

    STEPS if the set has 32 registers and a product is one instruction (up to 1.2 times as fast on Zen 4,
    docs/tuning.md), or if the vectors share tables (up to 1.1 times as fast on Zen 3), except for streaming
    stores. Of baked kernels only those that share tables (up to 1.2 times as fast on Zen 4)."""
    able = isa.encoding is Encoding.EVEX and Op.AFFINE in isa.ops
    if _shares_tables(isa) and operation in (Operation.DOT, Operation.MAD, Operation.MUL):
        able = unroll * (outputs + 2) + 3 <= (isa.registers or 0)  # the nibbles of all vectors live at once
    if baked:
        able = _shares_tables(isa)
    steps = able and unroll > 1 and store is Store.TEMPORAL
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

    Two vectors hide latency where few outputs give few dependency chains, and that of the frame where sets
    with 16 registers keep values of five to eight outputs there (up to 1.2 times as fast on Zen 4; nothing
    gained at four). Where instructions overwrite an operand no registers remain for the copies that a second
    vector needs."""
    frame = _shares_tables(isa) and 4 < outputs <= 8
    return 2 if (outputs <= 2 or frame) and isa.encoding is not Encoding.LEGACY else 1
