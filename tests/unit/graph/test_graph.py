"""Graphs: known properties of the layouts, the proof and its refutations, `gfsmith graph`."""

from __future__ import annotations

import json
import math
import random
import re
import subprocess
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gfsmith
from gfsmith import codes
from gfsmith.cli import main
from gfsmith.field import Field
from gfsmith.field.matrix import dot, generator_matrix
from gfsmith.graph import read, show
from gfsmith.graph.check import prove
from gfsmith.graph.request import decoding, encoding
from gfsmith.graph.types import SCHEMES, Edge, Graph, GraphError, Keep, Place, Send, Vertex, primitive
from tests.oracle import graph_text

CAUCHY = gfsmith.Codec("cauchy", 6, 3)
PARITY = codes.parity_matrix("cauchy", 6, 3)
ENCODING = ("rs", "lrc", "triec")
RANKS = tuple(range(9))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main.main, ["graph", *arguments], catch_exceptions=False)


def inward(graph: Graph, rank: int) -> int:
    return sum(edge.target == rank for edge in graph.edges)


def outward(graph: Graph, rank: int) -> int:
    return sum(edge.source == rank for edge in graph.edges)


def primitives(graph: Graph) -> dict[int, str]:
    return {vertex.rank: primitive(vertex) for vertex in graph.vertices}


# ---- layouts ----


@pytest.mark.parametrize("k", [1, 2, 3, 6, 7, 8, 12, 40])
def test_ppr_takes_logarithmic_steps(k: int) -> None:
    """A tree of k edges; each rank receives at most ceil(log2(k + 1)) times, and waits for at most that many
    layers.
    """
    code = gfsmith.Codec("cauchy", k, 2)
    graph = decoding("ppr", code, tuple(range(k + 2)), (0,))
    steps = math.ceil(math.log2(k + 1))
    assert len(graph.edges) == k
    assert {outward(graph, vertex.rank) for vertex in graph.vertices} == {0, 1}
    assert max(inward(graph, vertex.rank) for vertex in graph.vertices) == steps
    assert max(show.layers(graph).values()) <= steps + 1
    used = primitives(graph)
    assert used[0] in ("recv-xor", "recv") and set(used.values()) <= {
        "recv-xor", "recv", "recv-ec-send", "recv-xor-send", "ec-send", "send",
    }  # fmt: skip


def test_ecpipe_is_a_chain() -> None:
    for lost in ((2,), (2, 7), (0, 1, 2)):
        graph = decoding("ecpipe", CAUCHY, RANKS, lost, None, dict.fromkeys(lost, 9))
        chain = [*[rank for rank in RANKS if rank not in lost][:6], 9]
        assert [(edge.source, edge.target) for edge in graph.edges[:6]] == list(pairwise(chain))
        assert len(graph.edges) == 6 * len(lost) and max(show.layers(graph).values()) == 7
        assert primitives(graph)[9] == "recv"


def test_triec_is_tripartite() -> None:
    """Figure 1: to encode send, recv-ec-send, recv-xor; to decode ec-send, recv-xor-send, receive."""
    graph = encoding("triec", CAUCHY, RANKS, 9)
    used = primitives(graph)
    assert used[9] == "send" and {used[r] for r in range(6)} == {"recv-ec-send"}
    assert {used[r] for r in range(6, 9)} == {"recv-xor"} and len(graph.edges) == 6 + 6 * 3
    repair = decoding("triec", CAUCHY, RANKS, (0, 1), None, {0: 9, 1: 9})
    assert primitives(repair) == {
        0: "recv-xor-send", 1: "recv-xor-send", **dict.fromkeys(range(2, 8), "ec-send"), 9: "recv",
    }  # fmt: skip
    assert set(repair.wanted) == {Place(0, 0), Place(1, 1), Place(0, 9), Place(1, 9)}
    assert show.layers(repair)[9] == 3


