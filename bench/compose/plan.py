"""The plan of the measurement: schemes, shapes, chunk sizes, and durations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

COMPOSED, INCOHERENT = "composed", "incoherent"
CONTENDERS = (COMPOSED, INCOHERENT)

#: Shapes of the paper: (k, m), and with l > 0 groups and r global parities LRC(k, l, r).
PLAIN = ((3, 2), (6, 3), (12, 4))
LOCAL = ((4, 2, 2), (6, 2, 2), (12, 2, 2))
ENCODE, REPAIR = "encode", "repair"
#: The tasks of each scheme; PPR and ECPipe have no encoding of their own.
TASKS = {
    "rs": (ENCODE, REPAIR),
    "lrc": (ENCODE, REPAIR),
    "ppr": (REPAIR,),
    "ecpipe": (REPAIR,),
    "triec": (ENCODE, REPAIR),
}
NAMES = {"rs": "RS", "lrc": "LRC", "ppr": "PPR", "ecpipe": "ECPipe", "triec": "TriEC"}
KIB, MIB = 1024, 1024 * 1024
LENGTHS = (128, 512, 2 * KIB, 8 * KIB, 32 * KIB, 128 * KIB, 512 * KIB, 2 * MIB, 8 * MIB, 16 * MIB)

#: Outstanding operations in bandwidth measurements.
WINDOW = 4
#: The lost shard in repairs.
LOST = 0
#: ECPipe sends a chunk in SLICES slices, of SLICE_LEAST bytes at least.
SLICES, SLICE_LEAST = 8, KIB
#: Chunk and numbers of slices in the study of ECPipe's slices.
STUDIED, STUDIED_SLICES = MIB, (1, 2, 4, 8, 16, 32, 64)


def size(length: int) -> str:
    """Return bytes with a unit: "128 B", "16 MiB"."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if length >= unit and length % unit == 0:
            return f"{length // unit} {name}"
    return f"{length} B"


@dataclass(frozen=True, slots=True)
class Cell:
    """One graph at one chunk size. l = 0: no local code; else m = l + r. window = 1: latency is measured."""

    scheme: str
    task: str
    k: int
    m: int
    length: int
    l: int = 0  # noqa: E741 (the paper's letter)
    r: int = 0
    slice: int = 0
    window: int = 1

    @property
    def shape(self) -> str:
        return f"{self.k},{self.l},{self.r}" if self.l else f"{self.k},{self.m}"

    @property
    def ranks(self) -> int:
        """Return the number of ranks: one for each shard, and one that has the data or receives the repaired
        shard."""
        return self.k + self.m + 1

    @property
    def graph(self) -> str:
        """Return the id without the chunk: cells with the same graph have one line of the model. It has no
        comma, which separates globs."""
        return f"{self.scheme}/{self.task}/{self.shape.replace(',', '+')}"

    @property
    def kind(self) -> str:
        return "latency" if self.window == 1 else "bandwidth"

    @property
    def id(self) -> str:
        slices = f"/{self.slice}" if self.slice else ""
        return f"{self.kind}/{self.graph}/{self.length}{slices}"

    @property
    def title(self) -> str:
        return f"{NAMES[self.scheme]} {self.shape.replace(',', '+')} {self.task}"

    @property
    def made(self) -> int:
        """Return the bytes that an operation produces: the paper's bandwidth is these over time (section
        IV-A)."""
        return self.length * (self.m if self.task == ENCODE else 1)

    def words(self) -> str:
        """Return the arguments of the driver's `open`."""
        lost = -1 if self.task == ENCODE else LOST
        fields = (self.scheme, self.k, self.m, self.l, self.r, lost, self.length, self.slice, self.window)
        return " ".join(map(str, fields))


@dataclass(frozen=True, slots=True)
class Effort:
    """rounds: of both contenders, in a new order each, if they fit into `seconds`, and `least` of them
    if they do not (`least_wide` for bandwidth); milliseconds: of a contender's part of a round,
    unless one operation takes longer; most: largest number of operations of such a part."""

    rounds: int = 9
    least: int = 5
    least_wide: int = 3
    seconds: float = 4.0
    milliseconds: int = 45
    most: int = 400


FULL = Effort()
QUICK = Effort(rounds=5, seconds=1.0, milliseconds=20, most=100)


def slice_of(scheme: str, length: int) -> int:
    """Return the bytes of a slice; 0: the whole chunk."""
    bytes_ = max(length // SLICES, SLICE_LEAST)
    return bytes_ if scheme == "ecpipe" and bytes_ < length else 0


_SHAPES = {
    "rs": [(k, m, 0, 0) for k, m in PLAIN],
    "lrc": [(k, groups + r, groups, r) for k, groups, r in LOCAL],
}


def _graphs() -> Iterator[tuple[str, str, tuple[int, int, int, int]]]:
    """Yield scheme, task and k, m, l, r."""
    for scheme, tasks in TASKS.items():
        shapes = _SHAPES["lrc" if scheme == "lrc" else "rs"]
        for task in tasks:
            for shape in shapes:
                yield scheme, task, shape


def _cell(scheme: str, task: str, shape: tuple[int, int, int, int], length: int, window: int) -> Cell:
    k, m, l, r = shape  # noqa: E741
    return Cell(scheme, task, k, m, length, l, r, slice_of(scheme, length), window)


def cells(quick: bool) -> list[Cell]:
    """Return all cells, grouped by the number of ranks; the quick ones: six data chunks, four sizes."""
    lengths: Sequence[int] = (128, 8 * KIB, 128 * KIB, 2 * MIB) if quick else LENGTHS
    graphs = [g for g in _graphs() if not quick or g[2][0] == 6]
    found = [_cell(*graph, length, 1) for graph in graphs for length in lengths]
    found += [_cell(*g, length, WINDOW) for g in graphs if g[2][0] == 6 for length in lengths]
    found += [
        Cell("ecpipe", REPAIR, 6, 3, STUDIED, slice=STUDIED // n if n > 1 else 0) for n in STUDIED_SLICES
    ]
    return sorted(found, key=lambda cell: cell.ranks)
