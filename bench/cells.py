"""The measured cells, the floors that the project promises, and the contenders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bench.matrices import hexadecimal
from gfsmith.kernel.isa import BY_NAME

#: The set of the cells below that name no other; `on_host` replaces it on a CPU that lacks it.
BEST = "gfni_avx512"

#: gfsmith's name of an instruction set -> ISA-L's; the best first.
ISAL_NAME = {"gfni_avx512": "avx512_gfni", "gfni_avx2": "avx2_gfni", "avx512": "avx512", "avx2": "avx2"}

#: Bound of a dense product: the probe, bytes of a vector, instructions for one product.
PORT = {
    "gfni_avx512": ("affine512", 64, 1),
    "gfni_avx2": ("affine256", 32, 1),
    "avx512": ("shuffle512", 64, 2),
    "avx2": ("shuffle256", 32, 2),
}

#: Contender whose operations take a cycle each.
CLOCK = "probe:cycles"

#: ISA-L's sets that compete with a set of gfsmith: the best of each width that such a CPU has.
_ISAL_PEERS = {
    "gfni_avx512": ("avx512_gfni", "avx2_gfni"),
    "gfni_avx2": ("avx2_gfni",),
    "avx512": ("avx512", "avx2"),
    "avx2": ("avx2",),
}
#: The floor of every cell of the table on a CPU without BEST.
_FLOOR_ELSEWHERE = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One code, shape, length and regime. floor: the promised ratio to the fastest peer, or None.
    packet: bytes of a packet in packet layout, or None. batch: gfsmith encodes by batch calls. name: the
    computation, if it is not an encoding by the code alone. who: the contenders, gfsmith first, if they are
    not all peers and limits; then each pair of them is compared. loops: the touch loops, if they are not the
    usual ones."""

    group: str
    code: str
    k: int
    m: int
    length: int
    regime: str = "resident"
    isa: str = BEST
    threads: int = 1
    floor: float | None = None
    packet: int | None = None
    batch: bool = False
    name: str = ""
    who: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()

    @property
    def own(self) -> str:
        """Return the gfsmith contender without a hint about the location of shards."""
        if self.who:
            return self.who[0]
        if self.batch:
            return f"gfsmith:{self.isa}+batch"
        return f"gfsmith:{self.isa}" + ("" if self.packet is None else f"+packet{self.packet}")

    @property
    def id(self) -> str:
        what = self.name.replace(" ", "_") or self.code
        name = f"{self.group}/{what}-{self.k}+{self.m}/{self.regime}-{self.length}/{self.isa}"
        return name if self.threads == 1 else f"{name}/{self.threads}-threads"

    @property
    def probe(self) -> str:
        return f"probe:{PORT[self.isa][0]}"


@dataclass(frozen=True, slots=True)
class Effort:
    """The duration of a measurement: passes over all cells, rounds per cell, microseconds per sample.

    A neighbour on the machine slows it down for seconds, which is longer than the rounds of one cell
    take. Several passes, far apart, show whether a ratio depends on that.
    """

    passes: int
    rounds: int
    resident: int
    dram: int


FULL = Effort(passes=3, rounds=11, resident=2000, dram=4000)
QUICK = Effort(passes=3, rounds=5, resident=1000, dram=2500)

#: code, shapes, floors at resident 4 KiB, DRAM 1 KiB, DRAM 64 KiB
_TABLE: tuple[tuple[str, Sequence[tuple[int, int]], tuple[float, float, float]], ...] = (
    ("vandermonde", ((4, 2), (10, 4), (12, 4), (17, 3)), (1.8, 1.4, 1.4)),
    ("cauchy", ((8, 4), (12, 4), (28, 4), (8, 8), (16, 8)), (2.0, 1.4, 1.4)),
    ("backblaze", ((8, 4), (12, 4), (28, 4), (8, 8), (16, 8)), (2.0, 1.4, 1.4)),
    ("backblaze", ((32, 32),), (2.0, 1.5, 1.5)),
    ("cauchy", ((10, 4),), (1.5, 1.4, 1.4)),
    ("vandermonde", ((48, 4),), (1.4, 1.6, 1.6)),
    ("cauchy", ((48, 4),), (1.4, 1.6, 1.6)),
    ("backblaze", ((48, 4),), (1.4, 1.6, 1.6)),
    ("cauchy", ((100, 20),), (1.3, 1.5, 3.0)),
    ("decode", ((10, 4),), (1.3, 1.4, 1.4)),
    ("lch", ((10, 4),), (2.4, 1.4, 1.4)),
    ("lch", ((16, 8), (32, 8)), (3.0, 1.4, 1.4)),
    ("lch", ((100, 20),), (4.0, 1.5, 3.0)),
)
_PLACES = (("resident", 4096), ("dram", 1024), ("dram", 65536))
_QUICK_DRAM = {"vandermonde-10+4", "cauchy-12+4", "cauchy-48+4", "cauchy-100+20", "decode-10+4", "lch-10+4"}


