"""The paper's section 5 on the model: figures 10 to 19."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from research.memory.claims import Claim, condition, excess, ratio
from research.memory.packets import Task
from research.memory.systems import (
    HALF,
    THREAD_COUNTS,
    Setting,
    cerasure,
    dialga,
    isal,
    isal_d,
    off,
    percent,
    rows_only,
    zerasure,
)


def figure10() -> Iterator[Claim]:
    where = "figure 10"
    for k in (8, 12, 16):
        s = Setting(k)
        best = max(isal(s).gbps, isal_d(s).gbps)
        yield ratio(where, f"DIALGA over the best other, k = {k}", 1.539, 2.020, dialga(s).gbps / best)
    s = Setting(32)
    best = max(isal(s).gbps, isal_d(s).gbps)
    yield ratio(where, "the same, k = 32", 1.221, 1.221, dialga(s).gbps / best)
    for k in (48, 64):
        s = Setting(k)
        yield ratio(where, f"DIALGA over ISA-L, k = {k}", 2.936, 2.989, dialga(s).gbps / isal(s).gbps)
        yield ratio(where, f"ISA-L-D over ISA-L, k = {k}", 1.819, 1.980, isal_d(s).gbps / isal(s).gbps)


def figure12() -> Iterator[Claim]:
    where = "figure 12"
    for k, paper in ((8, 1.33), (24, 2.12)):
        s = Setting(k)
        yield ratio(
            where, f"the prefetcher's gain, k = {k}, 1 KiB", paper, paper, isal(s).gbps / isal(off(s)).gbps
        )
    for k in (8, 24):
        for length in (256, 512, 1024):
            s = Setting(k, length=length)
            gain = dialga(s).gbps / isal(s).gbps
            yield ratio(where, f"DIALGA over the best other, k = {k}, {length} B", 1.638, 2.805, gain)
    for k in (8, 24):
        s = Setting(k, length=4096)
        gain = dialga(s).gbps / isal(s).gbps
        yield condition(where, f"4 KiB: limited (here: under 25 %), k = {k}", gain, 1 <= gain < 1.25)
        s = Setting(k, length=5120)
        yield ratio(where, f"5 KiB, k = {k}", 1.082, 1.256, dialga(s).gbps / isal(s).gbps)


def figure13() -> Iterator[Claim]:
    where = "figure 13"
    one = {n: Setting(24, threads=n) for n in THREAD_COUNTS}
    ours, theirs = ({n: f(s).gbps for n, s in one.items()} for f in (dialga, isal))
    peak = max(theirs.values())
    yield condition(
        where, "RS(28, 24), 1 KiB: ISA-L's bottleneck: 8 threads (here: 90 % of its peak)", theirs[8] / peak,
        theirs[8] >= 0.9 * peak,
    )  # fmt: skip
    yield ratio(where, "DIALGA's peak over ISA-L's", 1.5, 1.5, max(ours.values()) / peak)
    whole = [Setting(24, length=4096, threads=n) for n in THREAD_COUNTS]
    gain = max(dialga(s).gbps / isal(s).gbps for s in whole if s.threads > 12)
    yield ratio(where, "4 KiB: at most, over 12 threads", 1.21, 1.21, gain)
    wide = [Setting(48, threads=n) for n in THREAD_COUNTS]
    for name, other, paper in (("ISA-L", isal, 2.828), ("ISA-L-D", isal_d, 2.403)):
        gain = max(dialga(s).gbps / other(s).gbps for s in wide)
        yield ratio(where, f"RS(52, 48), 1 KiB: at most over {name}", paper, paper, gain)
    falls = dialga(Setting(48, threads=18)).gbps / dialga(Setting(48, threads=10)).gbps
    yield condition(where, "RS(52, 48): falls after 10 threads; model: 18 over 10", falls, falls < 1)


def figure18() -> Iterator[Claim]:
    where = "figure 18"
    for k in (8, 24, 48):
        s = Setting(k)
        vanilla, software, both = isal(off(s)).gbps, rows_only(off(s)).gbps, rows_only(s).gbps
        yield ratio(where, f"software prefetch alone, k = {k}", 1.294, 1.486, software / vanilla)
        if k < 32:
            yield ratio(where, f"with hardware prefetch too, k = {k}", 1.086, 1.159, both / software)
        yield ratio(where, f"with two distances too, k = {k}", 1.183, 1.293, dialga(s).gbps / both)


def figure19() -> Iterator[Claim]:
    where = "figure 19"
    one, many = Setting(24), Setting(24, threads=18)
    yield excess(where, "ISA-L, 1 thread: media (%)", 22.3, 22.3, percent(isal(one).media_ratio))
    yield excess(where, "ISA-L, 18 threads: media (%)", 65.8, 65.8, percent(isal(many).media_ratio))
    less = 1 - percent(dialga(many).media_ratio) / percent(isal(many).media_ratio)
    yield excess(where, "DIALGA, 18 threads: of this it avoids (%)", 76.7, 76.7, 100 * less)
    more = dialga(one).controller / isal(one).controller
    yield condition(where, "1 thread: DIALGA reads more over the bus than ISA-L", more, more > 1)


def baselines() -> Iterator[Claim]:
    """Yield the claims about the libraries for XOR-based codes, with AVX2, where the others have AVX-512."""
    where = "figure 10"
    for k in (8, 12, 16):
        s = Setting(k)
        slow, ours, other = zerasure(s).gbps, cerasure(s).gbps, isal(s).gbps
        yield condition(
            where, f"Zerasure is slowest, k = {k}; model: over ISA-L", slow / other, slow < min(ours, other)
        )
        yield condition(where, f"Cerasure over ISA-L, k = {k}: below 1", ours / other, ours < other)
    for k in (48, 64):
        s = Setting(k)
        yield ratio(where, f"Cerasure over ISA-L, k = {k}", 1.489, 1.532, cerasure(s).gbps / isal(s).gbps)


def _over_best(s: Setting) -> float:
    """Return the speed of DIALGA over that of the best other system."""
    return dialga(s).gbps / max(other(s).gbps for other in (isal, isal_d, cerasure))


def figure11() -> Iterator[Claim]:
    where = "figure 11"
    near, more = (cerasure(s).gbps / isal(s).gbps for s in (Setting(24, m=2), Setting(24)))
    yield condition(
        where, "m = 2: Cerasure close to ISA-L (here: within 15 %), k = 24", near, abs(near - 1) < 0.15
    )
    yield condition(
        where, "Cerasure falls behind as m grows; model: m = 4 over m = 2, k = 24", more / near, more < near
    )
    for k in (8, 24, 48):
        for m in (2, 3, 4):
            best = _over_best(Setting(k, m=m))
            yield ratio(where, f"DIALGA over the best other, k = {k}, m = {m}", 1.201, 1.966, best)
    stable = dialga(Setting(48)).gbps / dialga(Setting(48, m=2)).gbps
    yield condition(
        where, "k = 48: minimal loss as m grows (here: m = 4 keeps 85 % of m = 2)", stable, stable > 0.85
    )


def figure14() -> Iterator[Claim]:
    """Yield the claims about four lost chunks."""
    where = "figure 14"
    for k in (8, 16, 24):
        s = Setting(k, task=Task.DECODE)
        yield ratio(
            where, f"decoding: DIALGA over ISA-L, k = {k}", 1.761, 1.881, dialga(s).gbps / isal(s).gbps
        )
        gain = dialga(s).gbps / cerasure(s).gbps
        yield ratio(where, f"decoding: DIALGA over Cerasure, k = {k}", 2.421, 4.407, gain)
    dense, sparse = cerasure(Setting(24, task=Task.DECODE)).gbps, cerasure(Setting(24)).gbps
    yield condition(
        where, "Cerasure decodes more slowly than it encodes, k = 24", dense / sparse, dense < sparse
    )


def figure15() -> Iterator[Claim]:
    where = "figure 15"
    for k in (8, 24, 48):
        wide = Setting(k)
        half = replace(wide, vector=HALF)
        for name, system, low, high in (("ISA-L", isal, 0.764, 0.877), ("DIALGA", dialga, 0.689, 0.751)):
            loss = system(half).gbps / system(wide).gbps
            yield ratio(where, f"{name}: 256-bit over 512-bit vectors, k = {k}", low, high, loss)
        best = max(isal(half).gbps, cerasure(half).gbps)
        gain = dialga(half).gbps / best
        yield ratio(where, f"256-bit: DIALGA over the best other, k = {k}", 1.375, 2.044, gain)


def figure16() -> Iterator[Claim]:
    """Yield the claims about local codes with two groups."""
    where = "figure 16"
    for k, low, high in ((8, 1.243, 1.327), (24, 1.243, 1.327), (48, 1.352, 1.378)):
        s = Setting(k, task=Task.LOCAL)
        yield ratio(where, f"LRC({k}, 4, 2): DIALGA over the best other", low, high, _over_best(s))
    for name, system in (("ISA-L", isal), ("DIALGA", dialga)):
        loss = system(Setting(24, task=Task.LOCAL)).gbps / system(Setting(24)).gbps
        yield condition(where, f"{name} is slower than without local parities, k = 24", loss, loss < 1)


def figure17() -> Iterator[Claim]:
    """Yield the claims about cycles of cache misses: here the time for which a load held up the core."""
    where = "figure 17"
    saved = {k: dialga(Setting(k)).stall / isal(Setting(k)).stall for k in (8, 24)}
    yield ratio(where, "RS(12, 8): ISA-L's cycles of misses over DIALGA's", 2, 2, 1 / saved[8])
    yield condition(
        where, "RS(28, 24): DIALGA saves less than at RS(12, 8); model: its part of ISA-L's", saved[24],
        saved[8] < saved[24] < 1,
    )  # fmt: skip
    wide = Setting(48)
    part = dialga(wide).stall / isal_d(wide).stall
    yield ratio(where, "RS(52, 48): DIALGA's over those of ISA-L-D", 0.647, 0.647, part)


PARTS: tuple[Callable[[], Iterator[Claim]], ...] = (
    figure10, baselines, figure11, figure12, figure13, figure14, figure15, figure16, figure17, figure18,
    figure19,
)  # fmt: skip
