"""The sets of checksum routines in C: their compilers, features and instructions."""

from __future__ import annotations

from dataclasses import dataclass

from gfsmith.emit.c.x86 import NARROW
from gfsmith.ir.folding import STEPS, WORD
from gfsmith.kernel.architecture import Arch


@dataclass(frozen=True, slots=True)
class Set:
    """Compilation and choice of a set. condition: the compilers that have it. features: those that
    the current instruction set must have. carryless: multiplications of the CPU."""

    width: int
    arch: Arch
    condition: str
    target: str
    features: str
    carryless: str


GNU = "defined(__GNUC__)"
_WIDE = f"{GNU} && !({NARROW})"
#: Older versions of clang have the intrinsics only if the whole file is compiled for them.
_PMULL = "defined(__AARCH64EL__) && defined(__GNUC__) && (!defined(__clang__) || __clang_major__ >= 16)"
#: No proof reads machine code of big-endian POWER, which therefore uses tables.
_LITTLE_POWER = f"{GNU} && defined(__LITTLE_ENDIAN__)"

SETS = {
    "vpclmulqdq_avx512": Set(
        64,
        Arch.X86_64,
        _WIDE,
        "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,pclmul,vpclmulqdq",
        "GFSMITH_CPU_AVX512F | GFSMITH_CPU_AVX512BW | GFSMITH_CPU_AVX512VL | GFSMITH_CPU_BMI2",
        "GFS_CARRYLESS_GROUP | GFS_CARRYLESS_VECTOR | GFS_CARRYLESS_EXPAND",
    ),
    "vpclmulqdq_avx2": Set(
        32,
        Arch.X86_64,
        _WIDE,
        "avx2,pclmul,vpclmulqdq",
        "GFSMITH_CPU_AVX2",
        "GFS_CARRYLESS_GROUP | GFS_CARRYLESS_VECTOR",
    ),
    "pclmulqdq": Set(16, Arch.X86_64, GNU, "ssse3,pclmul", "GFSMITH_CPU_SSSE3", "GFS_CARRYLESS_GROUP"),
    "pmull": Set(16, Arch.AARCH64, _PMULL, "", "0", "GFS_CARRYLESS_GROUP"),
    "vpmsumd": Set(16, Arch.POWER, _LITTLE_POWER, "", "0", "GFS_CARRYLESS_GROUP"),
    "zbc": Set(16, Arch.RISCV, GNU, "", "0", "GFS_CARRYLESS_GROUP"),
}


@dataclass(frozen=True, slots=True)
class Instructions:
    """A set of crc32 instructions: its names in gcc and clang, and (check, bytes) -> the start of a call."""

    arch: Arch
    gcc: str
    clang: str
    calls: dict[tuple[str, int], str]


INSTRUCTIONS = {
    "sse42": Instructions(
        Arch.X86_64,
        "sse4.2",
        "sse4.2,crc32",  # without it, a target that excludes crc32 (as zig's do) refuses the functions
        {("CRC32C", size): f"_mm_crc32_u{8 * size}({'' if size == WORD else '(uint32_t)'}" for size in STEPS},
    ),
    "crc": Instructions(
        Arch.AARCH64,
        "+crc",
        "crc",
        {
            (check, size): f"GFS_CRC_CALL({check.lower()}{letter})((uint32_t)"
            for check in ("CRC32C", "CRC32")
            for size, letter in zip(STEPS, "dwhb", strict=True)
        },
    ),
}
