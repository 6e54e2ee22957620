"""Counts of the work of each primitive, by the library's engine, next to the rules of INEC's Table I.

The table itself is a picture in the paper. Its cells follow from the rules of section III-B, which
`expected` applies to the vertices of our graphs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from bench.compose.plan import CONTENDERS, KIB, TASKS, Cell, slice_of
from bench.result_store import Json

#: Bytes of a chunk; the counts are proportional to it.
CHUNK = 4 * KIB
PRIMITIVES = ("ec-send", "recv-ec-send", "recv-ec")
CALCULATORS = ("forward", "xor", "ec")
#: The last cell cuts the chunk into slices.
CELLS = (
    *(
        Cell(scheme, task, 6, 4 if scheme == "lrc" else 3, CHUNK, *((2, 2) if scheme == "lrc" else (0, 0)))
        for scheme, tasks in TASKS.items()
        for task in tasks
    ),
    Cell("ecpipe", "repair", 6, 3, CHUNK, slice=slice_of("ecpipe", CHUNK)),
)


class Counts(Protocol):
    """Fleet functions that counting needs."""

    def open(self, cell: Cell) -> dict[str, Any]: ...
    def run(self, contender: str, count: int) -> list[tuple[float, float]]: ...
    def counts(self) -> dict[int, dict[str, Any]]: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Expected:
    """A vertex by the paper's rules. operations: bytes multiplied and added, x y c for an x * y matrix or n c
    for the sum of n chunks; receives, sends: chunks; states: WAITs, one for each chunk received or sent
    (figure 4); dma: bytes that need not be read from memory again, c if a computed chunk is sent once."""

    primitive: str
    operations: int
    receives: int
    sends: int
    states: int
    involvement: int
    dma: int


def expected(vertex: Json, length: int) -> Expected:
    """Return a vertex (of a graph as JSON) by the rules. Outputs that are inputs need no operation."""
    rows = [row for row in vertex["matrix"] if sum(map(bool, row)) != 1 or 1 not in row]
    receives, sends = len(vertex["receives"]), len(vertex["sends"])
    primitive = PRIMITIVES[2 if sends == 0 else int(receives > 0)]
    return Expected(
        primitive=primitive,
        operations=length * sum(map(len, rows)),
        receives=receives,
        sends=sends,
        states=receives + sends,
        involvement=receives + sends,
        dma=length if len(rows) == 1 and sends == 1 else 0,
    )


def count(fleet: Counts, cell: Cell) -> Json:
    """Return counts and expectations of every rank of a cell: `ranks`, by rank. Raises RunError."""
    graph = fleet.open(cell)
    found: Json = {
        str(v["rank"]): {"paper": asdict(expected(v, cell.length)), "inputs": len(v["matrix"][0])}
        for v in graph["vertices"]
    }
    for contender in CONTENDERS:
        fleet.run(contender, 1)
        for rank, counted in fleet.counts().items():
            found[str(rank)][contender] = counted
    fleet.close()
    return {
        "scheme": cell.scheme,
        "task": cell.task,
        "shape": cell.shape,
        "slice": cell.slice,
        "ranks": found,
    }


def name(counted: Json) -> str:
    """Return the name of a counted primitive: "recv-ec-send", or "recv-xor-send" for a sum. A primitive that
    only forwards has neither word."""
    calculator = CALCULATORS[counted["calculator"]]
    words = PRIMITIVES[counted["primitive"]].split("-")
    place = words.index("ec")
    words[place : place + 1] = [] if calculator == "forward" else [calculator]
    return "-".join(words)


def alike(ranks: Json) -> list[tuple[list[str], Json]]:
    """Group the ranks with equal counts, in the order of their first ranks."""
    found: list[tuple[list[str], Json]] = []
    for rank, one in ranks.items():
        for names, other in found:
            if other == one:
                names.append(rank)
                break
        else:
            found.append(([rank], one))
    return found


def differences(cells: Iterable[Json]) -> list[str]:
    """Return the counts that differ from the rules, in words: operations, chunks, and states. The rule for
    states holds for each slice."""
    found = []
    for cell in cells:
        for rank, one in cell["ranks"].items():
            paper = one["paper"]
            for contender in CONTENDERS:
                counted = one[contender]
                slices, composed = counted["slices"], contender == CONTENDERS[0]
                pairs = {
                    "operations": (counted["products"], paper["operations"]),
                    "chunks received": (counted["bytes_received"], paper["receives"] * CHUNK),
                    "chunks sent": (counted["bytes_sent"], paper["sends"] * CHUNK),
                    "states": (counted["activations"], paper["states"] * slices if composed else 0),
                }
                for what, (ours, rule) in pairs.items():
                    if ours != rule:
                        where = f"{cell['scheme']} {cell['task']} {cell['shape']}, rank {rank}, {contender}"
                        found.append(f"{where}: {what} {ours}, by the rule {rule}")
    return found
