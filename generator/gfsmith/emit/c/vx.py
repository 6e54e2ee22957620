"""Spelling for s390x's vector facility, z13 and later: C vector types, and built-ins that work without the
zvector language extension."""

from __future__ import annotations

from gfsmith.emit.c.spelling import Spelling
from gfsmith.ir import Op

VX = Spelling(
    isa="vx",
    headers=("gfsmith_vx.h",),
    vector="gfs_bytes",
    table="gfs_bytes",
    expressions={
        Op.ZERO: "(gfs_bytes){{0}}",
        Op.CONST: "gfs_splat({immediate})",
        Op.LOAD: "gfs_vx_load({place})",
        Op.STORE: "gfs_vx_store({place}, {0})",
        Op.TABLE: "gfs_vx_load({place})",
        Op.XOR: "{0} ^ {1}",
        Op.AND: "{0} & {1}",
        Op.HIGH_NIBBLE: "{0} >> 4",
        Op.TWICE: "{0} + {0}",
        Op.CHOOSE: "(gfs_bytes)((gfs_signed_bytes){0} >> 7) & {1}",
        Op.LOOKUP: "gfs_lookup({0}, {1})",
        Op.LOOKUP_LOW: "gfs_lookup({0}, {1})",
    },
    plain="GFSMITH_VX_PLAIN",
    partial_load="gfs_vx_load_part({place}, {rest})",
    partial_store="gfs_vx_store_part({place}, {0}, {rest})",
)
