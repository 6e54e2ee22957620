"""CPU features of cores. LLVM's tables also give figures for instructions that a core lacks.

`clang -march=NAME -dM -E` prints the CPUID features of a core (`__GFNI__` and so on), and `-mcpu` those of an
Arm core; a test compares. LLVM omits SHA3, an option of neoverse-n2 and neoverse-v2.
"""

from __future__ import annotations

from collections.abc import Iterable

_AVX2 = frozenset({"SSSE3", "AVX", "AVX2", "BMI2"})
_AVX512 = _AVX2 | {"AVX512F", "AVX512BW", "AVX512VL"}
_GFNI = frozenset({"GFNI"})
_NEON = frozenset({"ASIMD"})

#: LLVM's name of a core -> its features, restricted to those that gfsmith's instruction sets need.
FEATURES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("haswell", "broadwell", "skylake", "znver1", "znver2", "znver3"), _AVX2),
    **dict.fromkeys(("skylake-avx512", "cascadelake", "cooperlake"), _AVX512),
    **dict.fromkeys(("alderlake", "raptorlake", "meteorlake", "arrowlake", "gracemont"), _AVX2 | _GFNI),
    **dict.fromkeys(("sierraforest", "lunarlake"), _AVX2 | _GFNI),
    **dict.fromkeys(("icelake-client", "icelake-server", "tigerlake", "rocketlake"), _AVX512 | _GFNI),
    **dict.fromkeys(("sapphirerapids", "emeraldrapids", "graniterapids"), _AVX512 | _GFNI),
    **dict.fromkeys(("znver4", "znver5"), _AVX512 | _GFNI),
    **dict.fromkeys(("cortex-a76", "neoverse-n1"), _NEON),
    **dict.fromkeys(("sifive-p450", "xiangshan-nanhu"), frozenset()),
    **dict.fromkeys(("sifive-p670", "sifive-x280"), frozenset({"RVV"})),
    "pwr9": frozenset({"VSX207"}),
    "pwr10": frozenset({"VSX207", "VSX310"}),
    "neoverse-v1": _NEON | {"SHA3", "SVE"},
    **dict.fromkeys(("neoverse-n2", "neoverse-v2"), _NEON | {"SHA3", "SVE", "SVE2"}),
}


def lacking(cpu: str, flags: Iterable[str]) -> tuple[str, ...]:
    """Return the features among `flags` that a core lacks; none for a core that is not in the table."""
    known = FEATURES.get(cpu)
    return () if known is None else tuple(flag for flag in flags if flag not in known)
