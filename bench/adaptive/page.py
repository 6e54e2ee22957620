"""The tables of bench/results/adaptive.md and its pictures, from adaptive.json in the same folder."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from bench.adaptive.judge import MARGIN, significantly_behind
from bench.adaptive.pictures import draw
from bench.adaptive.plan import ADAPTIVE, DEFAULT, ISAL, ISAL_D, XOR_CODES
from bench.adaptive.results import is_behind
from bench.build import RESULTS
from bench.result_store import Json, fill, table
from gfsmith.explore.stats import Estimate

PAGE = RESULTS / "adaptive.md"
BEGIN, END = "<!-- dram -->", "<!-- /dram -->"
#: The text about the method.
METHOD = Path(__file__).with_name("method.md")


def ratio(cell: Json, key: str) -> Estimate:
    """Return a figure of a cell with its interval."""
    median, low, high = cell[key]
    return Estimate(median, low, high)


def name(cell: Json) -> str:
    order = "" if cell["order"] == "sequential" else f", {cell['order']} order"
    threads = "1 thread" if cell["threads"] == 1 else f"{cell['threads']} threads"
    return f"{cell['k']}+{cell['m']}, {cell['length']} B, {threads}{order}"


def _near(cell: Json) -> bool:
    return not is_behind(cell)


def _significantly_behind(cell: Json) -> bool:
    return significantly_behind(ratio(cell, "over_static_best"))


def _behind_isal(cell: Json) -> bool:
    return "gain_isal" in cell and float(cell["gain_isal"][0]) < 1


def policy_words(text: str) -> str:
    return "default" if text == DEFAULT else text


def _speed(cell: Json, who: str) -> str:
    value = cell["gigabytes_per_second"].get(who)
    return "-" if value is None else f"{value:.1f}"


def _times(value: Estimate) -> str:
    return f"{value.median:.2f} ({value.low:.2f}..{value.high:.2f})"


def _share(cells: Sequence[Json], test: Callable[[Json], bool]) -> str:
    return f"{sum(map(test, cells))} of {len(cells)}"


def _middle(cells: Sequence[Json], key: str) -> str:
    """Return median and range over cells of a figure's median."""
    values = sorted(cell[key][0] for cell in cells if key in cell)
    if not values:
        return "-"
    return f"{statistics.median(values):.2f} ({values[0]:.2f}..{values[-1]:.2f})"


def _settling(cells: Sequence[Json]) -> str:
    calls = sorted(cell["settled_calls"] for cell in cells)
    return f"{statistics.median(calls):.0f} ({calls[0]}..{calls[-1]})"


def _xor(cells: Sequence[Json]) -> list[str]:
    """Return the XOR-based codes that some cells were measured with."""
    return [code for code in XOR_CODES if any(f"gain_{code}" in cell for cell in cells)]


def summary(cells: Sequence[Json]) -> Iterator[str]:
    """Yield the table of the number of cells with a property, for each number of threads and order."""
    kinds = sorted({(cell["order"] != "sequential", cell["threads"]) for cell in cells})
    parts = [[c for c in cells if (c["order"] != "sequential", c["threads"]) == kind] for kind in kinds]
    words = [f"{threads} thread{'s' * (threads > 1)}{', random' * other}" for other, threads in kinds]
    rows: list[tuple[str, Callable[[Sequence[Json]], str]]] = [
        ("cells", lambda some: str(len(some))),
        (f"within {MARGIN:.0%} of the static best", lambda some: _share(some, _near)),
        ("behind it with the whole interval", lambda some: _share(some, _significantly_behind)),
        ("faster than ISA-L", lambda some: _share(some, lambda c: not _behind_isal(c))),
        ("time / static best's", lambda some: _middle(some, "over_static_best")),
        ("speed / static default's", lambda some: _middle(some, "gain_default")),
        ("speed / ISA-L's", lambda some: _middle(some, "gain_isal")),
        ("speed / ISA-L-D's", lambda some: _middle(some, "gain_isal_d")),
        *((f"speed / {code.title()}'s", partial(_middle, key=f"gain_{code}")) for code in _xor(cells)),
        ("time / the same policy without adapting", lambda some: _middle(some, "cost")),
        ("calls until the policy was settled", _settling),
        ("settled within the time limit", lambda some: _share(some, lambda c: bool(c["settled"]))),
    ]
    yield from table(["", *words], [[text, *(figure(part) for part in parts)] for text, figure in rows])


def _paper_cells(cells: Sequence[Json]) -> list[Json]:
    """Return the paper's default cells: m = 4 and 1 KiB, as in its figure 10."""
    return [c for c in cells if (c["m"], c["length"], c["order"]) == (4, 1024, "sequential")]


def _figures(cells: Sequence[Json]) -> Iterator[str]:
    headings = (
        "shape",
        "default",
        "static best",
        "adaptive",
        "ISA-L",
        "ISA-L-D",
        *(code.title() for code in _xor(cells)),
        "policy",
        "static best's policy",
    )
    rows = []
    for cell in cells:
        best = max((policy_words(who) for who in cell["static_best"]), key=len)
        own = cell["static_best"][0]
        speeds = [_speed(cell, who) for who in (DEFAULT, own, ADAPTIVE, ISAL, ISAL_D, *_xor(cells))]
        rows.append([name(cell), *speeds, f"`{cell['policy']}`", f"`{best}`"])
    yield from table(headings, rows)


