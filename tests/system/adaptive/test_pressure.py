"""Contention from counters: sequences of samples and counts, as the events are documented, through the
coordinator's interface to the kernel. No machine of ours has these counters, so the sequences are synthetic.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.adaptive.counters import INCLUDES, SOURCES, compiled
from tests.system.adaptive.kernel import Kernel, load
from tests.system.adaptive.test_counters import AMD_LINES, CYCLES, LEAST, NEW, OLD, REFERENCE

ADAPTIVE = ROOT / "runtime" / "adaptive" / "src"
BELOW = [
    ROOT / "runtime/core/src/thread.c",
    *(
        ADAPTIVE / f"{name}.c"
        for name in ("contention", "candidates", "options", "policy", "device", "trace")
    ),
]
NATIVE = Path(__file__).parent / "native" / "pressure.c"
SETTLED = 80  #: readings after which a smoothed value has reached a new level
PERIOD_NS = 2_000_000

CORES = {
    "Skylake-SP": {"model": 0x55},
    "Sapphire Rapids": {"model": 0x8F},
    "Zen 4": {"vendor": b"AuthenticAMD", "family": 0x19, "model": 0x11},
    "Zen 5": {"vendor": b"AuthenticAMD", "family": 0x1A, "model": 0x02},
}


@dataclass(frozen=True)
class Phase:
    """Events between two readings: cycles of a load from memory; 1000 lines that the core needs, of which
    `prefetched` were prefetched in time; and prefetched lines that it never requests."""

    cycles: int
    prefetched: int
    useless: int

    def counts(self, configs: Sequence[int]) -> list[int]:
        if len(configs) == 2:
            return [self.useless, 1000 + self.useless]
        third = self.prefetched // 10  # found in the third level by the prefetcher
        memory = self.prefetched - third + self.useless
        return [third, memory, self.prefetched, 1000 - self.prefetched]


CALM = Phase(300, 600, 0)
THRASH = Phase(500, 500, 500)
#: Name -> phases, and whether contention is high at the end.
SEQUENCES: dict[str, tuple[list[Phase], bool]] = {
    "thrash": ([CALM, THRASH], True),
    "slow loads, useful prefetches": ([CALM, Phase(500, 600, 0)], False),
    "useless prefetches, fast loads": ([CALM, Phase(310, 500, 500)], False),
    "few useless prefetches": ([CALM, Phase(500, 600, 10)], False),
    "calm again": ([CALM, THRASH, CALM], False),
    "useful again, loads still slow": ([CALM, THRASH, Phase(500, 600, 0)], False),
    "some waste from the start": ([Phase(300, 500, 100), Phase(500, 500, 120)], False),
}


class Machine:
    """A coordinator's contention on a simulated kernel whose counters go on phase by phase."""

    def __init__(self, library: ctypes.CDLL, core: str) -> None:
        self.library, self.kernel = library, Kernel(processors=1, **CORES[core])  # type: ignore[arg-type]
        self._system = self.kernel.system()
        why = ctypes.create_string_buffer(128)
        assert library.pressure_begin(ctypes.byref(self._system), why, len(why)), why.value
        asked = {event.config for event in self.kernel.live.values()}
        self._lines = next(c for c in (OLD, NEW, AMD_LINES) if set(c) <= asked)
        self._totals = dict.fromkeys((CYCLES, REFERENCE, *self._lines), 0)
        self._readings = 0

    def read(self, phase: Phase) -> bool:
        self._readings += 1
        added = [8000, 4000, *phase.counts(self._lines)]
        for config, count in zip(self._totals, added, strict=True):
            self._totals[config] += count
            at = self.kernel.descriptor(config)
            self.kernel.counts[at] = (self._totals[config], self._readings, self._readings)
        (ring,) = self.kernel.pages
        self.kernel.write(ring, *[load(phase.cycles)] * LEAST)
        return bool(self.library.pressure_high(ctypes.c_uint64(self._readings * PERIOD_NS)))

    def end(self, phases: Sequence[Phase]) -> bool:
        """Return whether contention is high after all phases."""
        high = False
        for phase in phases:
            for _ in range(SETTLED):
                high = self.read(phase)
        self.library.pressure_end()
        assert (self.kernel.live, self.kernel.pages) == ({}, {})
        return high


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """Source -> object."""
    folder = tmp_path_factory.mktemp("pressure")
    made = {source: folder / f"{source.stem}.o" for source in (*SOURCES, *BELOW, NATIVE)}
    for source, target in made.items():
        _object(source, target)
    return made


def _object(source: Path, target: Path) -> None:
    command = ["gcc", "-std=c11", "-O0", "-w", "-fPIC", *INCLUDES, "-c", str(source), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, objects: dict[Path, Path]) -> ctypes.CDLL:
    return compiled(tmp_path_factory.mktemp("pressure"), sources=list(objects.values()))


def wrong(library: ctypes.CDLL, core: str) -> list[str]:
    """Return the sequences after which contention is not as expected."""
    return [
        name for name, (phases, high) in SEQUENCES.items() if Machine(library, core).end(phases) is not high
    ]


@pytest.mark.parametrize("core", CORES)
def test_contention_follows_from_the_events(library: ctypes.CDLL, core: str) -> None:
    assert wrong(library, core) == []


@pytest.mark.parametrize("core", ["Skylake-SP", "Zen 4"])
def test_contention_becomes_high_only_after_a_while(library: ctypes.CDLL, core: str) -> None:
    """Values are smoothed: a single bad reading changes nothing."""
    machine = Machine(library, core)
    assert not any(machine.read(CALM) for _ in range(SETTLED))
    assert not machine.read(THRASH)
    assert not any(machine.read(CALM) for _ in range(SETTLED))
    machine.end([])


MUTANTS = (
    Mutant("double base = *least > floor ? *least : floor;", "double base = *least;"),
    Mutant("double base = *least > floor ? *least : floor;", "double base = 1e-9;"),
    Mutant("smooth(&contention->useless, useless);", ";"),
    Mutant("useless += events[count].useless * got;", "useless += got;"),
    Mutant("lines_in += events[count].lines_in * got;", "lines_in = 0;"),
    Mutant("*useless_per_byte = useless_share(counters);", "*useless_per_byte = -1;"),
    Mutant("memcpy(counters->events[n].last, now[n], sizeof now[n]);", ";"),
    Mutant("useless > o->useless ? GFS_CONTENTION_HIGH : GFS_CONTENTION_LOW", "GFS_CONTENTION_HIGH"),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_sequences_refute_an_error(objects: dict[Path, Path], tmp_path: Path, mutant: Mutant) -> None:
    source, changed = plant(mutant, [*SOURCES, *BELOW], tmp_path)
    _object(changed, tmp_path / "changed.o")
    others = [target for path, target in objects.items() if path != source]
    library = compiled(tmp_path, sources=[tmp_path / "changed.o", *others])
    assert wrong(library, "Zen 4")
