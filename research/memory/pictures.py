"""The pictures of docs/memory.md, from research/results/memory.json and from measurements on DRAM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.build import ROOT
from research.memory.measurements import measured
from tools.pictures import STYLE, svg

#: Folder of the model's tables, pictures and figures.
FOLDER = ROOT / "research" / "results"

ABOUT_CLAIMS = (
    "Claims of the papers about ratios of speeds, a row each: the range of the paper, the figure of the "
    "model, and the figure measured on the DRAM of this machine"
)
ABOUT_OBSERVATIONS = (
    "Predicted throughput of ISA-L and DIALGA on persistent memory: by number of data shards, by bytes of a "
    "block, and by threads for blocks of 4 KiB and 1 KiB, with and without the hardware prefetcher"
)
ABOUT_POLICIES = (
    "Predicted best policy on persistent memory: a map of data shards and bytes of a shard for each number "
    "of threads. The colour is the traversal order, the number is the speed over the default policy"
)

PAPER, MODEL, HERE_MEASURED, GREY = "#8d99ae", "#c1121f", "#2a9d8f", "#8d99ae"
#: Policy -> colour.
COLOURS = {
    "default": "#1d3557",
    "plain": "#8d99ae",
    "row": "#e9a03b",
    "rows4": "#c1121f",
    "block": "#2a9d8f",
    "block-shuffled": "#8ab17d",
    "shuffled": "#6d6875",
}


def claim_name(claim: Mapping[str, Any]) -> str:
    return f"{claim['source']}: {claim['text']}"


def walk(policy: str) -> str:
    return policy.split(",")[0]


def _sides(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_claims(found: Mapping[str, Any]) -> Figure:
    """Draw every claim that is a ratio of speeds: the paper's range, the model, this machine's DRAM."""
    claims = [c for c in found["claims"] if c["low"] is not None and "%" not in c["text"]]
    here = measured()
    figure: Figure
    figure, axes = pyplot.subplots(figsize=(8.4, 0.21 * len(claims) + 1.3))
    figure.subplots_adjust(left=0.47, right=0.97, top=1 - 0.45 / (0.21 * len(claims) + 1.3), bottom=0.08)
    for y, claim in enumerate(reversed(claims)):
        low, high = claim["low"], claim["high"]
        axes.barh(y, max(high - low, 0.02), left=low, height=0.7, color=PAPER)
        axes.plot(
            claim["model"], y, "o", color=MODEL, markersize=5, fillstyle="full" if claim["agrees"] else "none"
        )
        dram = here.get(claim_name(claim))
        if dram is not None:
            axes.plot(dram[0], y, "s", color=HERE_MEASURED, markersize=4)
    names = [claim_name(claim) for claim in reversed(claims)]
    axes.set_yticks(range(len(claims)), names, fontsize=7)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("ratio of speeds")
    _sides(axes)
    text = "grey: the paper's range; red: the model (hollow: does not agree); green: this machine's DRAM"
    figure.text(0.01, 1 - 0.25 / (0.21 * len(claims) + 1.3), text)
    return figure


def _lines(
    axes: Axes, rows: Sequence[Sequence[float]], columns: Sequence[tuple[int, str, str]], label: str
) -> None:
    for column, name, style in columns:
        axes.plot([row[0] for row in rows], [row[column] for row in rows], style, label=name, markersize=3)
    axes.set_xlabel(label)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=7)
    _sides(axes)


def draw_observations(found: Mapping[str, Any]) -> Figure:
    """Draw the model's figures 5, 6, 7 and 13: curves that the paper's text describes in words."""
    curves = found["curves"]
    figure: Figure
    figure, ((k, length), (threads, small)) = pyplot.subplots(2, 2, figsize=(8.4, 5.8))
    figure.subplots_adjust(left=0.07, right=0.98, top=0.90, bottom=0.08, hspace=0.38, wspace=0.2)
    on, off = (1, "ISA-L, prefetcher on", "o-"), (2, "off", "s--")
    _lines(k, curves["k"], (on, off, (3, "on, 64 streams", "^:")), "k (4 KiB blocks)")
    _lines(length, curves["length"], (on, off), "bytes in a block (k = 24)")
    for row in curves["length"]:
        length.annotate(
            f"+{row[3]:.0f} %", (row[0], row[1]), (-8, -12), textcoords="offset points", fontsize=7
        )
    _lines(threads, curves["threads"], (on, off), "threads (k = 24, 4 KiB)")
    wide = ((3, "ISA-L, k = 24", "o-"), (4, "DIALGA, k = 24", "o--"), (5, "ISA-L, k = 48", "^-"))
    _lines(small, curves["threads"], (*wide, (6, "DIALGA, k = 48", "^--")), "threads (1 KiB)")
    titles = ("as figure 5", "as figure 6; + excess reads of the media", "as figure 7", "as figure 13")
    for axes, title in zip((k, length, threads, small), titles, strict=True):
        axes.set_title(title, fontsize=9)
        axes.set_ylabel("GB/s")
    figure.text(0.01, 0.96, "The model (nothing measured): six Optane modules, ISA-L's AVX-512 code, m = 4")
    return figure


def _policies(axes: Axes, cells: Sequence[Mapping[str, Any]], title: str) -> None:
    ks = sorted({c["k"] for c in cells})
    lengths = sorted({c["length"] for c in cells})
    for cell in cells:
        x, y = ks.index(cell["k"]), lengths.index(cell["length"])
        colour = COLOURS[walk(cell["best"])]
        axes.add_patch(pyplot.Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, facecolor=colour, linewidth=0))
        gain = cell["gbps"][cell["best"]] / cell["gbps"]["default"]
        axes.text(x, y, f"{gain:.2f}", ha="center", va="center", color="white", fontsize=7)
    axes.set_xticks(range(len(ks)), [str(k) for k in ks])
    axes.set_yticks(range(len(lengths)), [str(n) for n in lengths])
    axes.set_xlim(-0.6, len(ks) - 0.4)
    axes.set_ylim(-0.6, len(lengths) - 0.4)
    axes.set_title(title, fontsize=9)
    axes.set_xlabel("k", labelpad=0)
    axes.set_ylabel("bytes", labelpad=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0)


def draw_policies(found: Mapping[str, Any]) -> Figure:
    """Draw the best policy of every cell and its gain over the default."""
    cells = found["forecasts"]
    threads = sorted({c["threads"] for c in cells})
    figure: Figure
    figure, grid = pyplot.subplots(2, 2, figsize=(8.4, 5.2))
    figure.subplots_adjust(left=0.08, right=0.98, top=0.84, bottom=0.08, hspace=0.42, wspace=0.18)
    for axes, number in zip(grid.flat, threads, strict=True):
        _policies(axes, [c for c in cells if c["threads"] == number], f"{number} thread{'s' * (number > 1)}")
    figure.text(
        0.01, 0.96, "Predicted for persistent memory: the best policy, and its speed over the default's"
    )
    for n, (name, colour) in enumerate(COLOURS.items()):
        figure.text(0.02 + 0.135 * n, 0.915, name, color="white", backgroundcolor=colour, fontsize=7)
    return figure


def pictures(found: Mapping[str, Any]) -> dict[str, str]:
    """Return file name -> contents, the same for the same results."""
    matplotlib.use("svg")
    with matplotlib.rc_context(STYLE):
        return {
            "memory-claims.svg": svg(draw_claims(found), ABOUT_CLAIMS),
            "memory-observations.svg": svg(draw_observations(found), ABOUT_OBSERVATIONS),
            "memory-policies.svg": svg(draw_policies(found), ABOUT_POLICIES),
        }
