"""Semantics of the instructions: a table with one entry per instruction form (decode.py defines the forms).

An instruction that is not in the table raises Unsupported, and the answer is then never "proved".
Branches and ret are the architecture's. tests/system/cosim/test_aarch64.py compares every entry with qemu.
"""

from __future__ import annotations

from gfsmith.prove.machine.aarch64.semantics import bits, general, memory, moves, scalable, vector
from gfsmith.prove.machine.aarch64.semantics.operands import Semantics

TABLE: dict[str, Semantics] = {
    **general.TABLE,
    **bits.TABLE,
    **memory.TABLE,
    **moves.TABLE,
    **vector.TABLE,
    **scalable.TABLE,
}
