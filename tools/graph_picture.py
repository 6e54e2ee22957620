"""The picture of docs/compose/guide.md: the graphs of the schemes in columns, as laid out by gfsmith."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import gfsmith
from gfsmith.graph.check import prove
from gfsmith.graph.request import decoding, encoding
from gfsmith.graph.types import Graph, Vertex, primitive

SENDS, BOTH, RECEIVES, GREY = "#f4e3cf", "#dbe7f3", "#d8ecd9", "#8d99ae"
WIDTH, HEIGHT = 0.72, 0.62  #: of a box, in columns and rows


def graphs() -> tuple[tuple[str, Graph], ...]:
    """Return titles and graphs by row: two, one over the whole width, two."""
    six, three = gfsmith.Codec("cauchy", 6, 3), gfsmith.Codec("cauchy", 3, 2)
    to_reader = {0: 5, 1: 5}
    return (
        ("rs 6+3: shard 2 is rebuilt", decoding("rs", six, tuple(range(9)), (2,))),
        ("ppr 6+3: shard 2 is rebuilt", decoding("ppr", six, tuple(range(9)), (2,))),
        ("ecpipe 6+3: shard 2 is rebuilt", decoding("ecpipe", six, tuple(range(9)), (2,))),
        ("triec 3+2: rank 5 encodes", encoding("triec", three, tuple(range(5)), 5)),
        (
            "triec 3+2: rank 5 reads shards 0 and 1",
            decoding("triec", three, tuple(range(5)), (0, 1), None, to_reader),
        ),
    )


def columns(graph: Graph) -> Mapping[int, int]:
    """Return for every rank the transfers on the longest path from it to an end, so that ends are in column
    0."""
    found: dict[int, int] = {}
    for rank in reversed(prove(graph)):
        after = [found[edge.target] for edge in graph.edges if edge.source == rank]
        found[rank] = max(after, default=-1) + 1
    return found


def places(graph: Graph) -> dict[int, tuple[float, float]]:
    """Return columns from left to right, and in each column the ranks in the order of their receivers."""
    column = columns(graph)
    found: dict[int, tuple[float, float]] = {}
    for n in range(max(column.values()) + 1):

        def middle(rank: int) -> float:
            ys = [found[edge.target][1] for edge in graph.edges if edge.source == rank]
            return sum(ys) / len(ys) if ys else 0.0

        ranks = sorted((rank for rank in column if column[rank] == n), key=lambda rank: (-middle(rank), rank))
        for at, rank in enumerate(ranks):
            found[rank] = (-float(n), (len(ranks) - 1) / 2 - at)
    return found


def _colour(vertex: Vertex) -> str:
    if not vertex.receives:
        return SENDS
    return BOTH if vertex.sends else RECEIVES


def draw_graph(axes: Axes, title: str, graph: Graph) -> None:
    at = places(graph)
    for edge in graph.edges:
        (x, y), (to_x, to_y) = at[edge.source], at[edge.target]
        style = {"arrowstyle": "-|>", "color": GREY, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (to_x - WIDTH / 2, to_y), (x + WIDTH / 2, y), arrowprops=style)
    for vertex in graph.vertices:
        x, y = at[vertex.rank]
        box = pyplot.Rectangle((x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT, facecolor=_colour(vertex))
        axes.add_patch(box)
        axes.text(x, y + 0.14, f"rank {vertex.rank}{_held(vertex)}", ha="center", va="center", fontsize=7)
        axes.text(x, y - 0.14, primitive(vertex), ha="center", va="center", fontsize=6.5)
    xs, ys = zip(*at.values(), strict=True)
    axes.set_xlim(min(*xs, -2) - 0.4, max(xs) + 0.4)
    axes.set_ylim(min(ys) - 0.6, max(ys) + 0.6)
    axes.set_title(title, fontsize=9, loc="left")
    axes.axis("off")


def _held(vertex: Vertex) -> str:
    """Return the shard that the vertex computes with, or the shards that it receives."""
    if vertex.keeps:
        return " gets " + ", ".join(f"s{keep.shard}" for keep in vertex.keeps)
    return ": " + ", ".join(f"s{shard}" for shard in vertex.locals)


def draw() -> Figure:
    figure = pyplot.figure(figsize=(8.4, 8.0))
    grid = figure.add_gridspec(3, 2, height_ratios=(6, 1.2, 5), hspace=0.16, wspace=0.06)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.97, bottom=0.01)
    cells = (grid[0, 0], grid[0, 1], grid[1, :], grid[2, 0], grid[2, 1])
    for cell, (title, graph) in zip(cells, graphs(), strict=True):
        draw_graph(figure.add_subplot(cell), title, graph)
    return figure
