"""Graphs in C, of every scheme: the independent checker proves each, and its transfers follow the scheme's
description; wrong requests and graphs are refused.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from gfsmith.graph import read
from gfsmith.graph.check import prove
from gfsmith.graph.types import SCHEMES, Graph, GraphError, Place
from tests.oracle import graph_text
from tests.oracle import graphs as expected
from tests.support.folders import once
from tests.support.library import EINVAL, ESINGULAR, ETOOMANY, EUNSUPPORTED, Plan
from tests.support.mutation import Mutant, plant
from tests.system.compose.graphs import (
    ENCODING,
    SHAPES,
    SOURCES,
    Graphs,
    Made,
    Refusal,
    Shape,
    case_line,
    compile_library,
    compile_program,
    parity_of,
    run_cases,
)

#: Replaces a tree's transfers: every helper sends to the sink.
STAR = "gfc_bring(job->builder, places[i], places[0], job->sum + i, 1, job->sum);"


@pytest.fixture(scope="module")
def graphs(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Graphs:
    folder = once(tmp_path_factory, "graphs", lambda at: compile_library(build, at / "libgraphs.so"))
    return Graphs(folder / "libgraphs.so")


def proved(
    made: Made | Refusal, scheme: str, parity: Sequence[Sequence[int]], polynomial: int = 0x11D
) -> Graph:
    """Return the graph that C wrote, after Python has proved it for this code; its text and hash are
    canonical.
    """
    assert isinstance(made, Made), made
    graph = read.graph(made.text)
    prove(graph)
    assert (graph.scheme, graph.polynomial) == (scheme, polynomial)
    assert graph.parity == tuple(map(tuple, parity))
    assert (made.text, made.hash) == (graph_text.text(graph), graph_text.digest(graph))
    assert read.digest(made.text) == made.hash
    assert made.ranks == tuple(vertex.rank for vertex in graph.vertices)
    return graph


def pairs_of(graph: Graph) -> set[tuple[int, int]]:
    return {(edge.source, edge.target) for edge in graph.edges}


def expect_encoding(
    graphs: Graphs, scheme: str, shape: Shape, holders: Sequence[int], source: int
) -> Made | Refusal:
    """Check a graph, if there is one: it takes all shards to their holders, with the scheme's transfers."""
    made = graphs.make(scheme, graphs.codec(shape), holders, source=source)
    if isinstance(made, Made):
        parity = parity_of(shape)
        graph = proved(made, scheme, parity)
        assert graph.encodes and graph.wanted == tuple(Place(i, rank) for i, rank in enumerate(holders))
        assert {place.rank for place in graph.has} == {source}
        assert pairs_of(graph) == expected.encoding(scheme, parity, holders, source)
    return made


def expect_repair(
    graphs: Graphs,
    scheme: str,
    shape: Shape,
    holders: Sequence[int],
    lost: Sequence[int],
    wanted: Sequence[int] | None = None,
    sinks: dict[int, int] | None = None,
) -> Made | Refusal:
    """Check a graph, if there is one: it takes the wanted shards to their sinks and reads the shards of the
    plan, with the scheme's transfers.
    """
    codec = graphs.codec(shape)
    made = graphs.make(scheme, codec, holders, lost=lost, wanted=wanted, sinks=sinks)
    if isinstance(made, Made):
        graph, plan = proved(made, scheme, parity_of(shape)), codec.plan(lost, wanted)
        assert isinstance(plan, Plan) and not graph.encodes
        to = [(sinks or {}).get(shard, rank) for shard, rank in enumerate(holders)]
        at_sinks = {Place(target, to[target]) for target in plan.targets}
        in_band = {Place(target, holders[target]) for target in plan.targets} if scheme == "triec" else set()
        assert set(graph.wanted) == at_sinks | in_band
        assert set(graph.has) == {Place(shard, holders[shard]) for shard in plan.reads}
        assert pairs_of(graph) == expected.decoding(scheme, plan, holders, to)
    return made


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("scheme", ENCODING)
def test_encodings(graphs: Graphs, scheme: str, shape: Shape) -> None:
    k, shards = shape[0], sum(shape)
    for source in (shards, 0, k - 1, k, shards - 1):  # a rank without shards, and holders
        assert isinstance(expect_encoding(graphs, scheme, shape, range(shards), source), Made)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_repairs(graphs: Graphs, scheme: str, shape: Shape) -> None:
    """Every lost shard, at its holder and at a separate sink; pairs, at their holders."""
    shards = sum(shape)
    holders = tuple(range(10, 10 + shards))
    pairs = [*combinations(range(shards), 2)]
    for lost in [*combinations(range(shards), 1), *pairs[:: 3 if shards > 9 else 1]]:
        assert isinstance(expect_repair(graphs, scheme, shape, holders, lost), Made)
        if len(lost) == 1:
            made = expect_repair(graphs, scheme, shape, holders, lost, None, {lost[0]: 9})
            assert isinstance(made, Made)


