"""The plan of the measurement: cells, and the static policies that compete with the adaptive one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bench.cells import BEST, ISAL_NAME
from bench.matrices import hexadecimal
from bench.packets.build import elements

CODE = "cauchy"
SOURCES = (4, 10, 16, 28, 32, 48, 64, 100, 154)
PARITIES = (2, 4, 8)
LENGTHS = (256, 512, 1024, 2048, 4096, 5120, 16384)
THREADS = (1, 2)

DEFAULT = f"gfsmith:{BEST}+streaming"
ADAPTIVE = f"adaptive:{BEST}"
ISAL = f"isal:{ISAL_NAME[BEST]}"
#: Sources of a narrower stripe of ISA-L-D: of 8, 12, 16, 24, 32 and 52 the fastest on this machine.
SPLIT = 12
ISAL_D = f"{ISAL}+split{SPLIT}"
PEERS = (ISAL, ISAL_D)
#: Codes of XOR-based libraries. Each has its own matrix, so its contender is in a slot of its own; it is
#: named after the code. The limits are those of the paper's cells: larger searches take too long.
XOR_CODES = ("zerasure", "cerasure")
XOR_MOST = (64, 4)
XOR_SET = "avx512"

#: The longest distance that the library accepts (gfsmith_adaptive.h).
FARTHEST = 4000


@dataclass(frozen=True, slots=True)
class Cell:
    """One shape and length, in sequential or random order of stripes, at some number of threads."""

    k: int
    m: int
    length: int
    threads: int
    order: str = "sequential"

    @property
    def id(self) -> str:
        where = "" if self.order == "sequential" else f"/{self.order}"
        return f"{self.k}+{self.m}/{self.length}/{self.threads}{where}"


@dataclass(frozen=True, slots=True)
class Setting:
    """pool: MiB of memory. stagger: bytes between a shard's end and the next. pages: huge or small."""

    pool: int = 1024
    stagger: int = 128
    pages: str = "huge"


@dataclass(frozen=True, slots=True)
class Effort:
    """Durations. screening: rounds in which every static policy takes part; final: rounds of the best
    `finalists` of them and all other contenders; microseconds: per sample; lead: MiB that all threads
    together read and write before each sample, at least a third of the sample's own, so that the previous
    contender's data leave the caches; settling: milliseconds at most; quiet: milliseconds without a change of
    policy after which it is settled; phase: rounds of a phase of the recovery, each with `slice`
    microseconds."""

    screening: int = 5
    final: int = 24
    finalists: int = 4
    screen_microseconds: int = 1200
    microseconds: int = 2500
    lead: int = 32
    settling: int = 10000
    quiet: int = 300
    phase: int = 1200
    slice: int = 1000

    def as_json(self) -> dict[str, int]:
        return asdict(self)


FULL = Effort()
QUICK = Effort(screening=3, final=8, finalists=3, settling=3000, phase=160)


def cells(quick: bool) -> list[Cell]:
    """Return all cells; the quick ones are four shapes at three lengths, m = 4."""
    if quick:
        shapes = [(k, 4, length) for k in (10, 28, 100, 154) for length in (256, 1024, 4096)]
        return [Cell(*shape, threads) for shape in shapes for threads in THREADS]
    grid = [(k, m, length) for k in SOURCES for m in PARITIES for length in LENGTHS]
    found = [Cell(*shape, threads) for shape in grid for threads in THREADS]
    return found + [Cell(k, 4, 1024, threads, "random") for k in SOURCES for threads in THREADS]


def paper() -> list[Cell]:
    """Return the cells of figures 10, 11 and 12 of the DIALGA paper, for research/memory: one thread."""
    shapes = [(k, 4, 1024) for k in (8, 12, 16, 32, 48, 64)]
    shapes += [(k, m, 1024) for k in (8, 24, 48) for m in (2, 3, 4)]
    shapes += [(k, 4, length) for k in (8, 24) for length in (256, 512, 4096, 5120)]
    return [Cell(*shape, 1) for shape in dict.fromkeys(shapes)]


def xor_codes(cell: Cell) -> tuple[str, ...]:
    """Return the codes of XOR-based libraries that a cell is measured with."""
    return XOR_CODES if cell.k <= XOR_MOST[0] and cell.m <= XOR_MOST[1] and cell.length % 64 == 0 else ()


def in_packets(length: int) -> str:
    """Return the contender in packet layout, with packets of an eighth of a block; its bytes are others."""
    return f"~packets:{XOR_SET}+packet{length // 8}"


def _distances(k: int, lines: Sequence[float]) -> list[int]:
    return [distance for n in lines if (distance := int(k * n)) <= FARTHEST]


def policies(k: int) -> list[str]:
    """Return the static policies other than the default: every walk, with distances of this many lines of the
    k sources, without distances that are longer than the library accepts."""
    found = ["plain"]
    walks = {"row": (0, 0.5, 1, 1.5, 2, 4, 8, 16), "rows4": (2, 4, 8), "block": (0, 4, 8, 16)}
    walks |= {"shuffled": (4, 8), "block-shuffled": (4, 8)}
    for walk, lines in walks.items():
        found += [f"{walk},d={d}" for d in _distances(k, lines)]
    for walk in ("row", "block"):
        found += [f"{walk},d={d},nt" for d in _distances(k, (1, 4, 8))]
    found += [f"{walk},d={k},first={k + 4}" for walk in ("row", "rows4")]
    return found


def plan_line(cell: Cell, who: Sequence[str], code: str = CODE) -> str:
    """Return the cell in the form that the driver reads (bench/driver/plan.c)."""
    regime = "dram" if cell.order == "random" else cell.order
    matrix = (hexadecimal if code == CODE else elements)(code, cell.k, cell.m)
    fields = [cell.id, code, cell.k, cell.m, cell.length, regime, 1, 1, matrix]
    return " ".join(map(str, [*fields, *who]))
