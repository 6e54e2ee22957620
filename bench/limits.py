"""python -m bench.limits: the limits of every cell of the table on this CPU, and a roofline plot.

For each cell: the fastest touch loop that a search finds, the port bound, and llvm-mca's prediction. The
results go to bench/results/limits/<cpu>.json, .md and .svg, and to the table of bench/results/performance.md;
--draw only writes the pages of recorded results.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench import cells as plan
from bench import index
from bench.build import LIBRARY, PEERS, RESULTS, ROOT, BuildError, Built, build
from bench.index import required
from bench.machine import describe
from bench.options import OneLineParser, start
from bench.results import PROBE_OPERATIONS, Result, result
from bench.run import RunError, Samples, Setting, run
from bench.style import GREY, NAVY, RED, STYLE, legend, panels, svg
from bench.table import name as code_of
from bench.table import place
from gfsmith.build import config, target, tuned
from gfsmith.cli.console import progress
from gfsmith.emit.files import replacing
from gfsmith.emit.lists import TunedKernel
from gfsmith.explore.cost_model import kernels
from gfsmith.explore.cost_model.mca import Outcome, Prediction
from gfsmith.explore.tune.roofline import ports
from gfsmith.kernel import limits
from gfsmith.kernel.microarch import Microarch, UnknownMicroarchitecture, host, host_features
from gfsmith.kernel.spec import KernelSpec, SpecError

FOLDER = RESULTS / index.LIMITS
CACHE = ROOT / ".gfsmith-cache" / "mca.json"
SEARCH = plan.Effort(passes=1, rounds=7, resident=200, dram=1000)
FINAL = plan.Effort(passes=3, rounds=7, resident=2000, dram=4000)
KEPT = 4  #: loops of the search that the final measures

#: The loops of bench/driver/loops.c and limit.c.
_SEARCHED = [
    f"limit:l{lines}-p{ahead}-{store}"
    for lines, ahead, store in product(
        (1, 2, 4, 8), ("0T0", "128T0", "256T0", "512T0", "1024T0", "256NTA", "512NTA"), ("st", "nt")
    )
]
_COLUMNS = ("code", "where", "gfsmith", "fastest peer", "searched limit", "its loop", "share of limit",
            "dense port bound", "port bound", "llvm-mca", "reached")  # fmt: skip


def _loops(cell: plan.Cell) -> tuple[str, ...]:
    """Return the loops of the search: those above and the usual ones of the cell."""
    usual = [name for name in plan.contenders(cell, ()) if name.startswith("limit:")]
    return (*usual, *_SEARCHED)


def _fastest(samples: Samples) -> tuple[str, ...]:
    known = [name for name in samples.ns if name.startswith("limit:")]
    return tuple(sorted(known, key=lambda name: statistics.median(samples.ns[name]))[:KEPT])


def _chosen(
    part: KernelSpec, path: str, specs: Sequence[KernelSpec], rows: Sequence[TunedKernel], cpu: Microarch
) -> KernelSpec | None:
    """Return the kernel that the library runs for the function of `part` on this CPU: one that is tuned, but
    one for any number of inputs only if there is none for this number (dispatch.c)."""
    fit = [r.spec for r in rows if r.cpu.name == cpu.name and r.path == path and target.serves(r.spec, part)]
    every = (*fit, target.best(part, path, specs))
    return next((spec for spec in every if spec is not None and spec.inputs is not None), every[0])


def _specs(
    cell: plan.Cell,
    specs: Sequence[KernelSpec],
    rows: Sequence[TunedKernel],
    prefix: str,
    cpu: Microarch,
) -> list[KernelSpec]:
    """Return the kernels of a cell, one per pass."""
    for what in (cell.code, "dot"):
        try:
            wanted = target.parse(f"{what}:{cell.k}x{cell.m}@{cell.isa}", target.TUNABLE[0])
            parts = target.kernels(wanted, prefix, {})
        except (target.TargetError, SpecError):
            continue  # no such code, or not at this shape
        path = target.path_of(wanted, cell.regime == "dram", cell.length, limits.of(cpu)) or "cached"
        found = [_chosen(part, path, specs, rows, cpu) for part in parts]
        if all(found):
            return [spec for spec in found if spec is not None]
    return []


def _models(cells: Sequence[plan.Cell], cpu: Microarch) -> list[list[tuple[KernelSpec, Outcome]]]:
    """Return the kernels of each cell, and llvm-mca's prediction for each."""
    loaded = config.load(ROOT / "gfsmith.toml")
    every, prefix = config.specs(loaded, "gfsmith.toml"), loaded.generator.prefix
    rows = tuned.load(loaded.generator.tuned, ROOT, every, prefix).rows
    used = [_specs(cell, every, rows, prefix, cpu) for cell in cells]
    distinct = list(dict.fromkeys(spec for specs in used for spec in specs))
    found = kernels.predict_all(distinct, [cpu.name], os.cpu_count() or 1, CACHE)
    return [[(spec, found[spec][cpu.name]) for spec in specs] for specs in used]


