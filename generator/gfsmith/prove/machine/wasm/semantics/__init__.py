"""Semantics of the instructions: a table with one entry per mnemonic.

A function with another instruction is unsupported. Branches are the architecture's.
tests/system/cosim/test_wasm.py compares every entry with Node.
"""

from __future__ import annotations

from gfsmith.prove.machine.wasm.semantics import memory, numbers, vector
from gfsmith.prove.machine.wasm.semantics.operands import COPY, Entry

__all__ = ["COPY", "TABLE", "Entry"]

TABLE: dict[str, Entry] = {**numbers.TABLE, **memory.TABLE, **vector.TABLE}
