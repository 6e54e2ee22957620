"""A rank of a graph is killed (SIGKILL), before, during and after each of its phases: every other rank has
the right bytes, or a report with the killed rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from gfsmith.graph import request
from gfsmith.graph.types import Graph
from tests.support.levels import first
from tests.support.mutation import Mutant
from tests.system.compose.graphs import Shape, case_line, codec_of
from tests.system.compose.ranks import EPEER, OK, OPTIONS, SOURCES, Outcome, Ranks
from tests.system.compose.support import Library, with_error

LENGTH, SLICE, SLICES = 30000, 4096, 8
LOST = 0
REPAIRS = {"rs": (3, 2), "lrc": (4, 2, 2), "ppr": (3, 2), "ecpipe": (3, 2), "triec": (3, 2)}
ENCODINGS = {"rs": (3, 2), "triec": (3, 2)}  #: lrc encodes like rs


@dataclass(frozen=True, slots=True)
class Roles:
    """helper: receives nothing; sink: sends nothing; middle: does both, None if there is no such rank. A path
    leads from helper to sink.
    """

    helper: int
    middle: int | None
    sink: int


@dataclass(frozen=True, slots=True)
class Moment:
    """halts: the rank that stops before its call of this kind with this number, "" before the first message;
    victim: the rank that is killed then; reaches: True if the sink can have everything.
    """

    halts: str
    call: str
    number: int
    victim: str
    reaches: bool | None


#: The phases of the victim and its neighbours, in order.
MOMENTS = (
    Moment("", "", 0, "helper", False),
    Moment("", "", 0, "middle", False),
    Moment("", "", 0, "sink", None),
    Moment("helper", "granted", 0, "helper", False),
    Moment("helper", "write", SLICES // 2, "helper", False),
    Moment("helper", "sent", SLICES - 1, "helper", None),
    Moment("middle", "landed", 0, "middle", False),
    Moment("middle", "compute", SLICES // 2, "middle", False),
    Moment("middle", "write", SLICES - 1, "middle", False),
    Moment("sink", "landed", SLICES // 2, "helper", None),
    Moment("sink", "landed", SLICES // 2, "sink", None),
    Moment("sink", "compute", SLICES - 1, "sink", None),
    Moment("sink", "compute", SLICES - 1, "helper", True),
)

#: Errors that cause a missing or wrong report.
MUTANTS = (
    Mutant("int rank = refusal->blame;", "int rank = -1;"),
    Mutant("{ refuse_end(end, end == cause); gfc_end_done(end); }", "{ gfc_end_done(end); }"),
)


def graph_of(scheme: str, shape: Shape, encodes: bool) -> Graph:
    """Return the graph of native/graph_case.c, with the last rank as source or reader."""
    shards = sum(shape)
    holders = tuple(range(shards))
    if encodes:
        return request.encoding(scheme, codec_of(shape), holders, shards)
    return request.decoding(scheme, codec_of(shape), holders, [LOST], None, {LOST: shards})


def roles_of(graph: Graph) -> Roles:
    vertices = {v.rank: v for v in graph.vertices}
    middle = next((v for v in graph.vertices if v.receives and v.sends), None)
    last = middle or next(v for v in graph.vertices if not v.receives)
    sink = vertices[graph.edges[last.sends[0].edge].target]
    while sink.sends:
        sink = vertices[graph.edges[sink.sends[0].edge].target]
    first = middle or sink
    while first.receives:
        first = vertices[graph.edges[first.receives[0]].source]
    return Roles(first.rank, middle.rank if middle else None, sink.rank)


@dataclass(frozen=True, slots=True)
class Job:
    """case: in the format of native/graph_case.c."""

    id: int
    milliseconds: int
    case: str


def kill_at(ranks: Ranks, roles: Roles, moment: Moment, job: Job) -> dict[int, Outcome]:
    """Kill a rank and return the outcomes of the others."""
    victim = getattr(roles, moment.victim)
    if not moment.halts:
        ranks.post([rank for rank in ranks.alive if rank != victim], job.id, job.milliseconds, job.case)
        ranks.kill(victim)
    else:
        halts = getattr(roles, moment.halts)
        ranks.alive[halts].tell(f"halt {moment.call} {moment.number}")
        ranks.post(ranks.alive, job.id, job.milliseconds, job.case, halts)
        ranks.alive[halts].expect("halted")
        ranks.kill(victim)
        if halts != victim:
            ranks.alive[halts].tell("go")
            ranks.alive[halts].expect("posted")
    return {rank: one.outcome() for rank, one in ranks.alive.items()}


def check(outcomes: dict[int, Outcome], roles: Roles, moment: Moment) -> None:
    """Check that each rank has the right bytes or a report with the killed rank, sent at its end and not at
    the deadline.
    """
    for rank, one in outcomes.items():
        right = (one.status, one.words) == (OK, "right")
        told = (one.status, one.rank) == (EPEER, getattr(roles, moment.victim)) and one.words != ""
        assert right or (told and "no link" not in one.words), f"{moment}: rank {rank}: {one}"
    if moment.reaches is not None:
        assert (outcomes[roles.sink].status == OK) is moment.reaches, f"{moment}: {outcomes}"


def run(where: Path, scheme: str, shape: Shape, encodes: bool, milliseconds: int = 20000) -> None:
    graph = graph_of(scheme, shape, encodes)
    roles = roles_of(graph)
    lost = () if encodes else (LOST,)
    case = case_line(scheme, shape, length=LENGTH, slice_bytes=SLICE, reader=sum(shape), lost=lost)
    moments = [one for one in MOMENTS if roles.middle is not None or "middle" not in (one.halts, one.victim)]
    everybody = [v.rank for v in graph.vertices]
    with Ranks(where, "tcp", everybody) as ranks:
        for n, moment in enumerate(moments):
            check(kill_at(ranks, roles, moment, Job(2 * n, milliseconds, case)), roles, moment)
            ranks.start(everybody)
            ranks.post(everybody, 2 * n + 1, milliseconds, case)
            assert {one.outcome() for one in ranks.alive.values()} == {Outcome(OK, -1, "right")}


def program(library: Library) -> Path:
    return library.program("graph_node", *SOURCES, options=OPTIONS)


@pytest.mark.campaign
@pytest.mark.parametrize("scheme", first(REPAIRS))
def test_repairs(plain: Library, scheme: str) -> None:
    run(program(plain), scheme, REPAIRS[scheme], False)


@pytest.mark.campaign
@pytest.mark.parametrize("scheme", first(ENCODINGS))
def test_encodings(plain: Library, scheme: str) -> None:
    run(program(plain), scheme, ENCODINGS[scheme], True)


@pytest.mark.campaign
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_mutant(plain: Library, tmp_path: Path, mutant: Mutant) -> None:
    """With one line of the library changed, a report is missing or wrong."""
    made = with_error(plain, mutant, tmp_path, "graph_node", *SOURCES, options=OPTIONS)
    with pytest.raises(AssertionError, match="rank"):
        run(made, "ecpipe", REPAIRS["ecpipe"], False, milliseconds=1000)
