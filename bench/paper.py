"""Measurement of Table I of Drucker, Gueron, Krasnov, "The comeback of Reed Solomon codes": GFNI over AVX2
tables.

The paper had no CPU with GFNI. It replaced the table look-ups in ISA-L's AVX2 kernels by vpmuldq, which it
expected to be as fast as the future instructions, and timed ISA-L's performance tests on a Kaby Lake. This
bench runs the same five functions of gfsmith and of ISA-L unchanged, all with coefficients that are known at
run time only.

Shapes are those of ISA-L's current tests (2.32), in cache: gf_vect_mul and gf_vect_dot_prod of 8 KiB, the
latter of 10 sources; one source of 8 KiB for mad, which has no test of its own; 10+4 and 128 KiB in total for
encoding, where erasure_code_update_perf encodes and updates (erasure_code_perf's default is 8+6).
A second table has the functions of gfsmith_algebra.h: each set with GFNI over the portable routines and over
AVX2, that is, over the instructions that the paper calls legacy (bench/driver/algebra_avx2.c, intrinsics).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.cells import Cell
from bench.results import Result
from gfsmith.explore.stats import Estimate

GROUPS = ("paper", "algebra")
_WARM = 8 * 1024
_STRIPE = 128 * 1024 // 14 // 64 * 64

_OURS = ("gfni_avx512", "gfni_avx2", "avx2")
_SETS = ("gfni_avx512", "gfni_avx2", "gfni_sse", "scalar")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of Table I. predicted: the paper's speed-up. ours, isal: the suffix after the set in a
    contender's name; tables: ISA-L's set with look-ups; isal_sets: those with GFNI."""

    name: str
    k: int
    m: int
    length: int
    predicted: float
    ours: str = ""
    isal: str = ""
    tables: str = "avx2"
    isal_sets: tuple[str, ...] = ("avx512_gfni", "avx2_gfni")

    @property
    def cell(self) -> Cell:
        own = [f"gfsmith:{isa}{self.ours}" for isa in _OURS]
        peers = [f"isal:{isa}{self.isal}" for isa in (*self.isal_sets, self.tables)]
        who = (*own, *peers)
        return Cell(
            group="paper", code="dense", k=self.k, m=self.m, length=self.length, name=self.name, who=who
        )


ROWS = (
    Row("gf_vect_mul", 1, 1, _WARM, 1.31, "", "+mul", "avx", ("avx2_gfni",)),
    Row("gf_vect_dot_prod", 10, 1, _WARM, 1.4),
    Row("gf_vect_mad", 1, 1, _WARM, 1.1, "+update", "+update"),
    Row("encode", 10, 4, _STRIPE, 1.834),
    Row("encode update", 10, 4, _STRIPE, 1.11, "+update", "+update"),
)

_FUNCTIONS = {
    "multiply": 2,
    "invert": 1,
    "polynomials8": 2,
    "polynomials16": 2,
    "polynomials32": 2,
    "matrices8": 2,
    "matrices64": 2,
}


def cells() -> list[Cell]:
    """Return the rows of Table I, and the functions of gfsmith_algebra.h on 8 KiB of each operand."""
    own = [
        Cell(
            group="algebra",
            code=name,
            k=sources,
            m=1,
            length=_WARM,
            name=name,
            who=(*(f"algebra:{isa}+{name}" for isa in _SETS), f"legacy:{name}"),
        )
        for name, sources in _FUNCTIONS.items()
    ]
    return [*(row.cell for row in ROWS), *own]


@dataclass(frozen=True, slots=True)
class Listing:
    """A table: the first column is text, the others are figures."""

    title: str
    headings: tuple[str, ...]
    rows: list[list[str]]
    notes: str


def _ratio(value: Estimate | None) -> str:
    return f"{value.median:.2f} ({value.low:.2f}..{value.high:.2f})" if value else "-"


def _row(row: Row, result: Result) -> list[str]:
    pairs = result.pairs or {}

    def over(library: str, isa: str, end: str, tables: str) -> str:
        return _ratio(pairs.get(f"{library}:{isa}{end}/{library}:{tables}{end}"))

    return [
        row.name,
        f"{row.predicted:.2f}",
        *(over("gfsmith", isa, row.ours, "avx2") for isa in ("gfni_avx2", "gfni_avx512")),
        *(over("isal", isa, row.isal, row.tables) for isa in ("avx2_gfni", "avx512_gfni")),
        _ratio(pairs.get(f"gfsmith:gfni_avx512{row.ours}/isal:{row.isal_sets[0]}{row.isal}")),
    ]


def _table_one(results: Sequence[Result]) -> Listing:
    found = {result.cell.name: result for result in results}
    return Listing(
        "Table I of the paper: GFNI over AVX2's tables",
        (
            *("function", "predicted", "gfsmith 256 bits", "gfsmith 512 bits"),
            *("ISA-L 256 bits", "ISA-L 512 bits", "gfsmith/ISA-L"),
        ),
        [_row(row, found[row.name]) for row in ROWS if row.name in found],
        "Speed with GFNI over speed with AVX2 and tables, and at last gfsmith's best over ISA-L's best "
        "(below 1, ISA-L is ahead): medians of ratios within a round, with intervals. ISA-L's gf_vect_mul "
        "has AVX at most for tables, and no kernel for 512 bits.",
    )


def _functions(results: Sequence[Result]) -> Listing:
    rows = []
    for result in results:
        name, pairs = result.cell.name, result.pairs or {}
        scalar, legacy = f"algebra:scalar+{name}", f"legacy:{name}"
        speeds = [
            f"{speed.median / result.cell.k:.3f}" if (speed := result.gbps.get(who)) else "-"
            for who in (scalar, legacy)
        ]
        over = [(isa, scalar) for isa in reversed(_SETS[:-1])]
        over += [("gfni_avx2", legacy), ("gfni_avx512", legacy)]
        ratios = [_ratio(pairs.get(f"algebra:{isa}+{name}/{base}")) for isa, base in over]
        rows.append([name, *speeds, *ratios])
    return Listing(
        "gfsmith_algebra.h: GFNI over the portable routines and over AVX2",
        (
            *("function", "portable GB/s", "AVX2 GB/s", "128 bits/portable", "256 bits/portable"),
            *("512 bits/portable", "256 bits/AVX2", "512 bits/AVX2"),
        ),
        rows,
        "Field 0x11d; GB/s of results; the other columns are ratios of speed, medians within a round with "
        "intervals. AVX2 is 256 bits without GFNI, written with intrinsics for this comparison.",
    )


def listings(results: Sequence[Result]) -> Iterator[Listing]:
    """Yield the tables of the measured rows."""
    for group, make in zip(GROUPS, (_table_one, _functions), strict=True):
        members = [result for result in results if result.cell.group == group]
        if members:
            yield make(members)
