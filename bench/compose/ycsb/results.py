"""The records of YCSB's runs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from bench.compose.plan import COMPOSED, INCOHERENT
from bench.compose.ycsb.client import Figures
from bench.compose.ycsb.study import Found, Study


def spread(values: Sequence[float]) -> list[float]:
    """Return median, least and greatest value: with few rounds, the whole range is shown."""
    return [float(f"{value:.5g}") for value in (statistics.median(values), min(values), max(values))]


def _percentiles(rounds: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    return {
        name: spread([one[name] for one in rounds]) for name in rounds[0] if all(name in r for r in rounds)
    }


def _figures(rounds: Sequence[Figures]) -> dict[str, Any]:
    return {
        "throughput": spread([one.throughput for one in rounds]),
        "read": _percentiles([one.read for one in rounds]),
        "update": _percentiles([one.update for one in rounds]),
        "failed": sum(one.failed for one in rounds),
        "operations": sum(one.operations for one in rounds),
    }


def study_json(study: Study, found: Found) -> dict[str, Any]:
    """Return the record by workload and contender. gain: composed throughput over incoherent, round by
    round."""
    workloads: dict[str, Any] = {}
    for workload, contenders in found.rounds.items():
        workloads[workload] = {who: _figures(rounds) for who, rounds in contenders.items()}
        if COMPOSED in contenders:
            pairs = zip(contenders[COMPOSED], contenders[INCOHERENT], strict=True)
            workloads[workload]["gain"] = spread([a.throughput / b.throughput for a, b in pairs])
    return {
        "scheme": study.scheme,
        "shape": list(study.shape),
        "degraded": study.degraded,
        "lost": study.lost,
        "stripes": study.stripes,
        "value": study.value,
        "reads": {who: list(counts) for who, counts in found.reads.items()},
        "workloads": workloads,
    }
