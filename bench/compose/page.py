"""The tables of bench/results/compose.md and its pictures, from compose.json in the same folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.build import RESULTS
from bench.compose import tables
from bench.compose.fits import Graph, graphs
from bench.compose.pictures import draw
from bench.compose.plan import KIB, MIB
from bench.result_store import Json, fill

PAGE = RESULTS / "compose.md"
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
#: The text about the method and its limits on one machine.
METHOD = Path(__file__).with_name("method.md")
SHOWN = (128, 8 * KIB, 128 * KIB, 2 * MIB)


def _pictures(pictures: Sequence[tuple[str, str]], about: str) -> Iterator[str]:
    yield from (f"![{what}]({file})\n" for file, what in pictures if about in file)


VERDICTS = """\
Cells in which composed is significantly faster / significantly slower / neither, by the 95 % interval of the
ratio of percentiles. A percentile is reported if at least three operations lie above it. With so many cells,
some verdicts (5 % of those without a difference) are chance.
"""
BANDWIDTH = """\
MB/s of produced bytes, as the paper defines it (section IV-A): m chunks of an encoding, one of a repair, over
elapsed time, with {window} outstanding operations at every rank; each incoherent operation has its own
thread. Ratio: composed / incoherent, so above 1 composed is faster.
"""
SLICED = """\
ECPipe is cut into slices of 1 KiB from 2 KiB on, and into eight from 8 KiB on. Its beta is different
there, so one line cannot be expected to fit all sizes.
"""
SLOPES = """\
The paper's alpha follows from the links' bandwidth and the longest path. Here all ranks share two
processors, so alpha should follow from all transfers and products of a graph together, in any order.
The quality of such a model with two parameters for all graphs:
"""
PROJECTION = """\
**A projection by the model, not a measurement.** Every node has a link of 100 Gb/s in each direction,
sends and receives one message at a time, and computes as fast as one process here; nothing else is shared.
The first figure has bytes and products only, as if a transfer had no latency. The second adds this machine's
latency for each transfer (beta over the transfers of the longest path), which is TCP and the waking of a
process on a busy machine. The result with RDMA would lie between them.
"""


def _latency(content: Json, found: Sequence[Graph], pictures: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "## Latency: composed and incoherent\n"
    yield tables.latency_conditions(content)
    yield VERDICTS
    yield from tables.summary(content)
    yield from _pictures(pictures, "latency")
    yield from tables.latency(found, SHOWN)
    yield from tables.lost(content)


def _bandwidth(content: Json, pictures: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "## Bandwidth\n"
    yield BANDWIDTH.format(window=content["method"]["window"])
    yield from tables.bandwidth(content)
    behind = tables.bandwidth_lost(content)
    yield f"Composed is significantly slower in: {'; '.join(behind) or 'none of the measured cells'}.\n"
    yield from _pictures(pictures, "bandwidth")


def _slices(content: Json) -> Iterator[str]:
    rows = list(tables.slices(content))
    if rows:
        yield "## Slices of ECPipe 6+3: a chunk of 1 MiB\n"
        yield from rows


def _model(content: Json, found: Sequence[Graph], pictures: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "## The model: T = alpha c + beta\n"
    yield from tables.model(found)
    yield SLICED
    yield from _pictures(pictures, "model")
    if len(found) >= 3:
        yield SLOPES
        yield from tables.explained(found)
    rows = list(tables.projections(content, found))
    if rows:
        yield "## Projection to links of 100 Gb/s (not measured)\n"
        yield PROJECTION
        yield from rows
        yield from _pictures(pictures, "projection")


def _ycsb(content: Json, pictures: Sequence[tuple[str, str]]) -> Iterator[str]:
    if not content["ycsb"]:
        return
    yield "## YCSB: the stripe store, and plain memcached\n"
    yield tables.ycsb_conditions(content)
    yield from tables.ycsb(content)
    behind = tables.ycsb_lost(content)
    yield (
        f"Less throughput than incoherent in every round: {'; '.join(behind)}.\n"
        if behind
        else "In no study had composed less throughput than incoherent in every round.\n"
    )
    yield from _pictures(pictures, "ycsb")


def section(content: Json, found: Sequence[Graph], pictures: Sequence[tuple[str, str]]) -> str:
    """Return the text between the marks. `pictures`: file and text alternative."""
    lines = [
        METHOD.read_text(),
        f"Measured on {content['machine']}, libfabric's provider {content['method']['provider']}.\n",
        *_latency(content, found, pictures),
        *_bandwidth(content, pictures),
        *_slices(content),
        *(_model(content, found, pictures) if found else ()),
        *_ycsb(content, pictures),
    ]
    return "\n".join(lines).rstrip() + "\n"


def publish(results: Path) -> None:
    """Replace the text between the marks of bench/results/compose.md, and draw the pictures again.

    A page without marks gets them at its end.

    Raises FileNotFoundError without results or page, PageError if the page has one mark only.
    """
    content = json.loads(results.read_text())
    found = graphs(content)
    fill(PAGE, "Measured", (BEGIN, END), section(content, found, draw(content, found, RESULTS)))
