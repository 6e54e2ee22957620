"""Which kernels this CPU can execute."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

#: What /proc/cpuinfo must show before kernels of an instruction set may be executed.
CPU_FLAGS: dict[str, frozenset[str]] = {
    "scalar": frozenset(),
    "sse": frozenset({"ssse3"}),
    "avx2": frozenset({"avx2"}),
    "avx512": frozenset({"avx512f", "avx512bw", "avx512vl", "bmi2"}),
    "gfni_sse": frozenset({"ssse3", "gfni"}),
    "gfni_avx2": frozenset({"avx2", "gfni"}),
    "gfni_avx512": frozenset({"avx512f", "avx512bw", "avx512vl", "bmi2", "gfni"}),
}


@lru_cache(maxsize=1)
def cpu_flags() -> frozenset[str]:
    match = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return frozenset(match[1].split()) if match else frozenset()


def missing_flags(isa: str) -> list[str]:
    return sorted(CPU_FLAGS[isa] - cpu_flags())
