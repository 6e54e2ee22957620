"""The tables of research/results/memory.md, from memory.json next to it and from measurements on DRAM."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.result_store import fill, table
from research.memory.claims import AMPLIFICATION, SPEED
from research.memory.measurements import measured, text_of
from research.memory.pictures import ABOUT_POLICIES, FOLDER, claim_name, walk

PAGE = FOLDER / "memory.md"
BEGIN, END = "<!-- model: begin -->", "<!-- model: end -->"
FEW, MANY = 4, 10  #: a summary counts cells with at most FEW and with at least MANY threads


def _paper(claim: Mapping[str, Any]) -> str:
    if claim["low"] is None:
        return "no number"
    low, high = f"{claim['low']:g}", f"{claim['high']:g}"
    return low if low == high else f"{low}..{high}"


def _claims(claims: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    here = measured()

    def row(claim: Mapping[str, Any]) -> list[str]:
        agrees = "yes" if claim["agrees"] else "**no**"
        return [
            claim_name(claim),
            agrees,
            _paper(claim),
            f"{claim['model']:.2f}",
            text_of(claim_name(claim), here),
        ]

    headings = ("claim", "agrees", "paper (measured, PM)", "model (PM)", "this machine's DRAM (measured)")
    for calibrated, title in ((True, "## Claims used for calibration"), (False, "## Predicted claims")):
        chosen = [claim for claim in claims if claim["calibrated"] is calibrated]
        good = sum(claim["agrees"] for claim in chosen)
        yield f"{title}\n"
        yield (
            f"{good} of {len(chosen)} agree within the tolerance: a factor of {SPEED} around the paper's "
            f"range for ratios of speed, {AMPLIFICATION:g} for amplification.\n"
        )
        yield from table(headings, map(row, chosen), 2)


def _frequency(rows: Sequence[Sequence[float]]) -> Iterator[str]:
    yield "## Frequency of the CPU\n"
    yield "As figure 4: GB/s of ISA-L at RS(12, 8) and 1 KiB, in brackets over the row above.\n"
    headings = ("GHz", "PM, 512 bits", "DRAM, 512 bits", "PM, 256 bits", "DRAM, 256 bits")
    lasts = [None, *rows]
    found = (
        [f"{row[0]:g}", *(_grown(row, last, column) for column in range(1, len(headings)))]
        for last, row in zip(lasts, rows, strict=False)
    )
    yield from table(headings, found)


def _grown(row: Sequence[float], last: Sequence[float] | None, column: int) -> str:
    speed = row[column]
    return f"{speed:.2f}" if last is None else f"{speed:.2f} ({speed / last[column]:.2f})"


def _distances(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## Two prefetch distances\n"
    yield "As figure 18, RS(k + 4, k) and 1 KiB, in GB/s: the best single distance and the best pair (others,"
    yield "first) of all in a grid, on the machine of the model and with other numbers. *Bound*: 64 B times"
    yield "the number of fill buffers, over the average latency.\n"
    rows = (
        [
            str(d["k"]),
            d["machine"],
            f"{d['bound']:.2f}",
            f"{d['at_k']:.2f}",
            f"{d['one'][1]:.2f} ({d['one'][0]})",
            f"{d['two'][2]:.2f} ({d['two'][0]}, {d['two'][1]})",
            f"{d['gain']:.3f}",
        ]
        for d in found
    )
    headings = ("k", "machine", "bound", "distance k", "one distance", "two distances", "two over one")
    yield from table(headings, rows, 2)


def _parts(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "### Separate policies for whole pages\n"
    yield "Calls that are not a multiple of 4 KiB: the best candidate for the call, and the best pair of"
    yield "candidates for its whole pages and for the rest; GB/s.\n"
    rows = (
        [
            *(str(p[name]) for name in ("threads", "length", "k", "one", "pages", "rest")),
            f"{p['one_gbps']:.2f}",
            f"{p['two_gbps']:.2f}",
            f"{p['gain']:.3f}",
        ]
        for p in found
    )
    headings = ("threads", "bytes", "k", "one policy", "whole pages", "rest", "one", "two", "two over one")
    yield from table(headings, rows, 6)


def _share(cell: Mapping[str, Any], name: str) -> float:
    return float(cell["gbps"][cell[name]] / cell["gbps"][cell["best"]])


def _choices(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "### Quality of the rules' choice\n"
    yield "Speed relative to the best policy. *Rule*: the paper's (4.1). *Candidates*: the best of the"
    yield "coordinator's list, timed. Both with hill climbing within equation (1). *Default*: the library"
    yield "without a coordinator.\n"
    rows = []
    for title, chosen in (
        (f"up to {FEW} threads", [c for c in cells if c["threads"] <= FEW]),
        (f"{MANY} threads and more", [c for c in cells if c["threads"] >= MANY]),
        ("all", list(cells)),
    ):
        row = [title, str(len(chosen))]
        for name in ("rule", "candidates"):
            shares = [_share(c, name) for c in chosen]
            near = sum(share >= 0.97 for share in shares)
            row += [f"{statistics.median(shares):.2f}", f"{min(shares):.2f}", str(near)]
        default = [c["gbps"]["default"] / c["gbps"][c["best"]] for c in chosen]
        rows.append([*row, f"{statistics.median(default):.2f}", f"{min(default):.2f}"])
    headings = (
        *(
            "cells",
            "number",
            "rule: median",
            "least",
            "within 3 %",
            "candidates: median",
            "least",
            "within 3 %",
        ),
        *("default: median", "least"),
    )
    yield from table(headings, rows)


def _winners(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "### Number of cells in which a policy is best\n"
    threads = sorted({c["threads"] for c in cells})
    counts = {n: Counter(walk(c["best"]) for c in cells if c["threads"] == n) for n in threads}
    names = sorted({name for count in counts.values() for name in count})
    rows = [[str(n), *(str(counts[n][name]) for name in names)] for n in threads]
    yield from table(("threads", *names), rows)


def _cells(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "### Every cell\n"
    yield "GB/s of data; in brackets: relative to the best.\n"

    def row(c: Mapping[str, Any]) -> list[str]:
        best, speed = c["best"], c["gbps"]
        chosen = [f"{c[name]} ({_share(c, name):.2f})" for name in ("rule", "candidates")]
        places = [str(c[name]) for name in ("threads", "length", "k")]
        return [
            *places,
            f"{best}",
            *chosen,
            f"{speed[best]:.2f}",
            f"{speed['default']:.2f}",
            f"{c['isal']:.2f}",
        ]

    headings = ("threads", "bytes", "k", "best policy", "rule", "candidates", "best", "default", "ISA-L")
    yield from table(headings, map(row, cells), 6)


def _orders(orders: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "### Orders of lines\n"
    yield "Hardware prefetches per loaded line, by the steps in one direction that trigger the prefetcher.\n"
    triggers = list(orders[0]["prefetches"])
    rows = [
        [
            f"{o['walk']}, {o['lines']}",
            o["name"],
            " ".join(map(str, o["order"])),
            *map(str, o["prefetches"].values()),
        ]
        for o in orders
    ]
    yield from table(("walk, lines", "order", "", *(f"after {t}" for t in triggers)), rows, 3)


def tables(found: Mapping[str, Any]) -> str:
    """Return the text between the marks."""
    parts = (
        _claims(found["claims"]),
        _frequency(found["curves"]["frequency"]),
        _distances(found["distances"]),
        [
            "## gfsmith's policies on persistent memory (predicted)\n",
            "Kernels for AVX-512 without GFNI, four outputs, on the paper's CPU; hill climbing finds the",
            "best distances of every policy, without the limit of equation (1).\n",
            f"![{ABOUT_POLICIES}](memory-policies.svg)\n",
        ],
        _winners(found["forecasts"]),
        _choices(found["forecasts"]),
        _parts(found["parts"]),
        _orders(found["orders"]),
        _cells(found["forecasts"]),
    )
    return "\n".join(line for part in parts for line in part)


def write(found: Mapping[str, Any]) -> None:
    """Write the tables to the page. Raises PageError, OSError."""
    fill(PAGE, "Predicted", (BEGIN, END), f"{tables(found)}\n")