def _predicted(model: Sequence[tuple[KernelSpec, Outcome]], clock: float) -> dict[str, Any]:
    """Return the GB/s of the busiest port and of the prediction at a clock in GHz."""
    parts = [outcome for _, outcome in model]
    cycles = [part.cycles_per_64 for part in parts if isinstance(part, Prediction)]
    whole = bool(parts) and len(cycles) == len(parts)
    return {
        "kernels": [spec.symbol for spec, _ in model],
        "port_bound": ports(parts, clock) if whole else None,
        "predicted": 64 * clock / sum(cycles) if whole else None,
    }


def _missing(cell: plan.Cell, built: Built) -> list[str]:
    """Return the peers of a cell that were not built."""
    return sorted(
        name for name in built.missing if len(plan.contenders(cell, (name,))) > len(plan.contenders(cell, ()))
    )


def _record(one: Result, clock: float, predicted: dict[str, Any], missing: list[str]) -> dict[str, Any]:
    cell = one.cell
    assert one.own is not None and one.limit is not None and one.share_of_limit is not None
    peers = {n: e.median for n, e in one.gbps.items() if not n.startswith(("gfsmith:", "limit:"))}
    return {
        "code": code_of(one), "where": place(one), "k": cell.k, "m": cell.m, "length": cell.length,
        "regime": cell.regime, "gfsmith": one.gbps[one.own].median, "peer": one.peer, "peers": peers,
        "missing": missing,
        "ratio": one.ratio.as_json() if one.ratio else None,
        "limit": one.gbps[one.limit].median, "loop": one.limit.removeprefix("limit:"),
        "share": one.share_of_limit.as_json(), "dense": one.port_bound, "clock": clock, **predicted,
    }  # fmt: skip


def _run(what: str, cells: Sequence[plan.Cell], built: Built, effort: plan.Effort) -> list[Samples]:
    with progress(what, len(cells) * effort.passes) as advance:
        return run(cells, built, Setting(2048, 128, "huge"), effort, lambda _: advance(1))


def measure(cpu: Microarch, only: str) -> dict[str, Any]:
    """Return the recorded results of this CPU. Raises BuildError, RunError."""
    isa = plan.host_set(host_features())
    cells = [c for c in plan.on_host(plan.table(), isa) if fnmatch(c.id, only)]
    models = _models(cells, cpu)
    built = build(LIBRARY, frozenset(PEERS) - {"isal"}, lambda _: None)
    searching = [replace(cell, loops=_loops(cell), who=()) for cell in cells]
    alone = replace(built, libraries={})
    searched = _run("cells searched", searching, alone, SEARCH)
    final = [replace(s.cell, loops=_fastest(s)) for s in searched]
    found = _run("cells measured", final, built, FINAL)
    clocks = [PROBE_OPERATIONS / min(s.ns[plan.CLOCK]) for s in found]
    predicted = [_predicted(model, clock) for model, clock in zip(models, clocks, strict=True)]
    results = [
        _record(result(s), c, p, _missing(s.cell, built))
        for s, c, p in zip(found, clocks, predicted, strict=True)
    ]
    return {
        "cpu": cpu.name,
        "machine": describe(),
        "set": isa,
        "cells": results,
    }


