"""Instruction sets, one frozen record each. A new set needs a record here and its spelling in emit/."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from gfsmith.ir import Op
from gfsmith.kernel.architecture import Arch

#: Vector lengths of CPUs with scalable sets, in bytes. One kernel serves all of them.
SCALABLE_BYTES = (16, 32, 64)


class Encoding(Enum):
    """Encoding of x86 vector instructions: two-operand SSE, VEX or EVEX. C: the kernel is C source."""

    C = "c"
    LEGACY = "legacy"
    VEX = "vex"
    EVEX = "evex"


class Tail(Enum):
    """Access to the last 1..lanes-1 bytes, without an access beyond them.

    WORD: a copy in a zeroed word. PACKED: two overlapping pieces of a power-of-two size, side by side in one
    vector. MASKED: a write mask, whose cleared lanes are neither read nor written, or the number of bytes.
    """

    WORD = "word"
    PACKED = "packed"
    MASKED = "masked"


@dataclass(frozen=True, slots=True)
class Isa:
    """Resources of a kernel for this instruction set.

    vector_bytes: lanes of one vector. registers: vector registers (None: words in general registers); for C
    only an estimate of how many tables to keep in registers, since the compiler allocates. cpu_flags:
    features that the CPU and operating system must have, as in GFSMITH_CPU_*. folds_loads: a load may be an
    operand of an arithmetic instruction at any alignment. widths: vector widths in bits among which a kernel
    may choose (AVX-512VL), () if there is no choice. scalable: the CPU determines the vector length, at least
    vector_bytes; one kernel serves all. destructive: results overwrite an operand.
    """

    name: str
    arch: Arch
    encoding: Encoding
    vector_bytes: int
    registers: int | None
    ops: frozenset[Op]
    cpu_flags: tuple[str, ...]
    tail: Tail
    folds_loads: bool = False
    broadcasts: bool = False
    widths: tuple[int, ...] = ()
    scalable: bool = False

    @property
    def width(self) -> int:
        """Bits of one vector."""
        return 8 * self.vector_bytes

    @property
    def lengths(self) -> tuple[int, ...]:
        """Vector lengths in bytes for which a kernel is proved."""
        return SCALABLE_BYTES if self.scalable else (self.vector_bytes,)

    @property
    def destructive(self) -> bool:
        return self.encoding is Encoding.LEGACY


_MEMORY = frozenset({Op.LOAD, Op.STORE})
_DOUBLING = frozenset({Op.CONST, Op.TWICE, Op.CHOOSE})
_COMMON = _MEMORY | _DOUBLING | {Op.ZERO, Op.XOR, Op.AND, Op.STREAM, Op.SPILL, Op.RELOAD, Op.PREFETCH}
_NIBBLE = _COMMON | {Op.TABLE, Op.HIGH_NIBBLE, Op.LOOKUP}
_PERMXOR = _MEMORY | _DOUBLING | {Op.ZERO, Op.XOR, Op.TABLE, Op.LOOKUP2, Op.PREFETCH}
_GFNI = _COMMON | {Op.MATRIX, Op.AFFINE, Op.MULB}

_AVX512 = ("AVX512F", "AVX512BW", "AVX512VL", "BMI2")
_AVX512_WIDTHS = (512, 256)

#: Sets written with intrinsics. The compiler decides which values it spills, so there is no SPILL.
_C_NIBBLE = _MEMORY | _DOUBLING | {Op.ZERO, Op.XOR, Op.AND, Op.TABLE, Op.HIGH_NIBBLE, Op.LOOKUP}
#: The same with PREFETCH, for sets whose vectors are a fixed part of a cache line.
_C_FETCHED = _C_NIBBLE | {Op.PREFETCH}


def _with_intrinsics(
    name: str,
    arch: Arch,
    flags: tuple[str, ...],
    ops: frozenset[Op] = _C_NIBBLE,
    registers: int = 32,
    vector_bytes: int = 16,
) -> Isa:
    """Return a set whose kernels are C with intrinsics. The set's header accesses the last bytes."""
    return Isa(name, arch, Encoding.C, vector_bytes, registers, ops, flags, Tail.PACKED)


def _counted(name: str, arch: Arch, flag: str, ops: frozenset[Op]) -> Isa:
    """Return the same whose loads and stores take the number of the last bytes."""
    return replace(_with_intrinsics(name, arch, (flag,), ops), tail=Tail.MASKED)