@pytest.mark.parametrize("seed", range(8))
def test_any_ranks(graphs: Graphs, seed: int) -> None:
    """Few ranks for many shards, sinks and sources among them: the result is right, or the graph is refused
    because a rank would wait for itself or because there is no plan.
    """
    rng = random.Random(seed)
    outcomes = set()
    for _ in range(40):
        shape, scheme = rng.choice(SHAPES), rng.choice(SCHEMES)
        shards = sum(shape)
        ranks = rng.choice((3, shards, 2 * shards))
        holders = tuple(rng.randrange(ranks) for _ in range(shards))
        lost = rng.sample(range(shards), rng.randint(1, shards - shape[0]))
        wanted = rng.sample(lost, rng.randint(1, len(lost)))
        sinks = {i: rng.randrange(ranks) for i in range(shards)}
        if scheme in ENCODING and rng.random() < 0.4:
            made = expect_encoding(graphs, scheme, shape, holders, rng.randrange(ranks))
        else:
            made = expect_repair(graphs, scheme, shape, holders, lost, wanted, sinks)
            if isinstance(made, Refusal) and made.status != EUNSUPPORTED:
                assert graphs.codec(shape).plan(lost, wanted) == made.status
        if isinstance(made, Refusal) and made.status == EUNSUPPORTED:
            assert "a cycle" in made.reason, made
        outcomes.add(made.status if isinstance(made, Refusal) else 0)
    assert {0, EUNSUPPORTED} <= outcomes


def test_wide_codes_and_other_fields(graphs: Graphs) -> None:
    """The maximum number of shards of a codec, k = 1, and the field of AES."""
    for shape in ((251, 4), (100, 20), (1, 3)):
        for scheme in SCHEMES:
            assert isinstance(expect_repair(graphs, scheme, shape, range(sum(shape)), (0,)), Made)
    parity = ((1, 2, 3), (1, 4, 5))
    codec = graphs.api.create_matrix(np.array(parity, dtype=np.uint8), 0x11B)
    made = graphs.make("ppr", codec, (5, 4, 3, 2, 1), lost=(0, 2), polynomial=0x11B)
    assert len(proved(made, "ppr", parity, 0x11B).wanted) == 2


#: One error in a scheme's layout: the sums are right, but take other ways or go to another rank.
ASTRAY = (
    ("ppr", Mutant("gfc_bring($$all);", STAR, within="ppr_decode")),
    ("ecpipe", Mutant("i % count", "(count - i) % count")),
    ("triec", Mutant("sink == holder", "true", within="triec_decode")),
)


def changed(build: Path, folder: Path, mutant: Mutant) -> Graphs:
    """Compile the graphs with this error."""
    source, copy = plant(mutant, SOURCES, folder)
    compile_library(build, folder / "changed.so", [copy if path == source else path for path in SOURCES])
    return Graphs(folder / "changed.so")


@pytest.mark.parametrize(("scheme", "mutant"), ASTRAY, ids=str)
def test_wrong_transfers_are_detected(build: Path, tmp_path: Path, scheme: str, mutant: Mutant) -> None:
    """The checker proves such a graph; only the description of its scheme reveals the error."""
    graphs = changed(build, tmp_path, mutant)
    made = graphs.make(scheme, graphs.codec((6, 3)), range(9), lost=(1,), sinks={1: 20})
    proved(made, scheme, parity_of((6, 3)))
    with pytest.raises(AssertionError):
        expect_repair(graphs, scheme, (6, 3), range(9), (1,), None, {1: 20})


def test_wrong_sums_are_no_graph(build: Path, tmp_path: Path) -> None:
    """A layout without the plan's coefficients is not accepted as a graph."""
    mutant = Mutant("job->matrix[row * job->reads + n]", "1", within="gather_decode")
    graphs = changed(build, tmp_path, mutant)
    made = graphs.make("rs", graphs.codec((6, 3)), range(9), lost=(1,))
    assert isinstance(made, Refusal) and "keeps a wrong value as shard" in made.reason


def refused(found: Made | Refusal, status: int, words: str) -> None:
    assert isinstance(found, Refusal) and found.status == status and words in found.reason, found


def test_refusals(graphs: Graphs) -> None:
    codec, ranks = graphs.codec((4, 2)), range(6)
    refused(graphs.make("raid", codec, ranks), EINVAL, "allowed: rs, lrc, ppr, ecpipe, triec")
    refused(graphs.make("rs", None, ranks), EINVAL, "NULL")
    refused(graphs.make("ppr", codec, ranks), EUNSUPPORTED, "ppr repairs only; allowed for encoding: rs")
    refused(graphs.make("rs", codec, ranks, lost=(0, 1, 2)), ETOOMANY, "more")
    refused(graphs.make("rs", codec, ranks, lost=()), EINVAL, "nothing to rebuild")
    refused(graphs.make("rs", codec, ranks, lost=(1,), wanted=(2,)), EINVAL, "nothing to rebuild")
    refused(graphs.make("rs", codec, (0, 1, 2, 3, 4, 1024)), EINVAL, "shard 5 is rank 1024; allowed: 0..1023")
    refused(graphs.make("rs", codec, ranks, source=2000), EINVAL, "source 0 is rank 2000")
    refused(graphs.make("rs", codec, ranks, lost=(1,), sinks={1: 1024}), EINVAL, "the sink of shard 1")
    lrc = graphs.codec((4, 2, 2))
    refused(graphs.make("lrc", lrc, range(8), lost=(0, 1, 4, 6)), ESINGULAR, "cannot be repaired")
    wide = graphs.codec((127, 128))
    refused(graphs.make("triec", wide, range(255), source=300), EUNSUPPORTED, "more than 4096 transfers")
    lost = range(100, 132)  # 7 nodes send 32 sums each to the sink
    many = graphs.make("ppr", graphs.codec((100, 32)), range(132), lost=lost, sinks=dict.fromkeys(lost, 300))
    refused(many, EUNSUPPORTED, "rank 300 would have 256 inputs and sums, which are more than the 255")


