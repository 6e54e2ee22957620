"""Description of the machine for figures: the processor, its caches, its instruction sets. No names."""

from __future__ import annotations

import os
from pathlib import Path

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_SETS = ("avx2", "avx512bw", "gfni")


def _cpuinfo() -> dict[str, str]:
    """Return the fields of the first processor."""
    try:
        first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _cache(level: Path) -> str | None:
    """Return a cache as text, "L1d 32K"; None for an instruction cache."""
    kind, number, size = ((level / name).read_text().strip() for name in ("type", "level", "size"))
    if kind == "Instruction":
        return None
    return f"L{number}{'d' if kind == 'Data' else ''} {size}"


def describe() -> str:
    """Return one line, such as "AMD EPYC, 2 processors, L1d 32K, L2 1024K, L3 32768K; avx2 avx512bw gfni"."""
    info = _cpuinfo()
    flags = set(info.get("flags", "").split())
    model = info.get("model name", "unknown processor")
    count = os.cpu_count() or 1
    caches = [found for level in sorted(_CACHES.glob("index*")) if (found := _cache(level))]
    sets = " ".join(name for name in _SETS if name in flags)
    return f"{', '.join([model, f'{count} processors', *caches])}; {sets}"