def table() -> list[Cell]:
    """Return the cells with floors."""
    return [
        Cell(group="table", code=code, k=k, m=m, regime=regime, length=length, floor=floor)
        for code, shapes, floors in _TABLE
        for k, m in shapes
        for (regime, length), floor in zip(_PLACES, floors, strict=True)
    ]


def instruction_sets() -> list[Cell]:
    """Return the cells of the sets below the best one, each against the same set of ISA-L."""
    shapes = ((10, 4), (8, 4), (16, 8))
    sets = ("avx2", "avx512", "gfni_avx2")
    return [
        Cell(group="isa", code="cauchy", k=k, m=m, length=4096, isa=isa) for isa in sets for k, m in shapes
    ]


def small() -> list[Cell]:
    return [
        Cell(group="small", code="cauchy", k=10, m=4, length=length) for length in (63, 64, 128, 256, 512)
    ]


def by_length() -> list[Cell]:
    resident = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536)
    places = [*(("resident", n) for n in resident), *(("dram", n) for n in (512, 1024, 4096, 16384, 65536))]
    codes = ("cauchy", "lch")
    return [
        Cell(group="length", code=code, k=10, m=4, regime=regime, length=length)
        for code in codes
        for regime, length in places
    ]


def by_k() -> list[Cell]:
    return [
        Cell(group="k", code=code, k=k, m=4, length=4096)
        for code in ("cauchy", "lch")
        for k in (4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 48)
    ]


def two_threads() -> list[Cell]:
    shapes = (("cauchy", 10, 4), ("cauchy", 12, 4), ("cauchy", 48, 4), ("lch", 10, 4))
    return [
        Cell(group="threads", code=code, k=k, m=m, regime=regime, length=length, threads=2)
        for code, k, m in shapes
        for regime, length in _PLACES
    ]


def packets() -> list[Cell]:
    """Return the cells that compare packet layout with Jerasure's schedules and with the ordinary layout."""
    sizes = ((4096, 512), (65536, 1024))
    return [
        Cell(group="packets", code="cauchy_good", k=k, m=m, length=length, isa=isa, packet=packet)
        for isa in ("avx2", "avx512")
        for k, m in ((6, 3), (10, 4))
        for length, packet in sizes
    ]


def batches() -> list[Cell]:
    """Return the cells that compare batch calls with a call for each stripe, of gfsmith and of ISA-L."""
    lengths = (256, 512, 1024, 2048, 4096, 16384)
    places = [*(("dram", n) for n in lengths), ("resident", 64), ("resident", 1024)]
    named = (("cauchy", 10, 4), ("backblaze", 8, 4), ("cauchy", 8, 8))
    at_run_time = (("decode", 10, 4), ("dense", 6, 3), ("dense", 20, 4))
    return [
        Cell(group="batch", code=code, k=k, m=m, regime=regime, length=length, batch=True)
        for code, k, m in (*named, *at_run_time)
        for regime, length in places
    ]


def wide() -> list[Cell]:
    """Return the cells of codes with many parities. The default set has no streaming kernels for these
    shapes (docs/codes.md#wide-codes)."""
    return [
        Cell(group="wide", code="lch", k=k, m=m, regime=regime, length=length)
        for k, m in ((64, 64), (128, 64), (64, 128), (200, 55))
        for regime, length in _PLACES
    ]