def test_rs_and_lrc_gather() -> None:
    graph = encoding("rs", CAUCHY, RANKS, 9)
    assert primitives(graph) == {9: "ec-send", **dict.fromkeys(RANKS, "recv")} and len(graph.edges) == 9
    repair = decoding("rs", CAUCHY, RANKS, (2,))
    assert primitives(repair) == {2: "recv-ec", **dict.fromkeys((0, 1, 3, 4, 5, 6), "send")}
    lrc = gfsmith.Codec.lrc(12, 2, 2)
    local = decoding("lrc", lrc, tuple(range(16)), (8,))
    assert primitives(local) == {8: "recv-xor", **dict.fromkeys((6, 7, 9, 10, 11, 13), "send")}


def test_a_rank_with_several_parts() -> None:
    """A rank sends nothing to itself, and nothing twice."""
    graph = decoding("rs", CAUCHY, RANKS, (0, 1), None, {0: 2, 1: 2})
    assert len(graph.edges) == 5 and primitives(graph)[2] == "recv-ec"
    two = decoding("ppr", CAUCHY, (0, 0, 0, 1, 1, 1, 2, 2, 2), (8,))
    assert len(two.vertices) == 3 and len(two.edges) == 2
    whole = encoding("rs", CAUCHY, (0,) * 9, 0)
    assert whole.edges == () and primitives(whole) == {0: "ec"}
    with pytest.raises(GraphError, match=r"a cycle: rank 0 .*; triec needs a sink or source that holds no"):
        decoding("triec", CAUCHY, RANKS, (0,), None, {0: 2})


# ---- the proof ----


def changes(graph: Graph, rng: random.Random) -> list[Graph]:
    """Return copies of the graph with one change each."""
    found = []
    for n, vertex in enumerate(graph.vertices):

        def put(other: Vertex | None, n: int = n) -> Graph:
            rest = (*graph.vertices[:n], *([other] if other else []), *graph.vertices[n + 1 :])
            return replace(graph, vertices=rest)

        row, column = rng.randrange(len(vertex.matrix)), rng.randrange(len(vertex.matrix[0]))
        matrix = [list(elements) for elements in vertex.matrix]
        matrix[row][column] ^= rng.randrange(1, 256)
        found += [put(replace(vertex, matrix=tuple(map(tuple, matrix)))), put(None)]
        if vertex.sends:
            found.append(put(replace(vertex, sends=vertex.sends[1:])))
        if vertex.receives:
            found.append(put(replace(vertex, receives=vertex.receives[:-1])))
        if vertex.keeps:
            found.append(put(replace(vertex, keeps=())))
    for n, edge in enumerate(graph.edges):
        turned = (*graph.edges[:n], Edge(edge.target, edge.source), *graph.edges[n + 1 :])
        found += [replace(graph, edges=turned), replace(graph, edges=graph.edges[:n] + graph.edges[n + 1 :])]
    found.append(replace(graph, wanted=(*graph.wanted, Place(0, 99))))
    found.append(replace(graph, wanted=graph.wanted[1:]))
    found.append(replace(graph, has=graph.has[1:]))
    found.append(replace(graph, polynomial=0x11B))
    found.append(replace(graph, vertices=graph.vertices + graph.vertices[:1]))
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
def test_changed_graphs_are_refuted(scheme: str) -> None:
    rng = random.Random(scheme)
    for graph in (
        decoding(scheme, CAUCHY, RANKS, (2, 7)),
        *([encoding(scheme, CAUCHY, RANKS, 9)] if scheme in ENCODING else []),
    ):
        for other in changes(graph, rng):
            if graph.encodes and other.polynomial != graph.polynomial:
                continue  # with these parities the same sums are an encoding in the other field
            with pytest.raises(GraphError):
                prove(other)


def test_a_cycle_is_refuted() -> None:
    """Every transfer is sent and received, and still no rank can begin."""
    one = ((1, 1),)
    graph = Graph(
        "rs", False, 0x11D, 1, 1, ((1,),), (Place(1, 0), Place(1, 1)), (Place(0, 0),),
        (Edge(0, 1), Edge(1, 0)),
        (
            Vertex(0, (1,), (1,), one, (Keep(0, 0),), (Send(0, 0),)),
            Vertex(1, (1,), (0,), one, (), (Send(0, 1),)),
        ),
    )  # fmt: skip
    with pytest.raises(GraphError, match="a cycle: rank 0 waits"):
        prove(graph)


