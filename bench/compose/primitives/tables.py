"""The tables of bench/results/primitives.md."""

from __future__ import annotations

from collections.abc import Iterator

from bench.compose.plan import COMPOSED, CONTENDERS, NAMES, size
from bench.compose.primitives.counts import CHUNK, alike, differences, name
from bench.compose.primitives.figures import FIGURES
from bench.compose.tables import microseconds, times
from bench.result_store import Json, table


def _title(cell: Json) -> str:
    sliced = f", slices of {size(cell['slice'])}" if cell["slice"] else ""
    return f"{NAMES[cell['scheme']]} {cell['shape'].replace(',', '+')} {cell['task']}{sliced}"


def _chunks(count: int) -> str:
    """Return a number of bytes in chunks."""
    return f"{count / CHUNK:.3g} c"


def _row(title: str, ranks: list[str], one: Json) -> list[str]:
    composed, incoherent = (one[who] for who in CONTENDERS)
    paper = one["paper"]
    messages = f"{composed['messages_sent']} + {composed['messages_received']}"
    involved = f"{composed['involvements']} / {incoherent['involvements']}"
    saved = incoherent["involvements"] - composed["involvements"]
    return [
        title,
        f"{name(composed)} ({len(ranks)})",
        f"{_chunks(composed['products'])} / {_chunks(paper['operations'])}",
        f"{_chunks(composed['bytes_received'])} in, {_chunks(composed['bytes_sent'])} out",
        f"{paper['receives']} c in, {paper['sends']} c out",
        f"{composed['writes_received']} + {composed['writes_sent']}",
        messages,
        f"{composed['activations']} / {paper['states']}",
        involved,
        f"{saved} / {paper['involvement']}",
        f"{_chunks(incoherent['copied'] - composed['copied'])} / {_chunks(paper['dma'])}",
    ]


def counted(content: Json) -> Iterator[str]:
    """Yield our counts next to the rules of Table I; ranks with equal counts share a row."""
    rows = [
        _row(_title(cell) if n == 0 else "", ranks, one)
        for cell in content["counts"].values()
        for n, (ranks, one) in enumerate(alike(cell["ranks"]))
    ]
    headings = (
        *("graph", "primitive (nodes)", "operations: ours / rule", "chunks: ours", "chunks: rule"),
        *("slices in + out", "messages out + in", "states: ours / rule"),
        *("CPU: composed / incoherent", "CPU saved: ours / rule", "copies saved: ours / rule"),
    )
    yield from table(headings, rows, 2)
    found = differences(content["counts"].values())
    yield f"Operations, chunks or states that differ from the rules: {len(found)}.\n"
    yield from (f"- {one}" for one in found)
    if found:
        yield ""


def _percentiles(one: Json) -> str:
    return " / ".join(microseconds(one[p][0]) for p in ("p50", "p95", "p99") if p in one)


def _reductions(one: Json) -> str:
    """Return by how much composed is shorter than incoherent, with the interval of the median."""
    found = [f"{1 - ratio[0]:.0%}" for ratio in one["ratio"].values()]
    _, low, high = one["ratio"]["p50"]
    return f"{' / '.join(found)} ({1 - high:.0%}..{1 - low:.0%})"


def _compared(one: Json) -> list[str]:
    counts = " / ".join(str(one[who]["operations"]) for who in CONTENDERS)
    return [*(_percentiles(one[who]) for who in CONTENDERS), counts, _reductions(one)]


def latencies(content: Json) -> Iterator[str]:
    """Yield the nodes of figures 9 to 13, with the paper's reductions."""
    rows = []
    for figure in FIGURES:
        kept = content["figures"].get(str(figure.number))
        for n, node in enumerate(figure.nodes if kept else ()):
            one = kept["nodes"][node.letter]
            paper = " / ".join(f"{value:.0%}" for value in node.reduction)
            title = f"{figure.number}: {NAMES[kept['scheme']]} {'+'.join(map(str, kept['shape']))}"
            where = f"{node.letter}: {node.words}, {node.graph}"
            ours = "" if one["primitive"] == node.words else f" (ours: {one['primitive']})"
            rows.append([title if n == 0 else "", where + ours, *_compared(one), paper])
    headings = (
        *(
            "figure",
            "node, primitive, graph",
            "composed: p50 / p95 / p99",
            "incoherent",
            "operations of both",
        ),
        *("shorter by (interval of p50)", "the paper: shorter by"),
    )
    yield from table(headings, rows, 2)


def whole(content: Json) -> Iterator[str]:
    """Yield whole reads and writes at the agent, the degraded reads apart from the healthy ones."""
    rows = [
        [number if n == 0 else "", kind, *_compared(one)]
        for number, kept in content["figures"].items()
        for n, (kind, one) in enumerate(kept["whole"].items())
    ]
    headings = (
        *("figure", "", "composed: p50 / p95 / p99", "incoherent", "operations of both"),
        "shorter by (interval of p50)",
    )
    yield from table(headings, rows, 2)


def conditions(content: Json) -> Iterator[str]:
    """Yield the load of each figure."""
    effort = content["method"]["figures"]
    rows = []
    for number, kept in content["figures"].items():
        rows.append(
            [
                f"{number}: {NAMES[kept['scheme']]} {'+'.join(map(str, kept['shape']))}",
                kept["workload"],
                size(kept["value"]),
                f"{kept['degraded']}, {kept['lost']} lost",
                size(kept["slice"]) if kept["slice"] else "-",
                str(effort["records"]),
                str(effort["clients"]),
                f"{effort['rounds']} of {effort['seconds']} s",
                f"{kept['operations']} ({kept['failed']} failed)",
                f"{kept['load'][0]:.1f}..{kept['load'][1]:.1f}",
                f"{kept['throughput'][COMPOSED][0]:.0f}",
                times(kept["throughput"]["gain"]),
            ]
        )
    headings = (
        *("figure", "workload", "value", "degraded reads", "slice", "records", "clients", "rounds"),
        *("operations", "load", "operations/s, composed", "composed / incoherent"),
    )
    yield from table(headings, rows, 1)
