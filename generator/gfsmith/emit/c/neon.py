"""Spelling for AArch64 Advanced SIMD (Arm C Language Extensions, arm_neon.h)."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.emit.c.spelling import Spelling
from gfsmith.ir import Op

NEON = Spelling(
    isa="neon",
    headers=("gfsmith_part.h", "gfsmith_neon.h"),
    vector="uint8x16_t",
    table="uint8x16_t",
    expressions={
        Op.ZERO: "vdupq_n_u8(0)",
        Op.CONST: "vdupq_n_u8({immediate})",
        Op.LOAD: "vld1q_u8({place})",
        Op.STORE: "vst1q_u8({place}, {0})",
        Op.TABLE: "vld1q_u8({place})",
        Op.XOR: "veorq_u8({0}, {1})",
        Op.AND: "vandq_u8({0}, {1})",
        Op.HIGH_NIBBLE: "vshrq_n_u8({0}, 4)",
        Op.TWICE: "vshlq_n_u8({0}, 1)",
        Op.CHOOSE: "vandq_u8(vreinterpretq_u8_s8(vshrq_n_s8(vreinterpretq_s8_u8({0}), 7)), {1})",
        Op.LOOKUP: "vqtbl1q_u8({0}, {1})",
    },
    partial_load="gfs_load_part({place}, {rest})",
    partial_store="gfs_store_part({place}, {0}, {rest})",
)

#: NEON with the three-input XOR of the SHA-3 extension.
NEON_SHA3 = replace(
    NEON,
    isa="neon_sha3",
    headers=(*NEON.headers, "gfsmith_neon_sha3.h"),
    expressions={**NEON.expressions, Op.XOR3: "veor3q_u8({0}, {1}, {2})"},
)
