"""Pictures of README.md, docs/compose/guide.md and bench/results/performance: python -m tools.pictures draws
them; with --check it names the stale ones.

bench/results/speed.svg (speed_picture.py) and those of bench/results/performance are drawn from the tables
of the pages there, which `make bench` measured and `--publish` wrote; docs/pictures/proofs.svg
(proofs_picture.py) from gen_out/PROOFS.json and two records in tests/unit/golden; docs/pictures/graphs.svg
(graph_picture.py) from the layouts of `gfsmith graph`. None has a date or a host; matplotlib is pinned, so
the same data give the same bytes.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib import pyplot
from matplotlib.figure import Figure

from bench import curves
from bench.style import described
from tools import graph_picture, proofs_picture, speed_picture

ROOT = Path(__file__).resolve().parents[1]
PERFORMANCE = ROOT / "bench" / "results" / "performance"
PROOFS = ROOT / "gen_out" / "PROOFS.json"
GOLDEN = ROOT / "tests" / "unit" / "golden"
OBJECTS, EXECUTED = GOLDEN / "proved_objects.json", GOLDEN / "executed_kernels.json"
TOP = ROOT  #: folder of the written pictures

ABOUT_GRAPHS = (
    "Graphs of the composed primitives: rs, ppr and ecpipe rebuild shard 2 of a 6+3 stripe; triec encodes a "
    "3+2 stripe and reads two of its shards. Each box names the rank, its shard and its primitive"
)
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "gfsmith", "font.size": 9, "font.family": "DejaVu Sans"}


def svg(figure: Figure, description: str) -> str:
    """Return the picture as text, equal for equal data, with a title and a description."""
    kept = io.StringIO()
    figure.savefig(kept, format="svg", metadata={"Date": None, "Creator": "gfsmith: make pictures"})
    pyplot.close(figure)
    text = "\n".join(line.rstrip() for line in kept.getvalue().splitlines()) + "\n"
    return described(text, description)


def proofs() -> list[proofs_picture.Row]:
    """Return the rows of proofs.svg. Raises OSError."""
    kernels, objects, executed = (
        json.loads(path.read_text(encoding="utf-8")) for path in (PROOFS, OBJECTS, EXECUTED)
    )
    return proofs_picture.rows(kernels["kernels"], objects, executed)


def pictures() -> dict[str, str]:
    """Return path in the repository -> contents. Raises ValueError, OSError."""
    matplotlib.use("svg")
    with matplotlib.rc_context(STYLE):
        pages = {file.stem: file.read_text(encoding="utf-8") for file in sorted(PERFORMANCE.glob("*.md"))}
        curved = [curves.draw(text, cpu) for cpu, text in pages.items()]
        text = pages[speed_picture.CPU]
        return {
            **{f"bench/results/performance/{file}": d for drawn in curved for file, d in drawn.items()},
            "bench/results/speed.svg": svg(speed_picture.draw(text), speed_picture.ABOUT),
            "docs/pictures/proofs.svg": svg(proofs_picture.draw(proofs()), proofs_picture.ABOUT),
            "docs/pictures/graphs.svg": svg(graph_picture.draw(), ABOUT_GRAPHS),
        }


def main(words: Sequence[str]) -> int:
    if words not in ([], ["--check"]):
        print("usage: python -m tools.pictures [--check]", file=sys.stderr)
        return 2
    stale = [
        name for name, text in pictures().items()
        if not (TOP / name).exists() or (TOP / name).read_text(encoding="utf-8") != text
    ]  # fmt: skip
    if words:
        for name in stale:
            print(f"{name} does not match its data: run `make pictures`", file=sys.stderr)
        return 1 if stale else 0
    for name, text in pictures().items():
        (TOP / name).parent.mkdir(parents=True, exist_ok=True)
        (TOP / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
