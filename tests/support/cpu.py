"""The instruction sets whose kernels this CPU can execute."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import ISAS

#: CPU flags of /proc/cpuinfo that the kernels of an instruction set need.
CPU_FLAGS: dict[str, frozenset[str]] = {
    isa.name: frozenset(flag.lower() for flag in isa.cpu_flags)
    for isa in ISAS
    if isa.arch in (Arch.X86_64, Arch.PORTABLE)
}


@lru_cache(maxsize=1)
def cpu_flags() -> frozenset[str]:
    match = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return frozenset(match[1].split()) if match else frozenset()


def missing_flags(isa: str) -> list[str]:
    return sorted(CPU_FLAGS[isa] - cpu_flags())
