"""The generated part of bench/results/primitives.md, from primitives.json in the same folder."""

from __future__ import annotations

import json
from pathlib import Path

from bench.build import RESULTS
from bench.compose.plan import size
from bench.compose.primitives import tables
from bench.compose.primitives.counts import CHUNK
from bench.result_store import Json, fill

PAGE = RESULTS / "primitives.md"
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
METHOD = Path(__file__).with_name("method.md")


def section(content: Json) -> str:
    """Return the text between the marks."""
    lines = [
        METHOD.read_text(),
        f"Measured on {content['machine']}, libfabric's provider {content['method']['provider']}.\n",
        f"## Table I: counts of each primitive, chunks of {size(CHUNK)}\n",
        *tables.counted(content),
        "## Figures 9 to 13: latency of each primitive under YCSB\n",
        *tables.conditions(content),
        *tables.latencies(content),
        "### Whole reads and writes, at the agent\n",
        *tables.whole(content),
    ]
    return "\n".join(lines).rstrip() + "\n"


def publish(results: Path) -> None:
    """Replace the text between the marks of the page.

    Raises FileNotFoundError without results or page, PageError if the page has one mark only.
    """
    fill(PAGE, "Measured", (BEGIN, END), section(json.loads(results.read_text())))
