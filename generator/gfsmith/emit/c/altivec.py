"""Spelling for AltiVec, the vectors of POWER before VSX, in both byte orders (AltiVec Technology Programming
Interface Manual). C vector types, and built-ins that work without a compiler option."""

from __future__ import annotations

from gfsmith.emit.c.spelling import Spelling
from gfsmith.ir import Op

ALTIVEC = Spelling(
    isa="altivec",
    headers=("gfsmith_part.h", "gfsmith_altivec.h"),
    vector="gfs_altivec_bytes",
    table="gfs_altivec_bytes",
    expressions={
        Op.ZERO: "(gfs_altivec_bytes){{0}}",
        Op.CONST: "gfs_altivec_splat({immediate})",
        Op.LOAD: "gfs_altivec_load({place})",
        Op.STORE: "gfs_altivec_store({place}, {0})",
        Op.TABLE: "gfs_altivec_load({place})",
        Op.XOR: "{0} ^ {1}",
        Op.AND: "{0} & {1}",
        Op.HIGH_NIBBLE: "{0} >> 4",
        Op.TWICE: "{0} + {0}",
        Op.CHOOSE: "(gfs_altivec_bytes)((gfs_altivec_signed){0} >> 7) & {1}",
        Op.LOOKUP: "gfs_altivec_lookup({0}, {1})",
        Op.LOOKUP_LOW: "gfs_altivec_lookup({0}, {1})",
    },
    partial_load="gfs_altivec_load_part({place}, {rest})",
    partial_store="gfs_altivec_store_part({place}, {0}, {rest})",
    rolled="GFSMITH_ALTIVEC_ROLLED",
    aligned={
        Op.LOAD: "gfs_altivec_load_aligned({place})",
        Op.STORE: "gfs_altivec_store_aligned({place}, {0})",
        Op.TABLE: "gfs_altivec_load_aligned({place})",
    },
)
