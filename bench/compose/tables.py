"""The tables of bench/results/compose.md."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bench.compose.fits import Graph, latency_cells, product_seconds, projection, slopes
from bench.compose.model import TOLERANCE
from bench.compose.plan import COMPOSED, CONTENDERS, KIB, LOST, MIB, NAMES, size
from bench.compose.quantiles import PERCENTILES, verdict
from bench.compose.results import estimate_of
from bench.result_store import Json, table

#: The paper's three groups of chunk sizes (section IV-A).
GROUPS = {"small": (0, 8 * KIB), "medium": (8 * KIB, 512 * KIB), "large": (512 * KIB, 16 * MIB)}
PROJECTED = (8 * KIB, 128 * KIB, 2 * MIB, 16 * MIB)


def name(cell: Json) -> str:
    return f"{NAMES[cell['scheme']]} {cell['shape'].replace(',', '+')} {cell['task']}"


def microseconds(value: float) -> str:
    """Return a time with three significant digits and a suitable unit."""
    if value < 1000:
        return f"{value:.3g} us"
    return f"{value / 1000:.3g} ms" if value < 1e6 else f"{value / 1e6:.3g} s"


def times(kept: Sequence[float]) -> str:
    """Return a ratio with its interval."""
    return f"{kept[0]:.2f} ({kept[1]:.2f}..{kept[2]:.2f})"


def _grouped(cells: Sequence[Json], group: str) -> list[Json]:
    above, upto = GROUPS[group]
    return [cell for cell in cells if above < cell["length"] <= upto]


def summary(content: Json) -> Iterator[str]:
    """Yield the table of the numbers of cells in which composed is significantly faster, significantly
    slower, or neither."""
    cells, rows = latency_cells(content), []
    for group, (_, upto) in GROUPS.items():
        for task in ("encode", "repair"):
            some = [cell for cell in _grouped(cells, group) if cell["task"] == task]
            fields = []
            for percentile in PERCENTILES:
                kept = [c["ratio"][f"p{percentile}"] for c in some if f"p{percentile}" in c["ratio"]]
                signs = Counter(verdict(estimate_of(one)) for one in kept)
                fields.append(f"{signs[-1]} / {signs[1]} / {signs[0]}" if kept else "-")
            medians = [cell["ratio"]["p50"][0] for cell in some]
            if medians:
                middle = f"{statistics.median(medians):.2f} ({min(medians):.2f}..{max(medians):.2f})"
                rows.append([f"{group}, to {size(upto)}: {task}", str(len(some)), *fields, middle])
    headings = ("chunks", "cells", "p50", "p95", "p99", "p50 / incoherent's")
    yield from table(headings, rows)


def latency(found: Sequence[Graph], lengths: Sequence[int]) -> Iterator[str]:
    """Yield p50, p95 and p99 of both contenders at some sizes, for stripes of six data chunks."""
    rows = []
    for graph in (g for g in found if g.shape.startswith("6,")):
        for length in (n for n in lengths if n in graph.cells):
            cell = graph.cells[length]
            fields = []
            for who in CONTENDERS:
                told = [cell[who].get(f"p{percentile}") for percentile in PERCENTILES]
                fields.append(" / ".join("-" if one is None else microseconds(one[0]) for one in told))
            rows.append([graph.title, size(length), *fields, times(cell["ratio"]["p50"])])
    headings = ("graph", "chunk", "composed: p50 / p95 / p99", "incoherent", "p50 ratio")
    yield from table(headings, rows, 2)


def lost(content: Json) -> Iterator[str]:
    """Yield the cells in which composed is significantly slower, worst first."""
    cells = [c for c in latency_cells(content) if verdict(estimate_of(c["ratio"]["p50"])) > 0]
    cells.sort(key=lambda cell: -float(cell["ratio"]["p50"][0]))
    yield f"## Cells in which composed is significantly slower at the median: {len(cells)}\n"
    if not cells:
        yield "None of the measured cells.\n"
    rows = (
        [
            name(c),
            size(c["length"]),
            *(microseconds(c[who]["p50"][0]) for who in CONTENDERS),
            times(c["ratio"]["p50"]),
        ]
        for c in cells
    )
    yield from table(("graph", "chunk", "composed", "incoherent", "ratio"), rows, 2)


def bandwidth_lost(content: Json) -> list[str]:
    """Return the cells in which composed has significantly less bandwidth."""
    cells = [cell for key, cell in content["cells"].items() if key.startswith("bandwidth/")]
    return [
        f"{name(cell)} of {size(cell['length'])} ({cell['ratio'][0]:.2f})"
        for cell in cells
        if cell["ratio"][2] < 1
    ]


def bandwidth(content: Json) -> Iterator[str]:
    """Yield MB/s of produced bytes by chunk size, with composed over incoherent below."""
    cells = [cell for key, cell in content["cells"].items() if key.startswith("bandwidth/")]
    lengths = sorted({cell["length"] for cell in cells})
    rows = []
    for title in dict.fromkeys(name(cell) for cell in cells):
        mine = {cell["length"]: cell for cell in cells if name(cell) == title}
        for who in CONTENDERS:
            fields = [f"{mine[n][who]['rate'][0]:.3g}" if n in mine else "-" for n in lengths]
            rows.append([title, who, *fields])
        rows.append(["", "ratio", *(f"{mine[n]['ratio'][0]:.2f}" if n in mine else "-" for n in lengths)])
    yield from table(("graph", "", *map(size, lengths)), rows, 2)


def slices(content: Json) -> Iterator[str]:
    """Yield the table of ECPipe at one chunk size, by slice."""
    cells = [
        cell
        for key, cell in content["cells"].items()
        if key.startswith("latency/ecpipe/") and cell["shape"] == "6,3" and cell["length"] == MIB
    ]
    cells.sort(key=lambda cell: -(int(cell["slice"]) or MIB))
    rows = (
        [
            size(c["slice"] or MIB),
            str(MIB // (c["slice"] or MIB)),
            *(microseconds(c[who]["p50"][0]) for who in CONTENDERS),
            times(c["ratio"]["p50"]),
        ]
        for c in cells
    )
    yield from table(("slice", "slices", "composed", "incoherent", "p50 ratio"), rows)


def model(found: Sequence[Graph]) -> Iterator[str]:
    """Yield alpha and beta of all graphs, and the sizes at which the line does not fit."""
    rows = []
    for graph in found:
        fields = []
        for who in CONTENDERS:
            fit = graph.fits[who]
            a, b = fit.alpha, fit.beta
            reach = "nowhere" if fit.reach is None else size(fit.reach)
            fields += [
                f"{a.median * 1e9:.3g} ({a.low * 1e9:.3g}..{a.high * 1e9:.3g})",
                f"{b.median * 1e6:.0f} ({b.low * 1e6:.0f}..{b.high * 1e6:.0f})",
                f"{fit.worst:.0%} at {size(max(fit.errors, key=lambda n: abs(fit.errors[n])))}",
                reach,
            ]
        rows.append([graph.title, *fields])
    each = ("alpha, ns/B", "beta, us", "worst error", "would fit up to")
    yield from table(("graph", *(f"{who}: {word}" for who in CONTENDERS for word in each)), rows)
    lines = [graph.fits[who] for graph in found for who in CONTENDERS]
    good = sum(line.fits for line in lines)
    yield (
        f"The line fits in {good} of {len(lines)} cases, that is, it is off by at most {TOLERANCE:.0%} at "
        'every size. "Would fit up to" refers to a line through the sizes up to there. In brackets: 95 % '
        "intervals.\n"
    )


def explained(found: Sequence[Graph]) -> Iterator[str]:
    """Yield the explanation of alpha on a machine where all ranks share two processors."""
    rows = []
    for who in CONTENDERS:
        one = slopes(found, who)
        errors = sorted(abs(error) for error in one.errors)
        rows.append(
            [
                who,
                f"{one.transfer * 1e9:.3g}",
                f"{one.product * 1e9:.3g}",
                f"{statistics.median(errors):.0%}",
                f"{errors[-1]:.0%}",
            ]
        )
    headings = ("", "ns a byte transferred", "ns a byte multiplied", "median error", "worst error")
    yield from table(headings, rows)


def projections(content: Json, found: Sequence[Graph]) -> Iterator[str]:
    """Yield times at 100 Gb/s and those measured here."""
    product = product_seconds(content)
    lengths = [n for n in PROJECTED if all(n in graph.cells for graph in found)]
    rows = []
    for graph in found:
        fields = []
        for length in lengths:
            here = graph.cells[length][COMPOSED]["p50"][0]
            between = (microseconds(one * 1e6) for one in projection(graph, length, product))
            fields.append(f"{microseconds(here)} -> {'..'.join(between)}")
        rows.append([graph.title, *fields])
    yield from table(("graph, composed: here -> projected", *map(size, lengths)), rows)


def _latencies(figures: Mapping[str, Sequence[float]]) -> str:
    return " / ".join(f"{figures[p][0]:.0f}" for p in ("p50", "p95", "p99") if p in figures) or "-"


def ycsb(content: Json) -> Iterator[str]:
    """Yield throughput and latencies of every study."""
    rows = []
    for study in content["ycsb"].values():
        shape = " " + "+".join(map(str, study["shape"])) if study["shape"] else ""
        stripes = study.get("stripes", 1)
        title = f"{NAMES.get(study['scheme'], study['scheme'])}{shape}"
        title += f", {stripes} stripes" if stripes > 1 else ""
        for workload, found in study["workloads"].items():
            for who in (w for w in found if w != "gain"):
                one = found[who]
                speed = f"{one['throughput'][0]:.0f} ({one['throughput'][1]:.0f}..{one['throughput'][2]:.0f})"
                gain = times(found["gain"]) if who == COMPOSED else ""
                fields = [speed, _latencies(one["read"]), _latencies(one["update"]), str(one["failed"]), gain]
                counted, reads = study["reads"].get(who, (0, 0))
                share = f" ({counted / reads:.2%})" if counted else ""
                where = [title, study["degraded"] + share, size(study["value"]), workload, who]
                rows.append([*where, *fields])
    headings = (
        *("store", "reads degraded (counted)", "value", "workload", "way", "operations/s"),
        *("read us: p50 / p95 / p99", "update us", "failed", "throughput / incoherent's"),
    )
    yield from table(headings, rows, 5)


def ycsb_conditions(content: Json) -> str:
    """Return the records, clients and seconds of all studies, and their numbers of lost chunks."""
    how = content["method"]["ycsb"]
    lost = sorted({study.get("lost", 1) for study in content["ycsb"].values()})
    chunks = " or ".join(map(str, lost))
    return (
        f"Every study: {how['records']} records, {how['threads']} clients for each memory stripe, "
        f"{how['rounds']} rounds of {how['seconds']} s for each workload and way. "
        f"A degraded read computes {chunks} lost chunk{'' if lost == [1] else 's'}.\n"
    )


def latency_conditions(content: Json) -> str:
    """Return the rounds and seconds of latencies and bandwidths."""
    how = content["method"]["effort"]
    return (
        f"A repair computes one lost chunk, shard {LOST}. Each cell: up to {how['rounds']} rounds of both "
        f"ways, {how['milliseconds']} ms of each (at most {how['most']} operations, at least one), about "
        f"{how['seconds']:g} s; long ones get {how['least']} rounds, in bandwidth {how['least_wide']}.\n"
    )


def ycsb_lost(content: Json) -> list[str]:
    """Return the studies in which composed had less throughput in every round."""
    return [
        f"{name_}, workload {workload}"
        for name_, study in content["ycsb"].items()
        for workload, found in study["workloads"].items()
        if "gain" in found and found["gain"][2] < 1
    ]
