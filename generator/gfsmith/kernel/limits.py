"""The limits by which the runtime distinguishes paths of calls on each microarchitecture (path.h).

Measurements determine the values; functions compute them, also those for unknown CPUs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import exp, log

from gfsmith.kernel.microarch import MICROARCHS, Microarch

#: KiB of a core's first-level cache of data. Sources: the manufacturers' optimization guides.
FIRST_LEVEL = {
    "haswell": 32,
    "broadwell": 32,
    "skylake": 32,
    "skylake-avx512": 32,
    "icelake-client": 48,
    "icelake-server": 48,
    "tigerlake": 48,
    "rocketlake": 48,
    "alderlake": 48,
    "sapphirerapids": 48,
    "graniterapids": 48,
    "znver1": 32,
    "znver2": 32,
    "znver3": 32,
    "znver4": 32,
    "znver5": 48,
}

#: KiB of a core's second-level cache. Sources: the manufacturers' optimization guides.
SECOND_LEVEL = {
    "haswell": 256,
    "broadwell": 256,
    "skylake": 256,
    "skylake-avx512": 1024,
    "icelake-client": 512,
    "icelake-server": 1280,
    "tigerlake": 1280,
    "rocketlake": 512,
    "alderlake": 1280,
    "sapphirerapids": 2048,
    "graniterapids": 2048,
    "znver1": 512,
    "znver2": 512,
    "znver3": 512,
    "znver4": 1024,
    "znver5": 1024,
}


#: Microarchitectures whose best set is gfni_avx512; that of the others is avx2 or avx512.
_GFNI = ("icelake-client", "icelake-server", "tigerlake", "rocketlake", "sapphirerapids", "graniterapids",
         "znver4", "znver5")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stores:
    """Streaming stores on a CPU with a set, of 10+4 from memory.

    speeds: bytes of a shard -> speed with streaming stores over that with ordinary ones, 1 if the interval
    contains 1. basis: their source.
    """

    cpu: str
    gfni: bool
    basis: str
    speeds: Mapping[int, float]

    def speed(self, length: int) -> float | None:
        """Return the speed at a length, interpolated between the measured ones; None outside of them."""
        known = sorted(self.speeds)
        if not known[0] <= length <= known[-1]:
            return None
        low = max(n for n in known if n <= length)
        high = min(n for n in known if n >= length)
        part = log(length / low) / log(high / low) if high > low else 0.0
        return exp(log(self.speeds[low]) * (1 - part) + log(self.speeds[high]) * part)

    def loss(self, least: int) -> float:
        """Return the greatest ratio, at any length, of the best speed to that of a library whose shortest
        shards with streaming stores have `least` bytes."""
        known = [(length, self.speed(length)) for length in CANDIDATES]
        return max(1.0, *(s if length < least else 1 / s for length, s in known if s is not None))


CANDIDATES = tuple(64 << n for n in range(9))  #: lengths from which stores may be streaming: up to 16 KiB

STORES = (
    Stores(
        "znver3",
        False,
        "gfsmith tune: dot:10x4@avx2 at 1 KiB, dot:8x3@avx2 at 16 KiB (tuned/znver3.toml)",
        {1024: 1 / 1.095, 16384: 1.614},
    ),
    Stores(
        "znver4",
        False,
        "python -m bench.stores with GFSMITH_ISA=avx2, tables",
        {64: 0.97, 128: 0.99, 256: 0.91, 512: 1.01, 1024: 0.99, 2048: 0.96, 4096: 1.02, 16384: 1.01},
    ),
    Stores(
        "znver4",
        True,
        "python -m bench.stores, tables; known matrices differ by at most 0.03",
        {64: 1.0, 128: 1.14, 256: 1.12, 512: 1.24, 1024: 1.16, 2048: 1.18, 4096: 1.17, 16384: 1.18},
    ),
    Stores(
        "znver5",
        True,
        "python -m bench.stores, tables; known matrices differ by at most 0.06",
        {64: 0.98, 128: 1.0, 256: 1.0, 512: 1.0, 1024: 1.09, 2048: 1.16, 4096: 1.2, 8192: 1.19, 16384: 1.12},
    ),
    Stores(
        "sapphirerapids",
        True,
        "prototypes outside of the library. They tell the faster kind only, for which 1 % stands",
        {1024: 1 / 1.01, 4096: 1.01},
    ),
)


#: Limits.whole_min of CPUs that look further ahead than a step (docs/performance.md#steps-or-whole-shards).
WHOLE = {"znver5": 9 << 10}

#: Limits.fetch_first, stream_lines and long_rows; other CPUs are not measured (docs/wide.md#slices).
WIDE = {"znver5": (True, True, 256 << 10)}

CALL = 512  #: bytes of the first level for the stack and the pointers of a call


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes: of all shards of a call in a core's first-level cache, and in its own caches; of the shortest
    shard with streaming stores; of all shards of the smallest call in memory without steps, None: steps
    always pay. Of calls on wide codes in memory: whether they prefetch into the first-level cache, and copy
    results by streaming stores of whole lines; most bytes of all rows of an encoding that have 2 KiB each."""

    first_cache: int
    own_cache: int
    stream_min: int
    whole_min: int | None = None
    fetch_first: bool = False
    stream_lines: bool = False
    long_rows: int = 0


def _least(losses: Mapping[int, float]) -> int:
    """Return the candidate with the least loss; of equal ones the largest."""
    return max(losses, key=lambda candidate: (-losses[candidate], candidate))


def stream_min(known: Iterable[Stores]) -> int:
    """Return the shortest shard with streaming stores that minimises the greatest loss on these CPUs."""
    stores = tuple(known)
    return _least({least: max(s.loss(least) for s in stores) for least in CANDIDATES})


def _middle(sizes: Collection[int]) -> int:
    """Return the size that differs from the others by the least factor."""
    return _least({size: max(max(size / other, other / size) for other in sizes) for size in sizes})


def _caches(names: Collection[str]) -> tuple[int, int]:
    """Return first_cache, the first level without the lines of the call itself, and own_cache, half of the
    second level, that suit these CPUs."""
    first, second = ([level[name] for name in names] for level in (FIRST_LEVEL, SECOND_LEVEL))
    return (_middle(first) << 10) - CALL, _middle(second) << 9


#: Limits of CPUs that the table of microarchitectures lacks.
GENERIC = Limits(*_caches(SECOND_LEVEL), stream_min(STORES))


def of(cpu: Microarch) -> Limits:
    """Return the limits of a microarchitecture; without measurements of its own, those of all with such
    sets decide."""
    alike = [stores for stores in STORES if stores.gfni == (cpu.name in _GFNI)]
    own = [stores for stores in alike if stores.cpu == cpu.name]
    wide = WIDE.get(cpu.name, ())
    return Limits(*_caches([cpu.name]), stream_min(own or alike), WHOLE.get(cpu.name), *wide)


def table() -> dict[str, Limits]:
    """Return the limits of all microarchitectures and, as "generic", those of unknown CPUs."""
    return {cpu.name: of(cpu) for cpu in MICROARCHS} | {"generic": GENERIC}
