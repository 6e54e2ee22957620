"""Spelling for LoongArch's vectors of 16 bytes (LSX) and 32 bytes (LASX)."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.emit.c.spelling import Spelling
from gfsmith.ir import Op

LSX = Spelling(
    isa="lsx",
    headers=("gfsmith_part.h", "gfsmith_lsx.h"),
    vector="__m128i",
    table="__m128i",
    expressions={
        Op.ZERO: "__lsx_vreplgr2vr_b(0)",
        Op.CONST: "__lsx_vreplgr2vr_b({immediate})",
        Op.LOAD: "gfs_lsx_load({place})",
        Op.STORE: "gfs_lsx_store({place}, {0})",
        Op.TABLE: "gfs_lsx_load({place})",
        Op.XOR: "__lsx_vxor_v({0}, {1})",
        Op.AND: "__lsx_vand_v({0}, {1})",
        Op.HIGH_NIBBLE: "__lsx_vsrli_b({0}, 4)",
        Op.TWICE: "__lsx_vslli_b({0}, 1)",
        Op.CHOOSE: "__lsx_vand_v(__lsx_vsrai_b({0}, 7), {1})",
        Op.LOOKUP: "__lsx_vshuf_b({0}, {0}, {1})",
    },
    partial_load="gfs_lsx_load_part({place}, {rest})",
    partial_store="gfs_lsx_store_part({place}, {0}, {rest})",
    compilers="defined(__loongarch_sx)",
)

#: A shuffle reads each half of a vector separately, so both halves contain the table.
LASX = replace(
    LSX,
    isa="lasx",
    headers=(*LSX.headers, "gfsmith_lasx.h"),
    vector="__m256i",
    table="__m256i",
    expressions={
        Op.ZERO: "__lasx_xvreplgr2vr_b(0)",
        Op.CONST: "__lasx_xvreplgr2vr_b({immediate})",
        Op.LOAD: "gfs_load_long({place})",
        Op.STORE: "gfs_store_long({place}, {0})",
        Op.TABLE: "gfs_load_table({place})",
        Op.XOR: "__lasx_xvxor_v({0}, {1})",
        Op.AND: "__lasx_xvand_v({0}, {1})",
        Op.HIGH_NIBBLE: "__lasx_xvsrli_b({0}, 4)",
        Op.TWICE: "__lasx_xvslli_b({0}, 1)",
        Op.CHOOSE: "__lasx_xvand_v(__lasx_xvsrai_b({0}, 7), {1})",
        Op.LOOKUP: "__lasx_xvshuf_b({0}, {0}, {1})",
    },
    partial_load="gfs_load_long_part({place}, {rest})",
    partial_store="gfs_store_long_part({place}, {0}, {rest})",
    compilers="defined(__loongarch_asx) || __clang_major__ >= 19",
)