def test_all_data_agree_with_the_proof() -> None:
    """Executed on data, a proved graph gives the right results, and a refuted one gives wrong results for
    some data.
    """
    graph = decoding("ppr", CAUCHY, RANKS, (2, 7))
    data = (3, 141, 59, 26, 5, 35)
    right = carried_out(graph, data)
    assert all(right[place] == value(data, place.shard) for place in graph.wanted)
    vertex = graph.vertices[0]
    matrix = tuple(tuple(element ^ 1 for element in row) for row in vertex.matrix)
    other = replace(graph, vertices=(replace(vertex, matrix=matrix), *graph.vertices[1:]))
    assert carried_out(other, data) != right


def value(data: tuple[int, ...], shard: int) -> int:
    return dot(Field(), generator_matrix(PARITY)[shard], data)


def carried_out(graph: Graph, data: tuple[int, ...]) -> dict[Place, int]:
    sent: dict[int, int] = {}
    kept: dict[Place, int] = {}
    todo = list(graph.vertices)
    while todo:
        vertex = next(v for v in todo if all(edge in sent for edge in v.receives))
        todo.remove(vertex)
        inputs = [*(value(data, s) for s in vertex.locals), *(sent[e] for e in vertex.receives)]
        outputs = [dot(Field(), row, inputs) for row in vertex.matrix]
        sent |= {send.edge: outputs[send.output] for send in vertex.sends}
        kept |= {Place(keep.shard, vertex.rank): outputs[keep.output] for keep in vertex.keeps}
    return kept


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_number_counts(scheme: str) -> None:
    """Any other changed number in a graph's text is refused, except in the row of shard 8, which is neither
    read nor rebuilt.
    """
    text = graph_text.text(decoding(scheme, CAUCHY, RANKS, (2, 7)))
    end = text.index(']],"has"')
    unused = range(text.rindex("[", 0, end), end)
    for found in re.finditer(r"\d+", text):
        for other in (int(found[0]) ^ 1, 255, 65535):
            changed = text[: found.start()] + str(other) + text[found.end() :]
            if changed == text or (found.start() in unused and other < 256):
                prove(read.graph(changed))
            else:
                with pytest.raises(GraphError):
                    prove(read.graph(changed))


# ---- JSON ----


def test_json_comes_back() -> None:
    for scheme in SCHEMES:
        for lost in [*combinations(range(9), 2)][::3]:
            graph = decoding(scheme, CAUCHY, RANKS, lost)
            text = graph_text.text(graph)
            assert read.graph(text) == graph
            assert read.digest(text) == read.digest(json.dumps(json.loads(text), indent=1))
            assert read.digest(text) == graph_text.digest(graph)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scheme": "raid"}, "scheme 'raid' is unknown; allowed: rs, lrc, ppr, ecpipe, triec"),
        ({"k": "6"}, "k: Input should be a valid integer"),
        ({"k": -6}, "k: Input should be greater than or equal to 0"),
        ({"more": 1}, "more: Extra inputs are not permitted"),
        ({"vertices": [{}]}, "vertices.0.rank: Field required"),
        ({"edges": [{"from": 1, "to": 1 << 16}]}, "edges.0.to: Input should be less than 65536"),
    ],
)
def test_texts_that_are_no_graphs(change: dict[str, object], words: str) -> None:
    record = json.loads(graph_text.text(decoding("rs", CAUCHY, RANKS, (0,)))) | change
    with pytest.raises(GraphError, match=words):
        read.graph(json.dumps(record))


def test_a_primitive_must_be_the_rules() -> None:
    text = graph_text.text(decoding("rs", CAUCHY, RANKS, (0,))).replace('"recv-ec"', '"recv-xor"')
    with pytest.raises(
        GraphError, match=r"rank 0: primitive 'recv-xor' violates the vertex rule; allowed: recv-ec"
    ):
        read.graph(text)
    with pytest.raises(GraphError, match="the text: Invalid JSON"):
        read.graph(text[:-1])


