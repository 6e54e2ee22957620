"""The paper's observations (section 3) on the model, all claims, and the data of the pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from research.memory import evaluation
from research.memory.claims import Claim, condition, excess, ratio
from research.memory.systems import HALF, THREAD_COUNTS, Setting, dialga, isal, off, percent

KS = (4, 8, 12, 16, 20, 24, 28, 32, 33, 36, 48, 64)
GIGAHERTZ = (1.0, 1.5, 2.0, 2.5, 3.0, 3.3)
LENGTHS = (256, 512, 1024, 2048, 3072, 4096, 5120)


def observation1() -> Iterator[Claim]:
    where, pm, dram = "observation 1", Setting(8), Setting(8, device="dram-2666")
    gap = isal(off(dram)).gbps / isal(off(pm)).gbps
    yield ratio(where, "DRAM over PM, RS(12, 8), 1 KiB, no prefetcher", 2.95, 3.72, gap, True)
    on = isal(dram).gbps / isal(pm).gbps
    yield ratio(where, "DRAM over PM with the prefetcher", 2.95, 3.72, on)
    for name, s, paper in (("DRAM", dram, 2.09), ("PM", pm, 1.50)):
        gain = isal(s).gbps / isal(off(s)).gbps
        yield ratio(where, f"gain of the prefetcher on {name}", paper, paper, gain)


def _pages(k: int, prefetcher: str) -> Setting:
    return Setting(k, length=4096, prefetcher=prefetcher)


def observation3(prefetcher: str = "stream32", limit: int = 32) -> Iterator[Claim]:
    where = "observation 3"
    speed = {k: isal(_pages(k, prefetcher)).gbps for k in KS}
    low = [k for k in KS if k <= 16]
    rising = all(speed[a] < speed[b] for a, b in pairwise(low))
    yield condition(
        where, "k < 16: low and rising; model: speed at 16 over that at 4", speed[16] / speed[4], rising
    )
    best = max(KS, key=lambda k: speed[k])
    yield condition(where, f"k = 16 .. {limit} is best; model: the best k", best, 16 <= best <= limit, True)
    after = [k for k in KS if k > limit] or [limit + 1]
    beyond = max(isal(_pages(k, prefetcher)).gbps for k in after) / speed[24]
    yield condition(
        where,
        f"k > {limit}: extremely low (here: under half of k = 24); model: the ratio",
        beyond,
        beyond < 0.5,
    )
    wide = isal(_pages(48, prefetcher))
    share = wide.hardware / wide.loaded
    yield condition(where, "k > 32: prefetching near zero (here: under 5 % of loads)", share, share < 0.05)
    narrow, wider = (isal(_pages(k, prefetcher)) for k in (8, 24))
    waste = [r.useless / max(r.hardware, 1) for r in (narrow, wider)]
    yield condition(
        where,
        "useless prefetches become fewer with k; model: their share at k = 8",
        waste[0],
        waste[0] > waste[1],
    )


def newer() -> Iterator[Claim]:
    """Yield the claim that the limit moves with 64 streams."""
    at, past = (isal(_pages(k, "stream64")).gbps for k in (64, 65))
    yield condition(
        "observation 3",
        "64 streams on newer cores; model: speed at k = 65 over k = 64",
        past / at,
        past < 0.5 * at,
    )


def observation4() -> Iterator[Claim]:
    where = "observation 4"
    for length in LENGTHS:
        s = Setting(24, length=length)
        gain, waste = isal(s).gbps / isal(off(s)).gbps, percent(isal(s).media_ratio)
        if length < 1024:
            yield condition(
                where, f"{length} B: the prefetcher has no effect", gain, abs(gain - 1) < 0.05, True
            )
            yield condition(where, f"{length} B: no excess reads (%)", waste, waste < 2, True)
        elif length < 4096:
            yield condition(where, f"{length // 1024} KiB: the prefetcher helps", gain, gain > 1.1, True)
            yield excess(where, f"{length // 1024} KiB: excess reads (%)", 23, 37, waste, True)
        elif length == 4096:
            yield condition(where, "4 KiB: no excess reads (%)", waste, waste < 2)
        else:
            whole = Setting(24, length=4096)
            most = isal(whole).gbps / isal(off(whole)).gbps
            yield condition(
                where, "5 KiB: the prefetcher helps less than at 4 KiB", gain / most, 1 < gain < most
            )
            yield condition(where, "5 KiB: some excess reads (%)", waste, waste > 2)


def observation5() -> Iterator[Claim]:
    where = "observation 5"
    on = {n: isal(Setting(24, length=4096, threads=n)).gbps for n in THREAD_COUNTS}
    alone = {n: isal(off(Setting(24, length=4096, threads=n))).gbps for n in THREAD_COUNTS}
    more = on[18] / on[10]
    yield condition(
        where, "plateau from 8 to 10 threads (here: 18 gain less than 15 % over 10)", more, more < 1.15
    )
    yield condition(
        where, "up to there it scales (here: 8 are over 3 times as fast)", on[8] / on[1], on[8] > 3 * on[1]
    )
    linear = alone[18] / (18 * alone[1])
    yield condition(
        where, "linear without the prefetcher (here: 18 threads reach over 80 %)", linear, linear > 0.8, True
    )


def frequency_gain(s: Setting) -> float:
    """Return the speed of ISA-L at 3.3 GHz over that at 2 GHz."""
    low, high = (isal(replace(s, ghz=ghz)).gbps for ghz in (2.0, 3.3))
    return high / low


def observation2() -> Iterator[Claim]:
    """Yield the claims about figure 4."""
    where, pm, dram = "figure 4", Setting(8), Setting(8, device="dram-2666")
    slow, fast = frequency_gain(pm), frequency_gain(dram)
    yield condition(where, "PM: minimal gain above 2 GHz (here: under 10 % at 3.3 GHz)", slow, slow < 1.1)
    yield condition(where, "DRAM gains more; model: 3.3 GHz over 2 GHz", fast, fast > slow)
    other_slow, other_fast = (frequency_gain(replace(s, vector=HALF)) for s in (pm, dram))
    half, grows = other_fast / other_slow, other_fast / other_slow > fast / slow
    yield condition(
        where,
        "this difference grows with 256-bit vectors; model: their DRAM over PM",
        half,
        grows,
    )


PARTS: tuple[Callable[[], Iterator[Claim]], ...] = (
    observation1, observation2, observation3, newer, observation4, observation5, *evaluation.PARTS,
)  # fmt: skip


def curves() -> dict[str, list[list[float]]]:
    """Return the data of figures 4, 5, 6 and 7."""
    found: dict[str, list[list[float]]] = {"frequency": [], "k": [], "length": [], "threads": []}
    for ghz in GIGAHERTZ:
        memories = [Setting(8, ghz=ghz, device=device) for device in ("optane-100", "dram-2666")]
        half = [replace(each, vector=HALF) for each in memories]
        found["frequency"].append([ghz, *(isal(each).gbps for each in memories + half)])
    for k in KS:
        s = Setting(k, length=4096)
        found["k"].append([k, isal(s).gbps, isal(off(s)).gbps, isal(replace(s, prefetcher="stream64")).gbps])
    for length in LENGTHS:
        s = Setting(24, length=length)
        found["length"].append([length, isal(s).gbps, isal(off(s)).gbps, percent(isal(s).media_ratio)])
    for n in THREAD_COUNTS:
        s, t = Setting(24, length=4096, threads=n), Setting(24, threads=n)
        wide = Setting(48, threads=n)
        found["threads"].append(
            [
                n,
                isal(s).gbps,
                isal(off(s)).gbps,
                isal(t).gbps,
                dialga(t).gbps,
                isal(wide).gbps,
                dialga(wide).gbps,
            ]
        )
    return {name: [[round(v, 3) for v in row] for row in rows] for name, rows in found.items()}
