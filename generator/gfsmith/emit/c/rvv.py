"""Spelling for RISC-V's vectors, V 1.0 (RISC-V Vector C Intrinsics 1.0, riscv_vector.h), one register at a
time.

Arithmetic uses all lanes; only the loads and stores of the last bytes use fewer.
"""

from __future__ import annotations

from gfsmith.emit.c.spelling import Spelling
from gfsmith.ir import Op, Space

RVV = Spelling(
    isa="rvv",
    headers=("gfsmith_hide.h", "gfsmith_rvv.h"),
    vector="vuint8m1_t",
    table="vuint8m1_t",
    expressions={
        Op.ZERO: "__riscv_vmv_v_x_u8m1(0, vl)",
        Op.CONST: "__riscv_vmv_v_x_u8m1({immediate}, vl)",
        Op.LOAD: "__riscv_vle8_v_u8m1({place}, vl)",
        Op.STORE: "__riscv_vse8_v_u8m1({place}, {0}, vl)",
        Op.TABLE: "gfs_load_table({place}, vl)",
        Op.XOR: "__riscv_vxor_vv_u8m1({0}, {1}, vl)",
        Op.AND: "__riscv_vand_vv_u8m1({0}, {1}, vl)",
        Op.HIGH_NIBBLE: "__riscv_vsrl_vx_u8m1({0}, 4, vl)",
        Op.TWICE: "__riscv_vsll_vx_u8m1({0}, 1, vl)",
        Op.CHOOSE: "gfs_choose({0}, {1}, vl)",
        Op.LOOKUP: "__riscv_vrgather_vv_u8m1({0}, {1}, vl)",
    },
    partial_load="__riscv_vle8_v_u8m1({place}, {rest})",
    partial_store="__riscv_vse8_v_u8m1({place}, {0}, {rest})",
    setup=("const size_t vl = __riscv_vsetvlmax_e8m1();",),
    hidden=frozenset({Space.CONSTANT}),
    # Compilers other than clang have the intrinsics only if the command line enables V.
    compilers="(defined(__clang__) && __clang_major__ >= 19)"
    " || (defined(__riscv_v_intrinsic) && defined(__riscv_v))",
)