# ---- the command ----


def test_text() -> None:
    done = run("--scheme", "ppr", "--k", "6", "--m", "3", "--lost", "2")
    assert done.exit_code == 0
    *head, size = done.output.splitlines()[:4]
    assert head == [
        "ppr rebuilds cauchy(6+3)",
        "has      shard 0 at rank 0; 1 at rank 1; 3 at rank 3; 4 at rank 4; 5 at rank 5; 6 at rank 6",
        "gives    shard 2 at rank 2; proved for all data",
    ]
    graph = decoding("ppr", CAUCHY, RANKS, (2,))
    assert size == f"takes    7 nodes, 6 transfers, 3 layers; hash {graph_text.digest(graph):016x}"
    assert done.output.splitlines()[4:] == [
        "rank 0   ec-send       e0 to 2 = f5 s0",
        "rank 1   recv-ec-send  e3 to 2 = d2 s1 + e1",
        "rank 2   recv-xor      shard 2 = e0 + e3 + e5",
        "rank 3   ec-send       e1 to 1 = a6 s3",
        "rank 4   recv-ec-send  e5 to 2 = 02 s4 + e2 + e4",
        "rank 5   ec-send       e2 to 4 = f7 s5",
        "rank 6   ec-send       e4 to 4 = 04 s6",
    ]


def test_options_reach_the_graph() -> None:
    holders = "9,8,7,6,5,4,3,2,1"
    done = run(
        *("--scheme", "triec", "--k", "6", "--m", "3", "--lost", "8,2", "--wanted", "2"),
        *("--holders", holders, "--sink", "20", "--json"),
    )
    expected = decoding("triec", CAUCHY, tuple(range(9, 0, -1)), (2, 8), (2,), {2: 20})
    assert done.output == graph_text.text(expected) + "\n"
    encode = run("--scheme", "lrc", "--k", "4", "--l", "2", "--r", "2", "--encode", "--source", "3", "--json")
    lrc = gfsmith.Codec.lrc(4, 2, 2)
    assert encode.output == graph_text.text(encoding("lrc", lrc, tuple(range(8)), 3)) + "\n"
    other = run("--scheme", "ppr", "--code", "lrc", "--k", "4", "--l", "2", "--r", "2", "--lost", "0")
    assert "ppr rebuilds lrc(4, 2, 2)" in other.output


def test_dot() -> None:
    done = run("--scheme", "ecpipe", "--k", "3", "--m", "2", "--lost", "1", "--dot")
    assert done.output.splitlines() == [
        "digraph gfsmith {",
        "  rankdir=LR;",
        '  node [shape=box, fontname="Helvetica", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=9];',
        '  r0 [label="rank 0: s0\\nec-send"];',
        '  r1 [label="rank 1\\nrecv\\nshard 1 = e2", peripheries=2];',
        '  r2 [label="rank 2: s2\\nrecv-ec-send"];',
        '  r3 [label="rank 3: s3\\nrecv-ec-send"];',
        '  r0 -> r2 [label="e0 = f5 s0"];',
        '  r2 -> r3 [label="e1 = 02 s2 + e0"];',
        '  r3 -> r1 [label="e2 = 02 s3 + e1"];',
        "}",
    ]


