"""A rank of a graph is killed (SIGKILL), before, during and after each of its phases: every other one has the
right bytes, or is told who is gone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from gfsmith.graph import request
from gfsmith.graph.types import Graph

from .graphs import Shape, case_line, code_of
from .ranks import EPEER, OK, OPTIONS, SOURCES, Outcome, Ranks
from .support import ROOT, Library, compile_c

LENGTH, SLICE, SLICES = 30000, 4096, 8
LOST = 0
REPAIRS = {"rs": (3, 2), "lrc": (4, 2, 2), "ppr": (3, 2), "ecpipe": (3, 2), "triec": (3, 2)}
ENCODINGS = {"rs": (3, 2), "triec": (3, 2)}  #: that of lrc is as that of rs


@dataclass(frozen=True, slots=True)
class Roles:
    """helper: nobody sends to it; sink: it sends to nobody; middle: both, None if there is no such rank.
    Between helper and sink there is a way."""

    helper: int
    middle: int | None
    sink: int


@dataclass(frozen=True, slots=True)
class Moment:
    """halts: who stops before its call of this kind with this number, "" before anybody sends; victim: who is
    killed then; reaches: whether the sink can have everything."""

    halts: str
    call: str
    number: int
    victim: str
    reaches: bool | None


#: What happens to the victim, or around it, in order.
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

#: File, what stands there, what stands there instead.
MUTANTS = (
    ("ending.c", "int rank = refusal->blame;", "int rank = -1;"),
    (
        "ending.c",
        "      refuse_end(end, end == cause);\n      gfc_end_done(end);",
        "      gfc_end_done(end);",
    ),
)


def graph_of(scheme: str, shape: Shape, encodes: bool) -> Graph:
    """As native/graph_case.c lays it out, with the last rank as source or reader."""
    shards = sum(shape)
    holders = tuple(range(shards))
    if encodes:
        return request.encoding(scheme, code_of(shape), holders, shards)
    return request.decoding(scheme, code_of(shape), holders, [LOST], None, {LOST: shards})


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
    """case: as native/graph_case.c reads it."""

    id: int
    milliseconds: int
    case: str


def kill_at(ranks: Ranks, roles: Roles, moment: Moment, job: Job) -> dict[int, Outcome]:
    """What the others say."""
    victim = getattr(roles, moment.victim)
    if not moment.halts:
        ranks.post([rank for rank in ranks.alive if rank != victim], job.id, job.milliseconds, job.case)
        ranks.kill(victim)
    else:
        halts = getattr(roles, moment.halts)
        ranks.alive[halts].tell(f"halt {moment.call} {moment.number}")
        ranks.post(ranks.alive, job.id, job.milliseconds, job.case, halts)
        ranks.alive[halts].hear("halted")
        ranks.kill(victim)
        if halts != victim:
            ranks.alive[halts].tell("go")
            ranks.alive[halts].hear("posted")
    return {rank: one.outcome() for rank, one in ranks.alive.items()}


def check(outcomes: dict[int, Outcome], roles: Roles, moment: Moment) -> None:
    """Right, or told who is gone; and told when it was gone, not at the deadline."""
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


@pytest.mark.parametrize("scheme", REPAIRS)
def test_repairs(plain: Library, scheme: str) -> None:
    run(program(plain), scheme, REPAIRS[scheme], False)


@pytest.mark.parametrize("scheme", ENCODINGS)
def test_encodings(plain: Library, scheme: str) -> None:
    run(program(plain), scheme, ENCODINGS[scheme], True)


@pytest.mark.parametrize(("file", "before", "after"), MUTANTS)
def test_mutant(plain: Library, tmp_path: Path, file: str, before: str, after: str) -> None:
    """With one line of the library changed, somebody is not told, or wrongly."""
    text = (ROOT / "runtime/compose/src" / file).read_text()
    assert text.count(before) == 1, f"{file} does not have {before!r} once"
    changed = tmp_path / file
    changed.write_text(text.replace(before, after))
    compile_c(*plain.flags, "-w", "-c", changed, "-o", changed.with_suffix(".o"))
    made = tmp_path / "graph_node"
    plain.link(made, *plain.objects(*SOURCES), changed.with_suffix(".o"), options=OPTIONS)
    with pytest.raises(AssertionError, match="rank"):
        run(made, "ecpipe", REPAIRS["ecpipe"], False, milliseconds=1000)
