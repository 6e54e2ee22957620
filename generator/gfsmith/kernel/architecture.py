"""Architectures, with all their names in compilers, build systems and the runtime.

The preprocessor conditions in generated lists come from this table. tools/facts.py generates from it the
tables of processors for Make, CMake and Meson, the toolchain files and the features in cpu.h. The module
imports only the standard library, since `gfsmith.build.requirements` runs before any package is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Arch(Enum):
    """An architecture of kernels. PORTABLE: any architecture."""

    PORTABLE = "portable"
    X86_64 = "x86_64"
    AARCH64 = "aarch64"
    POWER = "power"
    RISCV = "riscv"
    WASM = "wasm"
    S390X = "s390x"
    LOONGARCH = "loongarch"


@dataclass(frozen=True, slots=True)
class Feature:
    """A CPU feature that the runtime detects, bit GFSMITH_CPU_<name>. note: a comment for cpu.h."""

    name: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The names of an architecture.

    title: in prose. processors: in triples and in CMake's CMAKE_SYSTEM_PROCESSOR, lower case, the usual one
    first. family: Meson's cpu_family. condition: the preprocessor condition that is true in compilers for
    this architecture. triple: GNU's and LLVM's, for Linux. debian: Debian's name if Debian has a cross
    compiler and a C library for it. emulator: qemu-user's name if tests run programs under it. features: the
    features that dispatch can test.
    """

    arch: Arch
    title: str
    processors: tuple[str, ...]
    family: str
    condition: str
    triple: str
    debian: str = ""
    emulator: str = ""
    features: tuple[Feature, ...] = ()


ARCHITECTURES: tuple[Architecture, ...] = (
    Architecture(
        arch=Arch.X86_64,
        title="x86",
        processors=("x86_64", "amd64"),
        family="x86_64",
        condition="defined(__x86_64__) || defined(_M_X64)",
        triple="x86_64-linux-gnu",
        features=(
            *(Feature("SSSE3"), Feature("AVX"), Feature("AVX2"), Feature("BMI2")),
            *(Feature("AVX512F"), Feature("AVX512BW"), Feature("AVX512VL"), Feature("GFNI")),
        ),
    ),
    Architecture(
        arch=Arch.AARCH64,
        title="AArch64",
        processors=("aarch64", "arm64"),
        family="aarch64",
        condition="defined(__aarch64__) || defined(_M_ARM64)",
        triple="aarch64-linux-gnu",
        debian="arm64",
        emulator="aarch64",
        features=(Feature("ASIMD"), Feature("SHA3", "eor3"), Feature("SVE"), Feature("SVE2")),
    ),
    Architecture(
        arch=Arch.POWER,
        title="POWER",
        processors=("powerpc64le", "ppc64le", "powerpc64", "ppc64"),
        family="ppc64",
        condition="defined(__powerpc64__)",
        triple="powerpc64le-linux-gnu",
        debian="ppc64el",
        emulator="ppc64le",
        features=(
            Feature("ALTIVEC", "vectors at multiples of 16, vperm"),
            Feature("VSX207", "VSX and vpermxor of POWER8"),
            Feature("VSX300", "of POWER9"),
            Feature("VSX310", "of POWER10"),
        ),
    ),
    Architecture(
        arch=Arch.RISCV,
        title="RISC-V",
        processors=("riscv64",),
        family="riscv64",
        condition="defined(__riscv) && __riscv_xlen == 64",
        triple="riscv64-linux-gnu",
        debian="riscv64",
        emulator="riscv64",
        features=(Feature("RVV", "V 1.0, so vectors of 16 bytes at least"),),
    ),
    Architecture(
        arch=Arch.S390X,
        title="s390x",
        processors=("s390x",),
        family="s390x",
        condition="defined(__s390x__)",
        triple="s390x-linux-gnu",
        debian="s390x",
        emulator="s390x",
        features=(Feature("VX", "z13"), Feature("VXE", "z14")),
    ),
    Architecture(
        arch=Arch.LOONGARCH,
        title="LoongArch",
        processors=("loongarch64",),
        family="loongarch64",
        condition="defined(__loongarch64)",
        triple="loongarch64-linux-gnu",
        features=(Feature("LSX"), Feature("LASX")),
    ),
    Architecture(
        arch=Arch.WASM,
        title="WebAssembly",
        processors=("wasm32", "wasm64"),
        family="wasm32",
        condition="defined(__wasm__)",
        triple="wasm32-wasi",
    ),
)

BY_ARCH: dict[Arch, Architecture] = {architecture.arch: architecture for architecture in ARCHITECTURES}


def condition(arch: Arch) -> str:
    """Return the preprocessor condition for compilers of an architecture; "" for PORTABLE."""
    return "" if arch is Arch.PORTABLE else BY_ARCH[arch].condition
