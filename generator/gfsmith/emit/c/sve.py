"""Spelling for AArch64's scalable vectors, SVE and SVE2 (Arm C Language Extensions, arm_sve.h).

Arithmetic uses all lanes, since its instructions then need no predicate. Lanes beyond the shard are never
stored.
"""

from __future__ import annotations

from dataclasses import replace

from gfsmith.emit.c.spelling import Spelling
from gfsmith.ir import Op, Space

SVE = Spelling(
    isa="sve",
    headers=("gfsmith_hide.h", "gfsmith_sve.h"),
    vector="svuint8_t",
    table="svuint8_t",
    expressions={
        Op.ZERO: "svdup_n_u8(0)",
        Op.CONST: "gfs_same({immediate})",
        Op.LOAD: "svld1_u8(all, {place})",
        Op.STORE: "svst1_u8(all, {place}, {0})",
        Op.TABLE: "gfs_load_table({place})",
        Op.XOR: "sveor_u8_x(all, {0}, {1})",
        Op.AND: "svand_u8_x(all, {0}, {1})",
        Op.HIGH_NIBBLE: "svlsr_n_u8_x(all, {0}, 4)",
        Op.TWICE: "svlsl_n_u8_x(all, {0}, 1)",
        Op.CHOOSE: "gfs_choose({0}, {1})",
        Op.LOOKUP: "svtbl_u8({0}, {1})",
    },
    partial_load="svld1_u8(part, {place})",
    partial_store="svst1_u8(part, {place}, {0})",
    setup=("const size_t vl = svcntb();", "const svbool_t all = svptrue_b8();"),
    partial_setup=("const svbool_t part = svwhilelt_b8_u64(0, rest);",),
    hidden=frozenset({Space.CONSTANT, Space.COEFFICIENT}),
    # Older compilers need a flag for the intrinsics, and no Apple CPU has the set. Clang has no intrinsics
    # for big-endian machines, where gfs_load_table would load another order.
    compilers="!defined(__APPLE__) && !defined(__AARCH64EB__)"
    " && (defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 12)",
)

#: SVE with three-input XOR.
SVE2 = replace(
    SVE,
    isa="sve2",
    headers=(*SVE.headers, "gfsmith_sve2.h"),
    expressions={**SVE.expressions, Op.XOR3: "sveor3_u8({0}, {1}, {2})"},
)
