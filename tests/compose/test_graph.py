"""Graphs in C are those of Python, text for text; both refuse what is not right."""

from __future__ import annotations

import random
import subprocess
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from gfsmith.graph import form, read
from gfsmith.graph.check import prove
from gfsmith.graph.layouts import LAYOUTS
from gfsmith.graph.request import Code, decoding, encoding
from gfsmith.graph.types import GraphError
from gfsmith.plan.planner import PlanError

from ..runtime.support import EINVAL, ESINGULAR, ETOOMANY, EUNSUPPORTED
from ..shared import once
from .graphs import (
    SHAPES,
    Graphs,
    Made,
    Refusal,
    Shape,
    case_line,
    code_of,
    compile_library,
    compile_program,
    run_cases,
)

ENCODING = [name for name, layout in LAYOUTS.items() if layout.encode]


@pytest.fixture(scope="module")
def graphs(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Graphs:
    folder = once(tmp_path_factory, "graphs", lambda at: compile_library(build, at / "libgraphs.so"))
    return Graphs(folder / "libgraphs.so")


def same(made: Made | Refusal, code: Code, expected: str) -> None:
    """C's graph is Python's: text, hash, ranks; and Python proves what C wrote."""
    assert isinstance(made, Made), made
    assert made.text == expected
    graph = read.graph(made.text)
    prove(graph)
    assert (graph.parity, graph.polynomial) == (code.parity, code.polynomial)
    assert made.hash == form.digest(graph)
    assert made.ranks == tuple(vertex.rank for vertex in graph.vertices)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("scheme", ENCODING)
def test_encodings(graphs: Graphs, scheme: str, shape: Shape) -> None:
    code, codec = code_of(shape), graphs.codec(shape)
    shards = code.k + code.m
    for source in (shards, 0, code.k - 1, code.k, shards - 1):  # a rank of its own, and holders
        holders = tuple(range(shards))
        expected = form.text(encoding(scheme, code, holders, source))
        same(graphs.make(scheme, codec, holders, source=source), code, expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("scheme", LAYOUTS)
def test_repairs(graphs: Graphs, scheme: str, shape: Shape) -> None:
    """Every lost shard, at its holder and at a sink of its own; pairs, to their holders."""
    code, codec = code_of(shape), graphs.codec(shape)
    shards = code.k + code.m
    holders = tuple(range(10, 10 + shards))
    pairs = [*combinations(range(shards), 2)]
    for lost in [*combinations(range(shards), 1), *pairs[:: 3 if shards > 9 else 1]]:
        expected = form.text(decoding(scheme, code, holders, lost))
        same(graphs.make(scheme, codec, holders, lost=lost), code, expected)
        if len(lost) == 1:
            sinks = {lost[0]: 9}
            expected = form.text(decoding(scheme, code, holders, lost, None, sinks))
            same(graphs.make(scheme, codec, holders, lost=lost, sinks=sinks), code, expected)


@pytest.mark.parametrize("seed", range(8))
def test_any_ranks(graphs: Graphs, seed: int) -> None:
    """Few ranks for many shards, sinks and sources among them: the same graph, or refused by both."""
    rng = random.Random(seed)
    outcomes = set()
    for _ in range(40):
        shape, scheme = rng.choice(SHAPES), rng.choice(list(LAYOUTS))
        code, codec = code_of(shape), graphs.codec(shape)
        shards = code.k + code.m
        ranks = rng.choice((3, shards, 2 * shards))
        holders = tuple(rng.randrange(ranks) for _ in range(shards))
        lost = rng.sample(range(shards), rng.randint(1, code.m))
        wanted = rng.sample(lost, rng.randint(1, len(lost)))
        sinks = {i: rng.randrange(ranks) for i in range(shards)}
        source = rng.randrange(ranks)
        encode = scheme in ENCODING and rng.random() < 0.4
        try:
            if encode:
                found = encoding(scheme, code, holders, source)
            else:
                found = decoding(scheme, code, holders, lost, wanted, sinks)
        except (GraphError, PlanError) as error:
            found, words = None, str(error)
        if encode:
            made = graphs.make(scheme, codec, holders, source=source)
        else:
            made = graphs.make(scheme, codec, holders, lost=lost, wanted=wanted, sinks=sinks)
        if found is None:
            assert isinstance(made, Refusal), words
            assert ("cycle" in words) == (made.status == EUNSUPPORTED), (words, made)
            outcomes.add(made.status)
        else:
            same(made, code, form.text(found))
            outcomes.add(0)
    assert {0, EUNSUPPORTED} <= outcomes


def test_wide_codes_and_other_fields(graphs: Graphs) -> None:
    """All shards that a codec may have, k = 1, and the field of AES."""
    for k, m in ((251, 4), (100, 20), (1, 3)):
        code, codec = code_of((k, m)), graphs.codec((k, m))
        holders = tuple(range(k + m))
        for scheme in LAYOUTS:
            expected = form.text(decoding(scheme, code, holders, (0,)))
            same(graphs.make(scheme, codec, holders, lost=(0,)), code, expected)
    code = Code(polynomial=0x11B, parity=((1, 2, 3), (1, 4, 5)), mds=False)
    codec = graphs.api.create_matrix(np.array(code.parity, dtype=np.uint8), 0x11B)
    holders = (5, 4, 3, 2, 1)
    expected = form.text(decoding("ppr", code, holders, (0, 2)))
    same(graphs.make("ppr", codec, holders, lost=(0, 2), polynomial=0x11B), code, expected)


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
    with pytest.raises(
        GraphError, match="rank 300 would have 256 inputs and sums, which are more than the 255"
    ):
        decoding("ppr", code_of((100, 32)), tuple(range(132)), lost, None, dict.fromkeys(lost, 300))


def test_what_is_said_of_a_codec_is_checked(graphs: Graphs) -> None:
    codec, ranks = graphs.codec((4, 3)), range(7)
    for shape in ((3, 4), (5, 2), (4, 2), (3, 3), (5, 3), (4, 4)):
        refused(graphs.make("rs", codec, range(sum(shape)), shape=shape), EINVAL, "is not one of k = ")
    for shape in ((0, 7), (7, 0), (200, 56), (2**32 - 1, 2)):
        refused(graphs.make("rs", codec, ranks, shape=shape), EINVAL, "allowed: from 1, together up to 255")
    for polynomial in (0x11B, 0x100, 1):
        refused(graphs.make("rs", codec, ranks, polynomial=polynomial), EINVAL, "is not that of the codec")
    assert codec.packets(8) == 0
    refused(graphs.make("rs", codec, ranks), EUNSUPPORTED, "packet layout")


def test_mutants_are_refuted(build: Path, tmp_path: Path) -> None:
    """A coefficient, an edge, a vertex, a cycle: a graph of which one thing was changed is refuted in C, and
    by Python from its text. native/graph_mutants.c makes them, a line each: verdict, kind, text."""
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
            with pytest.raises(GraphError):
                prove(graph)
        counts[kind] = counts.get(kind, 0) + 1
    assert counts["whole"] == 6
    assert min(counts[kind] for kind in ("factor", "edge", "turned", "sent", "kept", "local")) >= 12
    assert min(counts[kind] for kind in ("vertex", "goal", "place", "parity", "cycle")) >= 6


def _runs() -> list[str]:
    """All shapes and schemes: encodings from a source that holds a shard or none, repairs of one and two
    shards, at their holders and at a reader."""
    found = []
    for shape in SHAPES:
        shards = sum(shape)
        for scheme in ENCODING:
            found += [case_line(scheme, shape, length=130, reader=at) for at in (shards, 0, shape[0])]
        for scheme in LAYOUTS:
            for lost in [*combinations(range(shards), 1), *combinations(range(shards), 2)]:
                for reader in (-1, shards):
                    how = {"length": 67, "reader": reader, "incoherent": len(lost) == 2}
                    found.append(case_line(scheme, shape, lost=lost, **how))
    for scheme in LAYOUTS:
        for shape, lost in (((12, 4), (0, 5, 12, 15)), ((6, 3), (1, 2, 3)), ((12, 2, 2), (0, 1, 6, 7))):
            found.append(case_line(scheme, shape, length=33, lost=lost))
    for scheme in ("rs", "ppr", "ecpipe", "triec"):  # shards that are equal, several at a rank
        for length in (0, 10):
            found.append(
                case_line(scheme, (1, 3), length=length, reader=5, lost=(0, 1), holders=(0, 0, 1, 1))
            )
    for reader in (0, 4):
        found += [case_line(s, (1, 3), length=9, reader=reader, holders=(0, 0, 1, 1)) for s in ENCODING]
    return found


def test_posted_parts_make_the_whole(build: Path, tmp_path: Path) -> None:
    """What gfsmith_graph_post hands to the primitives, carried out by native/graph_simulate.c without a
    network, gives the core library's bytes."""
    compile_program(build, ["graph_case", "graph_cases", "graph_simulate"], tmp_path / "simulate")
    run_cases(tmp_path / "simulate", _runs())


def test_memory_runs_out(build: Path, tmp_path: Path) -> None:
    """Every allocation fails once: said, and nothing leaks."""
    compile_program(
        build, ["graph_memory"], tmp_path / "memory", "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"
    )
    done = subprocess.run([tmp_path / "memory"], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("ok\n", 0), done.stderr