def _behind_figures(cell: Json | None) -> list[str]:
    """Return the relative time, the policy, and the static best."""
    if cell is None:
        return ["-", "-", "-"]
    best = ", ".join(f"`{policy_words(who)}`" for who in dict.fromkeys(cell["static_best"]))
    return [_times(ratio(cell, "over_static_best")), f"`{cell['policy_at_the_end']}`", best]


def _lost(first: dict[str, Json], again: dict[str, Json]) -> Iterator[str]:
    """Yield the table of cells in which the adaptive policy loses: repeated losses first, then worst
    first."""
    cells = list(first.values())
    lost = {id: cell for id, cell in first.items() if not _near(cell)}
    twice = {id for id in lost if id in again and not _near(again[id])}
    yield f"## Cells more than {MARGIN:.0%} behind the static best: {len(lost)}\n"
    if again:
        sure = sum(_significantly_behind(lost[id]) and _significantly_behind(again[id]) for id in twice)
        yield (
            f"They were measured a second time, by another process with a new coordinator: {len(twice)} of "
            f"{len(again)} are behind again (first in the table), {sure} of them with the whole interval "
            "both times. A cell that is behind only once may be noise of the search or of the comparison; "
            f"by chance alone about {len(lost) * len(lost) / len(cells):.0f} would be behind twice.\n"
        )
    order = sorted(lost, key=lambda id: (id not in twice, -float(lost[id]["over_static_best"][0])))
    rows: Iterable[list[str]] = (
        [name(lost[id]), *_behind_figures(lost[id]), *_behind_figures(again.get(id))] for id in order
    )
    if any(cell["policy_at_the_end"] == "none" for cell in lost.values()):
        yield (
            "`none`: the coordinator's table was full, since all cells were measured in one process with one "
            "coordinator; it then runs as default, and reports it.\n"
        )
    second = ("second time", "its policy", "static best")
    yield from table(("cell", "time / static best's", "its policy", "static best", *second), rows)
    slower = [c for c in cells if _behind_isal(c)]
    yield f"## Cells behind ISA-L: {len(slower)}\n"
    rows = ([name(c), _times(ratio(c, "gain_isal")), f"`{c['policy_at_the_end']}`"] for c in slower)
    yield from table(("cell", "speed / ISA-L's", "its policy"), rows)


def _calls(phase: Json) -> str:
    calls = phase["recovered_after_calls"]
    if calls is None:
        return "not within the phase"
    return "at once" if calls == 0 else str(calls)


def _changes(changes: dict[str, Json]) -> Iterator[str]:
    headings = (
        "change",
        "to",
        "calls until within 3 %",
        "then: adaptive",
        "default",
        "best before the change",
        "static best",
    )
    rows = []
    for what, change in changes.items():
        for phase in change["phases"][1:]:
            late = phase["second_half_over_static_best"]
            times = [f"{late[who][0]:.2f}" for who in ("adaptive", "default", "other_best")]
            best = f"`{policy_words(phase['static_best'])}`"
            rows.append([what, phase["state"], _calls(phase), *times, best])
    yield from table(headings, rows, 2)


def section(content: Json, pictures: Sequence[tuple[str, str]]) -> str:
    """Return the text between the marks. `pictures`: file and text alternative."""
    cells = list(content["cells"].values())
    how = content["method"]
    lines = [
        METHOD.read_text(),
        f"Measured on {content['machine']}. {how['pool_mib']} MiB of random bytes were cut into consecutive "
        f"stripes ({how['stagger_bytes']} bytes between shards, {how['pages']} pages), which were visited in "
        "that order or, where stated, in random order. Figures are medians of paired samples, ratios taken "
        "within a round, with 95 % intervals; in the first table, median and range over the cells.\n",
        *summary(cells),
        *(f"![{what}]({file})\n" for file, what in pictures),
        "## The paper's default: 1 KiB, m = 4\n",
        "GB/s of source data.\n",
        *_figures(_paper_cells(cells)),
        *_lost(content["cells"], content["again"]),
    ]
    if content["changes"]:
        lines += [
            "## After a change\n",
            "The first column of figures counts the adaptive codec's calls in the new state until it is "
            "within 3 % of the static best of that state and remains there; the others are times relative to "
            "that static best in the second half of the phase.\n",
            *_changes(content["changes"]),
        ]
    return "\n".join(lines).rstrip() + "\n"


def publish(results: Path) -> None:
    """Replace the text between the marks of bench/results/adaptive.md, and draw the pictures again.

    A page without marks gets them at its end.

    Raises FileNotFoundError without results or page, PageError if the page has one mark only.
    """
    content = json.loads(results.read_text())
    fill(PAGE, "Measured", (BEGIN, END), section(content, draw(content, RESULTS)))
