"""Reported figures from samples: throughput, ratio to the fastest peer, limits."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

from bench.build import Built
from bench.cells import PORT, Cell
from bench.machine import describe
from bench.run import Samples, Setting
from gfsmith.explore.stats import CONFIDENCE, Estimate, estimate, paired_ratio

PROBE_OPERATIONS = 2048  #: bench/driver/contenders.h

#: Peers that always compute their own code: they are shown, but are a "fastest peer" only for "lch".
_OTHER_CODE = ("klauspost:leopard", "rust:simd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One cell. gbps: 10^9 bytes of source data per second, by contender.

    own: the gfsmith contender of the comparison; peer: the fastest one on the same matrix, None if there is
    none. ratio: peer's time / own time. limit: the fastest touch loop, which reads and writes the same
    bytes without computation; not an upper bound. ceiling: peer's time / that of the touch loop. port_bound:
    GB/s at which a dense product keeps its execution port busy. operations: multiplications for one
    vector of every source in gfsmith's kernel, if known. pairs: in a cell that names its contenders,
    "a/b" for any two of them: a's speed over b's.
    """

    cell: Cell
    named: bool
    unavailable: dict[str, str]
    gbps: dict[str, Estimate]
    own: str | None = None
    peer: str | None = None
    ratio: Estimate | None = None
    ratios: dict[str, Estimate] | None = None
    limit: str | None = None
    share_of_limit: Estimate | None = None
    ceiling: Estimate | None = None
    port_bound: float | None = None
    operations: int | None = None
    pairs: dict[str, Estimate] | None = None

    @property
    def meets_floor(self) -> bool | None:
        """Return whether the floor is met; None without a floor or a peer."""
        if self.cell.floor is None or self.ratio is None:
            return None
        return self.ratio.median >= self.cell.floor

    @property
    def peer_ahead(self) -> bool:
        """Return whether the whole interval is in favour of the peer."""
        return self.ratio is not None and self.ratio.high < 1


def same_code(cell: Cell, name: str) -> bool:
    """Return whether a peer is comparable: it computes the same bytes, or the code is arbitrary.

    "lch" is gfsmith's own choice, so a peer may use its own choice for the shape.
    """
    if cell.code == "lch":
        return True
    if cell.packet is not None:
        return name.startswith("jerasure:")
    return name not in _OTHER_CODE and (name != "rust:erasure" or cell.code == "backblaze")


def _fastest(ns: dict[str, list[float]], names: Iterable[str]) -> str | None:
    return min(names, key=lambda name: statistics.median(ns[name]), default=None)


def _own(cell: Cell, ns: dict[str, list[float]]) -> str:
    """Return gfsmith's contender; from memory the one with the hint, if the build has hints."""
    hinted = f"gfsmith:{cell.isa}+streaming"
    return hinted if hinted in ns else cell.own


def port_bound(cell: Cell, probe_ns: float) -> float:
    """Return the GB/s of a dense product that consists of its multiplications only.

    Each of k x m products takes a known number of instructions per vector of each of the k sources, and
    the probe measures the time of an instruction.
    """
    _, vector, instructions = PORT[cell.isa]
    return vector / (cell.m * instructions * probe_ns / PROBE_OPERATIONS)


def result(samples: Samples) -> Result:
    cell, ns = samples.cell, samples.ns
    timed = {name: values for name, values in ns.items() if not name.startswith("probe:")}
    volume = cell.k * cell.length
    gbps = {name: estimate([volume / value for value in values]) for name, values in timed.items()}
    if not gbps:
        return Result(cell=cell, named=samples.named, unavailable=samples.unavailable, gbps={})
    own = _own(cell, ns)
    peers = [name for name in timed if not name.startswith(("gfsmith:", "limit:")) and not cell.who]
    peer = _fastest(ns, [name for name in peers if same_code(cell, name)])
    limit = _fastest(ns, [name for name in timed if name.startswith("limit:")])
    probe = ns.get(cell.probe)
    return Result(
        cell=cell,
        named=samples.named,
        unavailable=samples.unavailable,
        gbps=gbps,
        own=own,
        peer=peer,
        ratio=paired_ratio(ns[peer], ns[own]) if peer else None,
        ratios={name: paired_ratio(ns[name], ns[own]) for name in timed if name != own},
        limit=limit,
        share_of_limit=paired_ratio(ns[limit], ns[own]) if limit else None,
        ceiling=paired_ratio(ns[peer], ns[limit]) if peer and limit else None,
        port_bound=port_bound(cell, statistics.median(probe)) if probe else None,
        pairs={
            f"{a}/{b}": paired_ratio(ns[b], ns[a]) for a, b in permutations(cell.who, 2) if {a, b} <= set(ns)
        },
    )


def _json_estimates(estimates: dict[str, Estimate] | None) -> dict[str, dict[str, float]]:
    return {name: value.as_json() for name, value in (estimates or {}).items()}


def as_json(result: Result) -> dict[str, object]:
    cell = result.cell
    return {
        "id": cell.id,
        "group": cell.group,
        "code": cell.code,
        "k": cell.k,
        "m": cell.m,
        "length": cell.length,
        "regime": cell.regime,
        "isa": cell.isa,
        "threads": cell.threads,
        "known_by_name": result.named,
        "gfsmith": result.own,
        "fastest_peer": result.peer,
        "ratio": result.ratio.as_json() if result.ratio else None,
        "floor": cell.floor,
        "meets_floor": result.meets_floor,
        "gigabytes_per_second": _json_estimates(result.gbps),
        "ratios": _json_estimates(result.ratios),
        "limit": result.limit,
        "share_of_limit": result.share_of_limit.as_json() if result.share_of_limit else None,
        "ceiling": result.ceiling.as_json() if result.ceiling else None,
        "dense_port_bound": round(result.port_bound, 2) if result.port_bound else None,
        "operations": result.operations,
        "unavailable": result.unavailable,
        "pairs": _json_estimates(result.pairs),
    }


def report(
    results: list[Result], built: Built, setting: Setting, versions: dict[str, str]
) -> dict[str, object]:
    """Return the content of report.json."""
    return {
        "method": {
            "unit": "10^9 bytes of source data per second; ratios are peer's time / gfsmith's time",
            "interval": f"order statistics, {CONFIDENCE:.0%}",
            "pool_mib": setting.pool,
            "pages": setting.pages,
            "stagger_bytes": setting.stagger,
        },
        "machine": describe(),
        "peers": {name: text for name, text in versions.items() if name in built.libraries},
        "missing_peers": built.missing,
        "cells": [as_json(one) for one in results],
    }
