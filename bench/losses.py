"""The cells in which a peer was ahead of gfsmith in an earlier measurement, for a repetition on another CPU.

They are a group of their own, which only `--only 'losses/*'` measures, because most are in other groups too.
The drop-in is compared with the functions of ISA-L that it replaces, and with the codec on the same matrix:
"dense" has no kernel of its own, so its coefficients are known at run time only.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.cells import BEST, Cell

_ISAL = ("isal:avx512_gfni", "isal:avx2_gfni")
_CODEC = (f"gfsmith:{BEST}", "gfsmith:gfni_avx2")
_REPLACEMENT = ("dropin:auto", *_ISAL, *_CODEC)
#: Code, k, m and bytes of a shard, for encoding by the drop-in.
_ENCODED = (
    *(("dense", 10, 4, length) for length in (64, 128, 256, 512, 4096)),
    *(("dense", k, m, length) for k, m in ((4, 2), (6, 3), (10, 1)) for length in (64, 512)),
    *(("cauchy", 10, 4, length) for length in (64, 512)),
    *(("dense", k, 4, 65536) for k in (20, 48)),
)


def _codec() -> Iterator[Cell]:
    for length in (64, 128, 256):
        yield Cell(group="losses", code="cauchy", k=10, m=4, length=length)
    for k in (16, 20, 24, 32):
        yield Cell(group="losses", code="cauchy", k=k, m=4, length=4096)
    for k, m in ((128, 64), (64, 128)):
        for regime, length in (("resident", 4096), ("dram", 1024), ("dram", 65536)):
            yield Cell(group="losses", code="lch", k=k, m=m, regime=regime, length=length)
    yield Cell(group="losses", code="decode", k=10, m=4, length=64)


def _at_run_time() -> Iterator[Cell]:
    """Yield the cells of Table I (paper.py) in which ISA-L was ahead."""
    for name, k, m, length, update in (
        ("one output", 10, 1, 8192, ""),
        ("mad", 1, 1, 8192, "+update"),
        ("update", 10, 4, 9344, "+update"),
    ):
        who = tuple(f"{each}{update}" for each in (*_CODEC, *_ISAL))
        yield Cell(group="losses", code="dense", k=k, m=m, length=length, name=name, who=who)


def _replacement() -> Iterator[Cell]:
    for code, k, m, length in _ENCODED:
        name = f"drop-in {code}"
        yield Cell(group="losses", code=code, k=k, m=m, length=length, name=name, who=_REPLACEMENT)
    for length in (64, 128, 512, 4096):
        who = tuple(f"{each}+update" for each in _REPLACEMENT)
        yield Cell(group="losses", code="dense", k=10, m=4, length=length, name="drop-in update", who=who)


def cells() -> list[Cell]:
    return [*_codec(), *_at_run_time(), *_replacement()]
