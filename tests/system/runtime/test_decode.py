"""Features from raw values of CPUs and kernels, for every machine, by
runtime/core/src/cpu_*.c on this one.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.compiler import Compiler

SSSE3, OSXSAVE, AVX = 1 << 9, 1 << 27, 1 << 28  # CPUID 1, ecx
AVX2, BMI2, AVX512F, AVX512BW, AVX512VL = 1 << 5, 1 << 8, 1 << 16, 1 << 30, 1 << 31  # 7, ebx
GFNI = 1 << 8  # 7, ecx
X87, XMM, YMM, OPMASK, ZMM_HI, HI16 = (1 << n for n in (0, 1, 2, 5, 6, 7))  # XCR0

LEAF1 = SSSE3 | OSXSAVE | AVX
LEAF7 = AVX2 | BMI2 | AVX512F | AVX512BW | AVX512VL
SAVES_YMM = X87 | XMM | YMM
SAVES_ZMM = SAVES_YMM | OPMASK | ZMM_HI | HI16

NO_STATE = {"SSSE3", "BMI2", "GFNI"}
ON_YMM = NO_STATE | {"AVX", "AVX2"}
EVERYTHING = ON_YMM | {"AVX512F", "AVX512BW", "AVX512VL"}

X86 = {
    "everything": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM), EVERYTHING),
    "os saves no zmm": ((13, LEAF1, LEAF7, GFNI, SAVES_YMM), ON_YMM),
    "os saves no opmask": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM & ~OPMASK), ON_YMM),
    "os saves no upper halves": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM & ~ZMM_HI), ON_YMM),
    "os saves no zmm16": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM & ~HI16), ON_YMM),
    "os saves no ymm": ((13, LEAF1, LEAF7, GFNI, X87 | XMM), NO_STATE),
    "os saves zmm, not ymm": ((13, LEAF1, LEAF7, GFNI, SAVES_ZMM & ~YMM), NO_STATE),
    "os saves nothing": ((13, LEAF1, LEAF7, GFNI, 0), NO_STATE),
    "no osxsave": ((13, LEAF1 & ~OSXSAVE, LEAF7, GFNI, SAVES_ZMM), NO_STATE),
    "no avx": ((13, LEAF1 & ~AVX, LEAF7, GFNI, SAVES_ZMM), NO_STATE),
    "no avx2": ((13, LEAF1, LEAF7 & ~AVX2, GFNI, SAVES_ZMM), NO_STATE | {"AVX"}),
    "no avx512f": ((13, LEAF1, LEAF7 & ~AVX512F, GFNI, SAVES_ZMM), ON_YMM),
    "no avx512bw": ((13, LEAF1, LEAF7 & ~AVX512BW, GFNI, SAVES_ZMM), EVERYTHING - {"AVX512BW"}),
    "no avx512vl": ((13, LEAF1, LEAF7 & ~AVX512VL, GFNI, SAVES_ZMM), EVERYTHING - {"AVX512VL"}),
    "no bmi2": ((13, LEAF1, LEAF7 & ~BMI2, GFNI, SAVES_ZMM), EVERYTHING - {"BMI2"}),
    "no gfni": ((13, LEAF1, LEAF7, 0, SAVES_ZMM), EVERYTHING - {"GFNI"}),
    "no ssse3": ((13, LEAF1 & ~SSSE3, LEAF7, GFNI, SAVES_ZMM), EVERYTHING - {"SSSE3"}),
    "no leaf 7": ((6, LEAF1, LEAF7, GFNI, SAVES_ZMM), {"SSSE3", "AVX"}),
    "no leaf 1": ((0, LEAF1, LEAF7, GFNI, SAVES_ZMM), set()),
    "gfni without avx": ((13, SSSE3, 0, GFNI, 0), {"SSSE3", "GFNI"}),
    "nothing": ((13, 0, 0, 0, 0), set()),
    "unrelated bits": (
        (13, ~LEAF1 & 2**32 - 1, ~LEAF7 & 2**32 - 1, ~GFNI & 2**32 - 1, ~SAVES_ZMM & 2**64 - 1),
        set(),
    ),
}

# Linux: arch/arm64/include/uapi/asm/hwcap.h.
FP, ASIMD, CPUID, SHA3, SVE = 1 << 0, 1 << 1, 1 << 11, 1 << 17, 1 << 22
SVE2 = 1 << 1  # AT_HWCAP2
AARCH64 = {
    "cortex-a72": ((FP | ASIMD, 0), {"ASIMD"}),
    "apple m1, linux": ((FP | ASIMD | SHA3, 0), {"ASIMD", "SHA3"}),
    "neoverse-v1": ((FP | ASIMD | SHA3 | SVE, 0), {"ASIMD", "SHA3", "SVE"}),
    "neoverse-n2": ((FP | ASIMD | SHA3 | SVE, SVE2), {"ASIMD", "SHA3", "SVE", "SVE2"}),
    "a64fx": ((FP | ASIMD | SVE, 0), {"ASIMD", "SVE"}),
    "no vectors": ((FP | CPUID, 0), set()),
    "unrelated bits": (((ASIMD | SHA3 | SVE) ^ 2**64 - 1, SVE2 ^ 2**64 - 1), set()),
}

# Linux: arch/powerpc/include/uapi/asm/cputable.h; the last four are in AT_HWCAP2.
VSX, ALTIVEC = 0x80, 0x10000000
ARCH_2_07, ARCH_3_00, ARCH_3_1, CRYPTO = 0x80000000, 0x00800000, 0x00040000, 0x02000000
POWER8, POWER9, POWER10 = {"VSX207"}, {"VSX207", "VSX300"}, {"VSX207", "VSX300", "VSX310"}
POWER = {
    "970": ((ALTIVEC, 0), {"ALTIVEC"}),
    "power7": ((ALTIVEC | VSX, 0), {"ALTIVEC"}),
    "power8 with altivec": ((ALTIVEC | VSX, ARCH_2_07 | CRYPTO), POWER8 | {"ALTIVEC"}),
    "power8": ((VSX, ARCH_2_07 | CRYPTO), POWER8),
    "power9": ((VSX, ARCH_2_07 | ARCH_3_00 | CRYPTO), POWER9),
    "power10": ((VSX, ARCH_2_07 | ARCH_3_00 | ARCH_3_1 | CRYPTO), POWER10),
    "vsx switched off": ((0, ARCH_2_07 | ARCH_3_00 | ARCH_3_1 | CRYPTO), set()),
    "no vpermxor": ((VSX, ARCH_2_07 | ARCH_3_00), set()),
    "sign-extended": ((VSX, 2**64 - ARCH_2_07 | CRYPTO), POWER8),
    "unrelated bits": (
        ((ALTIVEC | VSX) ^ 2**64 - 1, (ARCH_2_07 | ARCH_3_00 | ARCH_3_1 | CRYPTO) ^ 2**64 - 1),
        set(),
    ),
}

# Linux: arch/s390/include/asm/elf.h.
VXRS, VXRS_EXT = 1 << 11, 1 << 13
S390X = {
    "zEC12": ((0, 0), set()),
    "z13": ((VXRS, 0), {"VX"}),
    "z14": ((VXRS | VXRS_EXT, 0), {"VX", "VXE"}),
    "vectors switched off": ((VXRS_EXT, 0), set()),
    "unrelated bits": (((VXRS | VXRS_EXT) ^ 2**64 - 1, 2**64 - 1), set()),
}

# Linux: arch/loongarch/include/uapi/asm/hwcap.h.
LSX, LASX = 1 << 4, 1 << 5
LOONGARCH = {
    "3A4000": ((0, 0), set()),
    "2K2000": ((LSX, 0), {"LSX"}),
    "3A5000": ((LSX | LASX, 0), {"LSX", "LASX"}),
    "unrelated bits": (((LSX | LASX) ^ 2**64 - 1, 2**64 - 1), set()),
}

# Linux: Documentation/arch/riscv/hwprobe.rst, IMA_EXT_0; AT_HWCAP has a bit for every letter.
IMA_V, LETTER_V = 1 << 2, 1 << 21
RISCV = {  # probed, IMA_EXT_0, AT_HWCAP, bytes granted
    "v, 128 bits": ((1, IMA_V, LETTER_V, 16), {"RVV"}),
    "v, 512 bits": ((1, IMA_V, LETTER_V, 64), {"RVV"}),
    "no v": ((1, 0, 0, 0), set()),
    "kernel before 6.4 with v": ((0, 0, LETTER_V, 32), {"RVV"}),
    "kernel before 6.4 without": ((0, IMA_V, 0, 32), set()),
    "draft 0.7.1": ((0, 0, LETTER_V, 0), set()),
    "draft 0.7.1, kernel supports": ((1, 0, LETTER_V, 16), set()),
    "short vectors": ((1, IMA_V, LETTER_V, 8), set()),
    "unrelated bits": ((1, IMA_V ^ 2**64 - 1, LETTER_V ^ 2**64 - 1, 64), set()),
}

CASES = [
    pytest.param(machine, raw, expected, id=f"{machine}-{name}")
    for machine, table in (
        ("x86", X86),
        ("aarch64", AARCH64),
        ("power", POWER),
        ("s390x", S390X),
        ("loongarch", LOONGARCH),
        ("riscv", RISCV),
    )
    for name, (raw, expected) in table.items()
]


@pytest.fixture(scope="module")
def decode(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Compiler(build, tmp_path_factory.mktemp("decode")).link("decode")


@pytest.mark.parametrize(("machine", "raw", "expected"), CASES)
def test_decode(decode: Path, machine: str, raw: Iterable[int], expected: set[str]) -> None:
    command = [str(decode), machine, *(f"{value:x}" for value in raw)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected


# The key CPUPERF_0: loads of a word at any address are emulated, slow or fast.
ZBB, ZBC, EMULATED, SLOW, FAST = 1 << 4, 1 << 7, 1, 2, 3
CARRYLESS = {
    "power8": (("power", VSX, ARCH_2_07 | CRYPTO), 1),
    "power7": (("power", ALTIVEC | VSX, 0), 0),
    "power, vsx switched off": (("power", ALTIVEC, ARCH_2_07 | CRYPTO), 0),
    "power, no vpmsumd": (("power", ALTIVEC | VSX, ARCH_2_07), 0),
    "riscv, zbb and zbc": (("riscv", 1, ZBB | ZBC, FAST), 1),
    "riscv, more bits": (("riscv", 1, 2**64 - 1, 2**64 - 8 | FAST), 1),
    "riscv, no zbc": (("riscv", 1, ~ZBC & 2**64 - 1, FAST), 0),
    "riscv, no zbb": (("riscv", 1, ~ZBB & 2**64 - 1, FAST), 0),
    "riscv, slow words": (("riscv", 1, ZBB | ZBC, SLOW), 0),
    "riscv, emulated words": (("riscv", 1, ZBB | ZBC, EMULATED), 0),
    "riscv, kernel before 6.4": (("riscv", 0, ZBB | ZBC, FAST), 0),
}


@pytest.mark.parametrize("name", CARRYLESS)
def test_carryless_multiplications(decode: Path, name: str) -> None:
    (machine, *raw), expected = CARRYLESS[name]
    command = [str(decode), f"{machine}-carryless", *(f"{value:x}" for value in raw)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) == expected


@pytest.mark.parametrize(
    ("midr", "expected"),
    [("410fd490", "0x41 0 d49"), ("00000000461f0010", "0x46 0 1"), ("c00fac30", "0xc0 0 ac3")],
)
def test_arm_identity(decode: Path, midr: str, expected: str) -> None:
    """MIDR_EL1 of a Neoverse N2, an A64FX, an Ampere-1 core: implementer and part number."""
    done = subprocess.run([decode, "midr", midr], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