def host_set(features: frozenset[str]) -> str:
    """Return the best measured set of a CPU with these features (Isa.cpu_flags), or the lowest set."""
    usable = (name for name in PORT if set(BY_NAME[name].cpu_flags) <= features)
    return next(usable, list(PORT)[-1])


def on_host(cells: Iterable[Cell], isa: str) -> list[Cell]:
    """Return the cells with `isa`, the best set of the CPU, in place of BEST. Cells that name their
    contenders keep them. The floors of the table were set for BEST; elsewhere no peer may be ahead."""
    if isa == BEST:
        return list(cells)
    return [
        replace(cell, isa=isa, floor=cell.floor and _FLOOR_ELSEWHERE)
        if cell.isa == BEST and not cell.who
        else cell
        for cell in cells
    ]


def full() -> list[Cell]:
    return [
        *table(),
        *instruction_sets(),
        *small(),
        *by_length(),
        *by_k(),
        *two_threads(),
        *packets(),
        *batches(),
        *wide(),
    ]


def quick() -> list[Cell]:
    """Return the resident half of the table, some DRAM cells, small calls and instruction sets."""
    chosen = [c for c in table() if c.regime == "resident" or f"{c.code}-{c.k}+{c.m}" in _QUICK_DRAM]
    sets = [c for c in instruction_sets() if c.k == 10]
    layouts = [c for c in packets() if c.k == 10 and c.length == 4096]
    return [*chosen, *sets, *small(), *layouts]


def _peers(cell: Cell) -> Iterable[str]:
    if cell.packet is not None:
        yield from (f"jerasure:packet{cell.packet}", f"~isal:{ISAL_NAME[cell.isa]}")
        return
    if cell.group == "isa":
        yield f"isal:{ISAL_NAME[cell.isa]}"
        return
    yield from (*(f"isal:{isa}" for isa in _ISAL_PEERS[cell.isa]), "klauspost:serial")
    yield "!klauspost:parallel" if cell.threads > 1 else "klauspost:parallel"
    yield "~klauspost:leopard"
    yield "rust:erasure" if cell.code == "backblaze" else "~rust:erasure"
    yield from ("~rust:simd", "jerasure:default")


def contenders(cell: Cell, libraries: Iterable[str]) -> list[str]:
    """Return the contenders in the driver's notation; gfsmith first."""
    if cell.who:
        built = (*libraries, "gfsmith", "algebra", "legacy")
        return [name for name in cell.who if name.split(":")[0] in built]
    peers = [p for p in _peers(cell) if p.lstrip("~!").split(":")[0] in libraries]
    own, limits = [cell.own], ["limit:columns", "limit:blocks", "limit:rows", "limit:shape"]
    if cell.loops:
        hinted = [f"gfsmith:{cell.isa}+streaming"] if cell.regime == "dram" else []
        return [*own, *hinted, *peers, *cell.loops, cell.probe, CLOCK]
    if cell.packet is not None:
        own.append(f"~gfsmith:{cell.isa}")
    if cell.batch:
        own += [f"gfsmith:{cell.isa}", f"gfsmith:{cell.isa}+prefetch"]
    elif cell.regime == "dram":
        own.append(f"gfsmith:{cell.isa}+streaming")
    if cell.regime == "dram":
        limits += ["limit:columns-stream", "limit:blocks-stream", "limit:rows-stream"]
        limits += ["limit:shape-stream", "limit:steps", "limit:steps-stream"]
        limits += [f"limit:{path}-wide" for path in ("rows", "shape", "steps")]
    return [*own, *peers, *limits, cell.probe]


def plan_line(cell: Cell, effort: Effort, libraries: Iterable[str]) -> str:
    """Return the cell in the form that the driver reads (bench/driver/plan.c)."""
    fields = [cell.id, cell.code, cell.k, cell.m, cell.length, cell.regime, effort.rounds]
    fields += [effort.resident if cell.regime == "resident" else effort.dram]
    fields += [hexadecimal(cell.code, cell.k, cell.m), *contenders(cell, libraries)]
    return " ".join(str(field) for field in fields)