def _scalable(name: str, arch: Arch, flag: str, ops: frozenset[Op] = _C_NIBBLE, registers: int = 32) -> Isa:
    """Return a set with scalable vectors, written in C. A predicate or a count limits the last access."""
    return replace(_with_intrinsics(name, arch, (flag,), ops, registers), tail=Tail.MASKED, scalable=True)


#: All sets in dispatch's order of preference, best first.
ISAS: tuple[Isa, ...] = (
    Isa(
        "gfni_avx512",
        Arch.X86_64,
        Encoding.EVEX,
        vector_bytes=64,
        registers=32,
        ops=_GFNI | {Op.XOR3},
        cpu_flags=(*_AVX512, "GFNI"),
        tail=Tail.MASKED,
        folds_loads=True,
        broadcasts=True,
        widths=_AVX512_WIDTHS,
    ),
    Isa(
        "gfni_avx2",
        Arch.X86_64,
        Encoding.VEX,
        vector_bytes=32,
        registers=16,
        ops=_GFNI,
        cpu_flags=("AVX", "AVX2", "GFNI"),
        tail=Tail.PACKED,
        folds_loads=True,
    ),
    Isa(
        "avx512",
        Arch.X86_64,
        Encoding.EVEX,
        vector_bytes=64,
        registers=32,
        ops=_NIBBLE | {Op.XOR3},
        cpu_flags=_AVX512,
        tail=Tail.MASKED,
        folds_loads=True,
        widths=_AVX512_WIDTHS,
    ),
    Isa(
        "avx2",
        Arch.X86_64,
        Encoding.VEX,
        vector_bytes=32,
        registers=16,
        ops=_NIBBLE,
        cpu_flags=("AVX", "AVX2"),
        tail=Tail.PACKED,
        folds_loads=True,
    ),
    Isa(
        "gfni_sse",
        Arch.X86_64,
        Encoding.LEGACY,
        vector_bytes=16,
        registers=16,
        ops=_GFNI,
        cpu_flags=("SSSE3", "GFNI"),
        tail=Tail.PACKED,
    ),
    Isa(
        "sse",
        Arch.X86_64,
        Encoding.LEGACY,
        vector_bytes=16,
        registers=16,
        ops=_NIBBLE,
        cpu_flags=("SSSE3",),
        tail=Tail.PACKED,
    ),
    _scalable("sve2", Arch.AARCH64, "SVE2", _C_NIBBLE | {Op.XOR3}),
    _scalable("sve", Arch.AARCH64, "SVE"),
    _with_intrinsics("neon_sha3", Arch.AARCH64, ("ASIMD", "SHA3"), _C_FETCHED | {Op.XOR3}),
    _with_intrinsics("neon", Arch.AARCH64, ("ASIMD",), _C_FETCHED),
    _scalable("rvv", Arch.RISCV, "RVV"),
    # No flags: an engine accepts or rejects a module with all of its instructions. Registers: x86's.
    _with_intrinsics("wasm_relaxed_simd", Arch.WASM, (), registers=16),
    _with_intrinsics("wasm_simd128", Arch.WASM, (), registers=16),
    _counted("vsx_p10", Arch.POWER, "VSX310", _PERMXOR | {Op.XOR3}),
    _with_intrinsics("vsx", Arch.POWER, ("VSX207",), _PERMXOR),
    _with_intrinsics("altivec", Arch.POWER, ("ALTIVEC",), _C_NIBBLE | {Op.LOOKUP_LOW}),
    _counted("vx", Arch.S390X, "VX", _C_FETCHED | {Op.LOOKUP_LOW}),
    _with_intrinsics("lasx", Arch.LOONGARCH, ("LASX",), _C_FETCHED, vector_bytes=32),
    _with_intrinsics("lsx", Arch.LOONGARCH, ("LSX",), _C_FETCHED),
    Isa(
        "scalar",
        Arch.PORTABLE,
        Encoding.C,
        vector_bytes=8,
        registers=None,
        ops=_MEMORY | _DOUBLING | {Op.ZERO, Op.XOR, Op.BIT, Op.COLUMN, Op.SCALE, Op.PREFETCH},
        cpu_flags=(),
        tail=Tail.WORD,
    ),
)

BY_NAME: dict[str, Isa] = {isa.name: isa for isa in ISAS}
