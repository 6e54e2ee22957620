"""Spelling in portable C11, with eight bytes in a word. Lanes never mix, so byte order does not matter."""

from __future__ import annotations

from gfsmith.emit.c.spelling import Spelling
from gfsmith.ir import Op

SCALAR = Spelling(
    isa="scalar",
    headers=("gfsmith_scalar.h",),
    vector="uint64_t",
    table="uint64_t",
    expressions={
        Op.ZERO: "0",
        Op.CONST: "UINT64_C(0x0101010101010101) * {immediate}",
        Op.LOAD: "load_word({place})",
        Op.STORE: "store_word({place}, {0})",
        Op.COLUMN: "*({place})",
        Op.XOR: "{0} ^ {1}",
        Op.TWICE: "({0} & UINT64_C(0x7f7f7f7f7f7f7f7f)) << 1",
        Op.CHOOSE: "choose_word({0}, {1})",
        Op.BIT: "({0} >> {immediate}) & UINT64_C(0x0101010101010101)",
        Op.SCALE: "{0} * {1}",
    },
    partial_load="load_part({place}, {rest})",
    partial_store="store_part({place}, {0}, {rest})",
)
