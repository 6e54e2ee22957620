"""`gfsmith bench`: the speed of one code and shape on this machine, next to installed peers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gfsmith import codes
from gfsmith.cli import library
from gfsmith.cli.console import OutputPath, fail, out, print_json, progress
from gfsmith.cli.sizes import Size
from gfsmith.codes.names import LRC
from gfsmith.emit.files import replacing

if TYPE_CHECKING:
    from gfsmith.codec import Codec
    from gfsmith.explore.bench.measure import Figure

_TARGET = re.compile(r"(?P<code>[a-z0-9_-]+):(?P<k>0|[1-9]\d{0,2})x(?P<m>0|[1-9]\d{0,2})")
GREATEST = 64 << 20  #: bytes of a shard
PICTURES = (".png", ".svg", ".pdf")
PLACES = ("same stripe", "from memory")


def _shape(target: str) -> tuple[str, int, int]:
    """Return the code, k and m of a target. Raises CodeError."""
    found = _TARGET.fullmatch(target)
    if found is None or found["code"] == LRC.name:
        allowed = "CODE:KxM, such as cauchy:14x3, with a code of `gfsmith codes` but lrc"
        fail(f"target '{target}'; allowed: {allowed}")
    k, m = int(found["k"]), int(found["m"])
    codes.parity_matrix(found["code"], k, m)  # refuses other shapes in one line
    return found["code"], k, m


def _picture(path: Path | None) -> None:
    """Check before the measurement that the picture can be drawn."""
    if path is None:
        return
    if path.suffix not in PICTURES:
        fail(f"--plot {path}; allowed: a name that ends in {', '.join(PICTURES)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        fail("--plot needs matplotlib: pip install matplotlib, or omit --plot")


def _figures(codec: Codec, length: int, seconds: int) -> Iterator[Figure]:
    """Measure all cells, each for its share of the time."""
    from gfsmith.explore.bench import contenders, measure, stripes

    far = stripes.fill(codec.n, length)
    cells = [
        (contenders.task(codec, work), place, stripes.first(far) if place == PLACES[0] else far)
        for work in contenders.Work
        for place in PLACES
    ]
    share = seconds / len(cells)
    with progress("measure", seconds) as advance:
        due, shown = 0.0, 0

        def passed(time: float) -> None:
            nonlocal due, shown
            due = min(due + time, seconds)
            advance(int(due) - shown)
            shown = int(due)

        for what, place, where in cells:
            found = contenders.find(what)
            contenders.check(what, found, where)
            yield from measure.measure(what, place, where, found, share, passed)


def _drawn(plot: Path, title: str, figures: Iterator[Figure]) -> list[Figure]:
    """Measure the figures and draw them. A path that cannot be written is refused before the measurement."""
    from gfsmith.explore.bench import show

    with replacing(plot) as stage:
        found = list(figures)
        show.draw(stage, title, found)
    return found


@click.command("bench")
@click.argument("target", metavar="CODE:KxM")
@click.option(
    "--block",
    "length",
    type=Size(1, GREATEST),
    default="64K",
    show_default=True,
    help="Bytes of a shard, such as 4096, 64K or 1M.",
)
@click.option(
    "--seconds", type=click.IntRange(1, 3600), default=16, show_default=True, help="Time to measure."
)
@click.option(
    "--plot", type=OutputPath(path_type=Path, dir_okay=False), help="Draw a picture into this file."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(target: str, length: int, seconds: int, plot: Path | None, as_json: bool) -> None:
    """Measure encoding and reconstruction of a code and shape on this machine, on one thread, next to ISA-L,
    Jerasure and zfec where they are installed.

    Contenders run alternately, and results are compared first. "same stripe": every call has the same shards;
    "from memory": stripes of 512 MiB or more, far apart."""
    code, k, m = _shape(target)
    _picture(plot)
    library.need("gfsmith bench")
    from gfsmith.codec import get_isa
    from gfsmith.explore.bench import show
    from gfsmith.repair import planner

    measured = _figures(planner.codec(code, k, m, None), length, seconds)
    title = f"{target}, shards of {length} bytes"
    figures = list(measured) if plot is None else _drawn(plot, title, measured)
    if as_json:
        print_json(
            {
                "target": target,
                "length": length,
                "isa": get_isa(),
                "figures": [figure.as_json() for figure in figures],
            }
        )
        return
    out().print(show.table(f"{title}, {get_isa()}, one thread", figures))
