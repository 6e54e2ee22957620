"""Semantics of the instructions: a table with one entry per instruction form (decode.py defines the forms).

An instruction that is not in the table raises Unsupported, and the answer is then never "proved".
Branches are the architecture's. tests/system/cosim/test_riscv.py compares every entry with qemu.
"""

from __future__ import annotations

from gfsmith.prove.machine.riscv.semantics import bits, configuration, general, vector
from gfsmith.prove.machine.riscv.semantics.operands import Semantics

TABLE: dict[str, Semantics] = {**bits.TABLE, **configuration.TABLE, **general.TABLE, **vector.TABLE}
