"""The plots of a report: Bokeh figures that share one data source and one filter, as JSON for BokehJS.

Colours are those of Okabe and Ito, which people with any kind of colour vision can distinguish, and a marker
repeats the information of each colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

from bokeh.embed import json_item
from bokeh.layouts import row as side_by_side
from bokeh.models import CDSView, ColumnDataSource, HoverTool, IndexFilter, Slope
from bokeh.plotting import figure
from bokeh.resources import Resources
from bokeh.transform import factor_cmap, factor_mark

from gfsmith.explore.tune import show
from gfsmith.explore.tune.variants import Row

#: Value of the column `mark` -> colour and marker.
_MARKS = {
    "reference": ("#000000", "x"),
    "winner": ("#0072b2", "circle"),
    "tied": ("#009e73", "square"),
    "no final": ("#e69f00", "diamond"),
    "other": ("#9a9a9a", "triangle"),
}
_HOVER = [
    ("target", "@target on @cpu"),
    ("path", "@path, @length bytes"),
    ("settings", "@settings"),
    ("result", "@kernel, @result, @phase"),
    ("speed", "@interval"),
    ("GB/s", "@rate"),
    ("% of limits", "memory @memory, ports @ports"),
    ("cycles", "@cycles, model of @model"),
]
_TOOLS = "pan,box_zoom,reset,tap,box_select"
_RATE = "GB/s of source data, one thread"


def library() -> str:
    """Return the JavaScript of BokehJS, which embeds and draws the plots."""
    return "\n".join(Resources(mode="inline", components=["bokeh"]).js_raw)


def _plot(source: ColumnDataSource, view: CDSView, x: str, label: str, title: str) -> Any:
    """Return the plot of GB/s over a column; a variant without a value in it has no point."""
    names = list(_MARKS)
    colours, markers = zip(*_MARKS.values(), strict=True)
    found = figure(
        title=title, x_axis_label=label, y_axis_label=_RATE, tools=_TOOLS, sizing_mode="stretch_width",
        height=380, x_axis_type="log" if x == "length" else "linear", name=x,
    )  # fmt: skip
    found.add_tools(HoverTool(tooltips=_HOVER))
    found.toolbar.logo = None
    found.scatter(
        x, "rate", source=source, view=view, size=9, fill_alpha=0.6, legend_field="mark", name=f"points {x}",
        color=factor_cmap("mark", colours, names), marker=factor_mark("mark", markers, names),
    )  # fmt: skip
    found.legend.background_fill_alpha = 0.5
    return found


def _lengths(plot: Any, rows: Sequence[Row]) -> None:
    """Label the axis with the block lengths that occur."""
    lengths = sorted({int(row["length"] or 0) for row in rows})
    plot.xaxis.ticker = lengths
    plot.xaxis.major_label_overrides = {length: show.size(length) for length in lengths}


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a document with ids in the order of occurrence. Bokeh counts them within its process."""
    match value:
        case dict():
            return {
                key: names.setdefault(item, f"m{len(names)}")
                if key in ("id", "root_id") and isinstance(item, str)
                else _renamed(item, names)
                for key, item in value.items()
            }
        case list():
            return [_renamed(item, names) for item in value]
    return value


def _column(rows: Sequence[Row], name: str) -> list[Any]:
    """Return a column with NaN for missing values. BokehJS would draw a point without a value at 0."""
    return [nan if row[name] is None else row[name] for row in rows]


def document(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the plots for `Bokeh.embed.embed_item`. The data source `variants` has the rows in their order;
    the page sets the indices of the filter `passing`."""
    source = ColumnDataSource({name: _column(rows, name) for name in rows[0]}, name="variants")
    view = CDSView(filter=IndexFilter(indices=list(range(len(rows))), name="passing"))
    throughput = _plot(source, view, "length", "block length (bytes of one shard)", "Throughput")
    _lengths(throughput, rows)
    plots = [throughput]
    if any(row["limit"] is not None for row in rows):
        label = "lower limit of the cell, memory or ports, GB/s"
        roofline = _plot(source, view, "limit", label, "Throughput against the machine's limits")
        roofline.add_layout(Slope(gradient=1, y_intercept=0, line_dash="dashed"))
        plots.append(roofline)
    if any(row["cycles"] is not None for row in rows):
        label = "predicted cycles per 64 bytes of every shard"
        plots.append(_plot(source, view, "cycles", label, "Throughput against predicted cycles"))
    item = json_item(side_by_side(*plots, sizing_mode="stretch_width"))
    renamed: dict[str, Any] = _renamed(item, {})
    return renamed
