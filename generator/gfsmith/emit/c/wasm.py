"""Spelling for WebAssembly's vectors (LLVM's wasm_simd128.h). The set is chosen when a module is compiled."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.emit.c.spelling import Spelling
from gfsmith.ir import Op

SIMD128 = Spelling(
    isa="wasm_simd128",
    headers=("gfsmith_part.h", "gfsmith_wasm_simd128.h"),
    vector="v128_t",
    table="v128_t",
    expressions={
        Op.ZERO: "wasm_u8x16_const_splat(0)",
        Op.CONST: "wasm_u8x16_const_splat({immediate})",
        Op.LOAD: "wasm_v128_load({place})",
        Op.STORE: "wasm_v128_store({place}, {0})",
        Op.TABLE: "wasm_v128_load({place})",
        Op.XOR: "wasm_v128_xor({0}, {1})",
        Op.AND: "wasm_v128_and({0}, {1})",
        Op.HIGH_NIBBLE: "wasm_u8x16_shr({0}, 4)",
        Op.TWICE: "wasm_i8x16_shl({0}, 1)",
        Op.CHOOSE: "wasm_v128_and(wasm_i8x16_shr({0}, 7), {1})",
        Op.LOOKUP: "wasm_i8x16_swizzle({0}, {1})",
    },
    partial_load="gfs_load_part({place}, {rest})",
    partial_store="gfs_store_part({place}, {0}, {rest})",
    compilers="defined(__wasm_simd128__) && !defined(__wasm_relaxed_simd__)",
)

#: Relaxed SIMD leaves the result for indices of 16 or more undefined, so one machine instruction suffices.
#: LOOKUP has no such indices (ir.MEANING[Op.LOOKUP]).
RELAXED = replace(
    SIMD128,
    isa="wasm_relaxed_simd",
    headers=(*SIMD128.headers, "gfsmith_wasm_relaxed_simd.h"),
    expressions={**SIMD128.expressions, Op.LOOKUP: "wasm_i8x16_relaxed_swizzle({0}, {1})"},
    compilers="defined(__wasm_relaxed_simd__)",
)