def test_descriptions_of_codecs_are_checked(graphs: Graphs) -> None:
    codec, ranks = graphs.codec((4, 3)), range(7)
    for shape in ((3, 4), (5, 2), (4, 2), (3, 3), (5, 3), (4, 4)):
        refused(graphs.make("rs", codec, range(sum(shape)), shape=shape), EINVAL, "is not one of k = ")
    for shape in ((0, 7), (7, 0), (200, 56), (2**32 - 1, 2), (1, 2**32 - 1)):
        refused(graphs.make("rs", codec, ranks, shape=shape), EINVAL, "allowed: from 1, together up to 255")
    for polynomial in (0x11B, 0x100, 1):
        refused(graphs.make("rs", codec, ranks, polynomial=polynomial), EINVAL, "is not that of the codec")
    assert codec.packets(8) == 0
    refused(graphs.make("rs", codec, ranks), EUNSUPPORTED, "packet layout")


def test_changed_graphs_are_refuted(build: Path, tmp_path: Path) -> None:
    """A coefficient, an edge, a vertex, a cycle: a graph with one change is refuted in C, and by Python from
    its text. native/graph_mutants.c prints one line for each: verdict, kind, text.
    """
    compile_program(build, ["graph_mutants"], tmp_path / "mutants")
    done = subprocess.run([tmp_path / "mutants"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    counts: dict[str, int] = {}
    for line in done.stdout.splitlines():
        verdict, kind, text = line.split("\t")
        graph = read.graph(text)
        if kind == "whole":
            prove(graph)
            assert verdict == "proved"
        else:
            assert verdict.startswith("refuted: "), line
            if kind != "order":  # of the vertices in memory; the text may have any
                with pytest.raises(GraphError):
                    prove(graph)
        counts[kind] = counts.get(kind, 0) + 1
    assert counts["whole"] == 6
    assert min(counts[kind] for kind in ("factor", "edge", "turned", "sent", "kept", "local")) >= 12
    assert min(counts[kind] for kind in ("vertex", "goal", "place", "parity", "cycle", "order")) >= 6


def _runs() -> list[str]:
    """Return cases of all shapes and schemes: encodings from a source that holds a shard or none, repairs of
    one and two shards, at their holders and at a reader.
    """
    found = []
    for shape in SHAPES:
        shards = sum(shape)
        for scheme in ENCODING:
            found += [case_line(scheme, shape, length=130, reader=at) for at in (shards, 0, shape[0])]
        for scheme in SCHEMES:
            for lost in [*combinations(range(shards), 1), *combinations(range(shards), 2)]:
                for reader in (-1, shards):
                    how = {"length": 67, "reader": reader, "incoherent": len(lost) == 2}
                    found.append(case_line(scheme, shape, lost=lost, **how))
    for scheme in SCHEMES:
        for shape, lost in (((12, 4), (0, 5, 12, 15)), ((6, 3), (1, 2, 3)), ((12, 2, 2), (0, 1, 6, 7))):
            found.append(case_line(scheme, shape, length=33, lost=lost))
    for scheme in ("rs", "ppr", "ecpipe", "triec"):  # equal shards, several at a rank
        for length in (0, 10):
            found.append(
                case_line(scheme, (1, 3), length=length, reader=5, lost=(0, 1), holders=(0, 0, 1, 1))
            )
    for reader in (0, 4):
        found += [case_line(s, (1, 3), length=9, reader=reader, holders=(0, 0, 1, 1)) for s in ENCODING]
    return found


def test_posted_parts_make_the_whole(build: Path, tmp_path: Path) -> None:
    """The primitives that gfsmith_graph_post posts, executed by native/graph_simulate.c without a network,
    give the core library's bytes.
    """
    compile_program(build, ["graph_case", "graph_cases", "graph_simulate"], tmp_path / "simulate")
    run_cases(tmp_path / "simulate", _runs())


def test_memory_runs_out(build: Path, tmp_path: Path) -> None:
    """Every allocation fails once: an error is returned, and nothing leaks."""
    compile_program(
        build, ["graph_memory"], tmp_path / "memory", "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"
    )
    done = subprocess.run([tmp_path / "memory"], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("ok\n", 0), done.stderr
