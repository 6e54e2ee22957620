"""Output of graphs as text and as a drawing for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gfsmith.graph.check import prove
from gfsmith.graph.types import Graph, Place, Vertex, primitive
from gfsmith.words import counted


def layers(graph: Graph) -> Mapping[int, int]:
    """Return the layer of every rank, from 1: one more than the greatest layer from which it receives."""
    found: dict[int, int] = {}
    for rank in prove(graph):
        before = [found[edge.source] for edge in graph.edges if edge.target == rank]
        found[rank] = max(before, default=0) + 1
    return found


def formula(vertex: Vertex, output: int) -> str:
    """Return an output as a sum of shards (s3) and transfers (e1), with factors in hexadecimal."""
    names = [*(f"s{s}" for s in vertex.locals), *(f"e{e}" for e in vertex.receives)]
    terms = [
        name if factor == 1 else f"{factor:02x} {name}"
        for name, factor in zip(names, vertex.matrix[output], strict=True)
        if factor
    ]
    return " + ".join(terms)


def _listed(places: tuple[Place, ...]) -> str:
    """Return the shards by rank, such as "0 at rank 5; 1, 2 at rank 6"."""
    by_rank: dict[int, list[str]] = {}
    for place in places:
        by_rank.setdefault(place.rank, []).append(str(place.shard))
    return "; ".join(f"{', '.join(shards)} at rank {rank}" for rank, shards in by_rank.items())


def lines(graph: Graph, code: str, digest: int) -> Iterator[str]:
    """Yield a summary of the graph with its hash, then a line for every output of every rank."""
    does = "encodes" if graph.encodes else "rebuilds"
    yield f"{graph.scheme} {does} {code}"
    yield f"has      shard {_listed(graph.has)}"
    yield f"gives    shard {_listed(graph.wanted)}; proved for all data"
    size = ", ".join(
        (
            counted(len(graph.vertices), "node"),
            counted(len(graph.edges), "transfer"),
            counted(max(layers(graph).values()), "layer"),
        )
    )
    yield f"takes    {size}; hash {digest:016x}"
    width = max(len(primitive(vertex)) for vertex in graph.vertices)
    for vertex in graph.vertices:
        name = f"rank {vertex.rank:<3} {primitive(vertex):<{width}}"
        for output in range(len(vertex.matrix)):
            yield f"{name}  {_names(graph, vertex, output)} = {formula(vertex, output)}"
            name = " " * len(name)


def _names(graph: Graph, vertex: Vertex, output: int) -> str:
    """Return the destinations of an output, such as "shard 2, e5 to 8"."""
    kept = [f"shard {keep.shard}" for keep in vertex.keeps if keep.output == output]
    sent = [
        f"e{send.edge} to {graph.edges[send.edge].target}" for send in vertex.sends if send.output == output
    ]
    return ", ".join([*kept, *sent])


def dot(graph: Graph) -> str:
    """Return the graph in Graphviz's language: ranks from left to right, transfers with their formulas."""
    outputs = {send.edge: (vertex, send.output) for vertex in graph.vertices for send in vertex.sends}
    found = [
        "digraph gfsmith {",
        "  rankdir=LR;",
        '  node [shape=box, fontname="Helvetica", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=9];',
    ]
    for vertex in graph.vertices:
        has = [f"s{number}" for number in vertex.locals]
        text = [f"rank {vertex.rank}" + (f": {', '.join(has)}" if has else ""), primitive(vertex)]
        text += [f"shard {keep.shard} = {formula(vertex, keep.output)}" for keep in vertex.keeps]
        double = ", peripheries=2" if vertex.keeps else ""
        label = "\\n".join(text)
        found.append(f'  r{vertex.rank} [label="{label}"{double}];')
    for number, edge in enumerate(graph.edges):
        found.append(f'  r{edge.source} -> r{edge.target} [label="e{number} = {formula(*outputs[number])}"];')
    return "\n".join([*found, "}"])