def merged(before: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return new results with those cells of earlier ones that were not measured again; without any of a
    different machine or set."""
    if any(before[key] != new[key] for key in ("cpu", "machine", "set")):
        return new
    cells = {(cell["code"], cell["where"]): cell for cell in (*before["cells"], *new["cells"])}
    return new | {"cells": list(cells.values())}


def binding(cell: dict[str, Any]) -> str:
    """Return the limit that the kernel reaches to 90 %, accesses or ports, or neither."""
    bounds = {"accesses": cell["limit"], "ports": cell["port_bound"]}
    reached = [what for what, bound in bounds.items() if bound and cell["gfsmith"] >= 0.9 * bound]
    return " and ".join(reached) or "neither"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def page(recorded: dict[str, Any]) -> str:
    """Return the table of a CPU in Markdown."""
    lines = [
        f"# Limits on {recorded['cpu']}\n",
        "GB/s of source data; [performance.md](../../../docs/performance.md#limits) explains the columns.\n",
        f"Machine: {recorded['machine']}. Set: {recorded['set']}. {_summary(recorded['cells'])}\n",
        *_absent(recorded["cells"]),
        f"![{_description(recorded)}]({recorded['cpu']}.svg)\n",
        f"| {' | '.join(_COLUMNS)} |",
        "|" + "|".join("---" if n in (0, 1, 5, 10) else "---:" for n in range(len(_COLUMNS))) + "|",
    ]
    for cell in recorded["cells"]:
        share = cell["share"]
        fields = (
            *(cell["code"], cell["where"], _figure(cell["gfsmith"])),
            _figure(cell["peers"].get(cell["peer"])) + ("*" if cell["missing"] else ""),
            *(_figure(cell["limit"]), f"`{cell['loop']}`"),
            f"{share['median']:.2f} ({share['low']:.2f}..{share['high']:.2f})",
            *(_figure(cell[what]) for what in ("dense", "port_bound", "predicted")),
            binding(cell),
        )
        lines.append(f"| {' | '.join(fields)} |")
    return "\n".join(lines) + "\n"


def _summary(cells: Sequence[dict[str, Any]]) -> str:
    met = sum(cell["share"]["median"] >= required(cell) for cell in cells)
    return (
        f"{met} of {len(cells)} cells reach the required share of the searched limit (0.9; from DRAM 0.95 "
        "from 4 KiB on)."
    )


def _absent(cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    missing = sorted({name for cell in cells for name in cell["missing"]})
    if missing:
        yield f"*: without {', '.join(missing)}, which were not built; the plot leaves these peers out.\n"


def _description(recorded: dict[str, Any]) -> str:
    return (
        f"Roofline of {recorded['cpu']}: dense products in a nanosecond over dense products for a byte read "
        "or written, of gfsmith and the fastest peer in each cell, under the searched limit of accesses and "
        "the port bound of dense products"
    )


def _peer(cell: dict[str, Any]) -> float | None:
    """Return the speed of the fastest peer, if all peers were measured."""
    return None if cell["missing"] else cell["peers"].get(cell["peer"])


def _panel(axes: Axes, cells: Sequence[dict[str, Any]], title: str) -> None:
    """Draw cells of one regime and length. A byte of source takes m dense products."""
    at = [cell["k"] * cell["m"] / (cell["k"] + cell["m"]) for cell in cells]
    for what, colour, style, label in (
        ("limit", "black", "_", "searched limit of accesses in this cell"),
        ("peer", NAVY, "s", "fastest peer"),
        ("gfsmith", RED, "o", "gfsmith"),
    ):
        rates = [_peer(c) if what == "peer" else c[what] for c in cells]
        points = [(x, rate * c["m"]) for x, rate, c in zip(at, rates, cells, strict=True) if rate]
        axes.plot(*zip(*points, strict=True), style, color=colour, label=label, markersize=5)
    moved = max(c["limit"] * (c["k"] + c["m"]) / c["k"] for c in cells)
    peak = max(c["dense"] * c["m"] for c in cells)
    ends = [min(at) * 0.8, max(at) * 1.25]
    axes.plot(
        ends,
        [moved * x for x in ends],
        "--",
        color="black",
        linewidth=1,
        label="most bytes moved in any cell",
    )
    axes.plot(ends, [peak, peak], ":", color=GREY, label="port bound of dense products")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlabel("dense products for a byte read or written")
    axes.set_ylabel("dense products in a ns")
    axes.set_title(title)


def draw(recorded: dict[str, Any]) -> str:
    """Return the roofline plot as SVG."""
    places = list(dict.fromkeys(cell["where"] for cell in recorded["cells"]))
    with matplotlib.rc_context(STYLE):
        figure: Figure
        figure, axes = panels(f"Roofline of {recorded['cpu']}, {recorded['set']}, one thread", len(places))
        for axis, where in zip(axes, places, strict=True):
            _panel(axis, [c for c in recorded["cells"] if c["where"] == where], where)
        legend(figure, axes, 2)
        return svg(figure, _description(recorded))


def _write(path: Path, text: str) -> None:
    with replacing(path) as stage:
        stage.write_text(text, encoding="utf-8")


def _pages(folder: Path) -> None:
    """Write the page and the plot of each recorded CPU."""
    for file in sorted(folder.glob("*.json")):
        recorded = json.loads(file.read_text(encoding="utf-8"))
        _write(file.with_suffix(".md"), page(recorded))
        _write(file.with_suffix(".svg"), draw(recorded))


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 3)
        case dict():
            return {key: _rounded(one) for key, one in value.items()}
        case list():
            return [_rounded(one) for one in value]
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    parser = OneLineParser(prog="bench.limits", description="Search for the limits of every cell.")
    parser.add_argument("--draw", action="store_true", help="do not measure; draw recorded results again")
    parser.add_argument(
        "--only", default="*", metavar="GLOB", help="cells whose id matches; the others keep their results"
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="results (bench/results/limits)")
    options = parser.parse_args(arguments)
    try:
        if not options.draw:
            cpu = host()
            recorded = measure(cpu, options.only)
            options.folder.mkdir(parents=True, exist_ok=True)
            file = options.folder / f"{cpu.name}.json"
            if file.exists():
                recorded = merged(json.loads(file.read_text(encoding="utf-8")), recorded)
            _write(file, json.dumps(_rounded(recorded), indent=1) + "\n")
    except (BuildError, RunError, UnknownMicroarchitecture) as error:
        print(f"bench.limits: {error}", file=sys.stderr)
        return 1
    _pages(options.folder)
    if options.folder == FOLDER:
        index.update()
    return 0


if __name__ == "__main__":
    start(main)