@pytest.mark.needs("docs")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_graphviz_draws_it(scheme: str) -> None:
    """The layout of `dot` contains every rank as a node and every transfer as an edge."""
    done = run(
        "--scheme", scheme, "--code", "lrc", "--k", "6", "--l", "2", "--r", "2", "--lost", "1,7", "--dot"
    )
    drawn = subprocess.run(
        ["dot", "-Tplain"], input=done.output, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    lrc = gfsmith.Codec.lrc(6, 2, 2)
    graph = decoding(scheme, lrc, tuple(range(10)), (1, 7))
    words = [line.split() for line in drawn]
    assert {word[1] for word in words if word[0] == "node"} == {f"r{v.rank}" for v in graph.vertices}
    assert sorted((word[1], word[2]) for word in words if word[0] == "edge") == sorted(
        (f"r{edge.source}", f"r{edge.target}") for edge in graph.edges
    )


def test_prove(tmp_path: Path) -> None:
    text = run("--scheme", "rs", "--k", "6", "--m", "3", "--lost", "2", "--json").output
    path = tmp_path / "graph.json"
    path.write_text(text)
    done = run("--prove", str(path))
    hash_ = graph_text.digest(read.graph(text))
    assert (done.exit_code, done.output) == (0, f"{path}: proved for all data; hash {hash_:016x}\n")
    path.write_text(text.replace('"shard":2,"rank":2', '"shard":3,"rank":2'))
    wrong = run("--prove", str(path))
    assert wrong.exit_code == 1 and wrong.stderr.startswith("gfsmith: refuted: ")
    path.write_bytes(b"\xff")
    for name in (path, tmp_path / "none", tmp_path):
        none = run("--prove", str(name))
        assert none.exit_code == 2 and "cannot be read" in none.stderr and none.stderr.count("\n") == 1
    path.write_text("{}")
    assert "is not a graph: scheme: Field required" in run("--prove", str(path)).stderr


RS = ("--scheme", "rs", "--k", "4", "--m", "2")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--scheme: missing; allowed: rs, lrc, ppr, ecpipe, triec"),
        (("--scheme", "raid"), "--scheme: 'raid' is unknown; allowed: rs, lrc"),
        (RS, "allowed: either --encode or --lost"),
        ((*RS, "--encode", "--lost", "1"), "allowed: either --encode or --lost"),
        ((*RS, "--encode", "--wanted", "1"), "--wanted has no effect with --encode"),
        ((*RS, "--encode", "--sink", "1"), "--sink has no effect with --encode"),
        ((*RS, "--lost", "1", "--source", "1"), "--source has no effect with --lost"),
        ((*RS, "--lost", "6"), "--lost: '6' is not a shard of cauchy(4+2); allowed: 0..5"),
        ((*RS, "--lost", "1,"), "--lost: '' is not a shard"),
        ((*RS, "--lost", "1", "--wanted", "2"), "--wanted: shard 2 is not lost; allowed: 1"),
        ((*RS, "--lost", "1,2,3"), "3 shards are lost; with 2 parities, at most 2 can be"),
        ((*RS, "--lost", "1", "--sink", "1024"), "--sink: 1024 is not a rank; allowed: 0..1023"),
        ((*RS, "--encode", "--source", "-1"), "--source: -1 is not a rank; allowed: 0..1023"),
        ((*RS, "--encode", "--holders", "1,2"), "--holders: 2 ranks for 6 shards; allowed: one for each"),
        ((*RS, "--encode", "--holders", "1,x"), "--holders: 'x' is not a rank; allowed: 0..1023"),
        ((*RS, "--encode", "--dot", "--json"), "--dot and --json exclude each other; leave one out"),
        ((*RS, "--prove", "x"), "--prove takes a file and no other option"),
        ((*RS, "--l", "2", "--lost", "1"), "--l and --r are for lrc"),
        (("--scheme", "ppr", "--k", "4", "--m", "2", "--encode"), "repairs only; allowed for encoding: rs"),
        (("--scheme", "lrc", "--k", "4", "--m", "2", "--encode"), "lrc takes --k, --l (groups) and --r"),
        (("--scheme", "lrc", "--code", "cauchy", "--k", "4", "--m", "2", "--encode"), "allowed: lrc, with"),
        (("--scheme", "triec", "--k", "127", "--m", "128", "--encode"), "more than 4096 transfers"),
        (("--scheme", "triec", "--k", "4", "--m", "2", "--lost", "0", "--sink", "1"), "a cycle: rank 0"),
    ],
)  # fmt: skip
def test_refusals(arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 and words in result.stderr and result.stdout == ""
