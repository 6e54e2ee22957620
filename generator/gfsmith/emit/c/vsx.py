"""Spelling for POWER's vector-scalar extension, little endian (Power Vector Intrinsic Programming
Reference)."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.emit.c.spelling import Spelling
from gfsmith.ir import Op

#: POWER8 and later.
VSX = Spelling(
    isa="vsx",
    headers=("gfsmith_part.h", "gfsmith_permxor.h", "gfsmith_vsx.h"),
    vector="gfs_bytes",
    table="gfs_bytes",
    expressions={
        Op.ZERO: "(gfs_bytes){{0}}",
        Op.CONST: "vec_splats((unsigned char){immediate})",
        Op.LOAD: "gfs_vsx_load({place})",
        Op.STORE: "gfs_vsx_store({place}, {0})",
        Op.TABLE: "gfs_load_table({place})",
        Op.XOR: "{0} ^ {1}",
        Op.TWICE: "{0} + {0}",
        Op.CHOOSE: "gfs_choose({0}, {1})",
        Op.LOOKUP2: "gfs_lookup2({0}, {1}, {2})",
    },
    partial_load="gfs_vsx_load_part({place}, {rest})",
    partial_store="gfs_vsx_store_part({place}, {0}, {rest})",
    compilers="defined(__LITTLE_ENDIAN__)",
    rolled="GFSMITH_ROLLED",
)

#: POWER10: loads with a displacement, loads and stores of exact lengths, three-input XOR.
VSX_P10 = replace(
    VSX,
    isa="vsx_p10",
    headers=("gfsmith_permxor.h", "gfsmith_vsx_p10.h"),
    expressions={
        **VSX.expressions,
        Op.LOAD: "gfs_p10_load({place})",
        Op.STORE: "gfs_p10_store({place}, {0})",
        Op.XOR3: "gfs_p10_xor3({0}, {1}, {2})",
    },
    partial_load="gfs_p10_load_part({place}, {rest})",
    partial_store="gfs_p10_store_part({place}, {0}, {rest})",
)
