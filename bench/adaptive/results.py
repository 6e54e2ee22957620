"""results.json: the measurements by cell, from which an interrupted run continues."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from bench.adaptive.judge import against_best, behind
from bench.adaptive.measure import Measured, Samples
from bench.adaptive.plan import ADAPTIVE, CODE, DEFAULT, ISAL, ISAL_D, SPLIT, XOR_CODES, Effort, Setting
from bench.adaptive.recovery import WINDOW, Change, Phase
from bench.result_store import Json
from gfsmith.explore.stats import CONFIDENCE, Estimate, paired_ratio

#: Tables of the file. `again` has the cells in which the policy was behind, from a second process.
TABLES = ("cells", "changes", "again")

#: Keys of the gains over XOR-based codes, and the contenders.
XOR_GAINS = tuple((code, code) for code in XOR_CODES)

#: Rounds of a phase that become one point of the picture.
POINT = 20


def _figures(estimate: Estimate) -> list[float]:
    """Return median, low and high."""
    return [round(value, 4) for value in (estimate.median, estimate.low, estimate.high)]


def cell_json(one: Measured) -> Json:
    """Return the record of a cell. Ratios of times are adaptive / other, so above 1 the adaptive one is
    slower, except "gain_*": the other's time over the adaptive one's."""
    cell, ns = one.cell, one.final
    volume = cell.k * cell.length
    best = against_best(ns, ADAPTIVE, one.static)
    gains = {
        f"gain_{word}": _figures(paired_ratio(ns[name], ns[ADAPTIVE]))
        for word, name in (("default", DEFAULT), ("isal", ISAL), ("isal_d", ISAL_D), *XOR_GAINS)
        if name in ns
    }
    reference = one.screened[DEFAULT]
    speeds = {
        name.removeprefix("policy:"): round(
            statistics.median(d / t for d, t in zip(reference, times, strict=True)), 3
        )
        for name, times in one.screened.items()
    }
    return {
        "k": cell.k,
        "m": cell.m,
        "length": cell.length,
        "threads": cell.threads,
        "order": cell.order,
        "policy": one.settling.policy,
        "policy_at_the_end": one.end,
        "settled": one.settling.quiet,
        "settled_calls": one.settling.calls,
        "settled_milliseconds": round(1000 * one.settling.seconds, 1),
        "changes": one.settling.changes,
        "over_static_best": _figures(best.ratio),
        "static_best": [name.removeprefix("policy:") for name in best.winners],
        **gains,
        "cost": _figures(paired_ratio(ns[ADAPTIVE], ns[one.same])),
        "gigabytes_per_second": {
            name.removeprefix("policy:"): round(volume / statistics.median(times), 3)
            for name, times in ns.items()
        },
        "screening": dict(sorted(speeds.items(), key=lambda item: -item[1])),
        "unavailable": one.unavailable,
    }


def is_behind(cell: Json) -> bool:
    """Return whether a record of cell_json has a median more than the margin behind the static best."""
    return behind(Estimate(*cell["over_static_best"]))


def _line(phase: Phase, name: str) -> list[float]:
    """Return GB/s over the rounds of a phase, medians of a few rounds each."""
    volume, times = phase.state.cell.k * phase.state.cell.length, phase.ns[name]
    parts = [times[n : n + POINT] for n in range(0, len(times), POINT)]
    return [round(volume / statistics.median(part), 2) for part in parts]


def _half(values: Sequence[float]) -> Sequence[float]:
    return values[len(values) // 2 :]


def change_json(change: Change, phases: Sequence[Phase]) -> Json:
    """Return the record of a change: calls until within the margin, and all contenders' speeds over time."""

    def late(ns: Samples, name: str, phase: Phase) -> list[float]:
        return _figures(paired_ratio(_half(ns[name]), _half(ns[phase.best])))

    return {
        "what": change.what,
        "phases": [
            {
                "state": phase.state.words(),
                "static_best": phase.best.removeprefix("policy:"),
                "other_best": phase.other.removeprefix("policy:"),
                "calls_in_a_round": phase.calls,
                "recovered_after_calls": phase.recovered,
                "policies": phase.policies,
                "second_half_over_static_best": {
                    "adaptive": late(phase.ns, ADAPTIVE, phase),
                    "default": late(phase.ns, DEFAULT, phase),
                    "other_best": late(phase.ns, phase.other, phase),
                },
                "gigabytes_per_second": {
                    "adaptive": _line(phase, ADAPTIVE),
                    "default": _line(phase, DEFAULT),
                    "static_best": _line(phase, phase.best),
                    "other_best": _line(phase, phase.other),
                },
            }
            for phase in phases
        ],
    }


def method(setting: Setting, effort: Effort) -> Json:
    """Return the settings of the measurement that a result depends on."""
    return {
        "code": CODE,
        "isal_d_sources": SPLIT,
        "pool_mib": setting.pool,
        "stagger_bytes": setting.stagger,
        "pages": setting.pages,
        "interval": f"order statistics, {CONFIDENCE:.0%}",
        "window_rounds": WINDOW,
        "effort": effort.as_json(),
    }
