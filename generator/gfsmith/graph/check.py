"""The check of a graph: its structure, and a proof that every output is correct for all data.

Every input, output and transfer of a graph is a linear form in the k data shards: k coefficients over
GF(2^8). The form of an available shard is its row of the generator matrix [I; P]. The form of an output is
its matrix row times the forms of its inputs. Two different linear forms differ for some data, so an output is
shard s for all data if and only if its form is row s. This module uses no code of the layouts or of the
planner, which are in C (runtime/compose/src).
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from gfsmith.field import ORDER, Field, FieldError
from gfsmith.field.matrix import Matrix, Row, generator_matrix, multiply
from gfsmith.graph.types import MAX_EDGES, MAX_RANKS, Graph, GraphError, Place, Vertex
from gfsmith.kernel.operation import MAX_SHARDS


def prove(graph: Graph) -> tuple[int, ...]:
    """Return the ranks in an order in which every vertex follows the vertices from which it receives.

    Raises GraphError with the first fault of the graph."""
    try:
        field = Field(graph.polynomial)
    except FieldError as error:
        raise GraphError(str(error)) from None
    _check_code(graph)
    for vertex in graph.vertices:
        _check_vertex(graph, vertex)
    _check_transfers(graph)
    order = _order(graph)
    _check_sums(field, graph, order)
    return order


def _elements(matrix: Matrix) -> bool:
    return all(0 <= element < ORDER for row in matrix for element in row)


def _check_code(graph: Graph) -> None:
    shards = graph.k + graph.m
    if graph.k < 1 or graph.m < 1 or shards > MAX_SHARDS:
        raise GraphError(f"k = {graph.k}, m = {graph.m}; allowed: from 1, together up to {MAX_SHARDS}")
    if len(graph.parity) != graph.m or any(len(row) != graph.k for row in graph.parity):
        raise GraphError(f"the parity matrix is not {graph.m} x {graph.k}")
    if not _elements(graph.parity):
        raise GraphError("the parity matrix contains a number that is not an element of GF(2^8)")
    for name, places in (("present", graph.has), ("wanted", graph.wanted)):
        for place in places:
            if not (0 <= place.shard < shards and 0 <= place.rank < MAX_RANKS):
                raise GraphError(f"shard {place.shard} at rank {place.rank} cannot be {name}")
        if len(set(places)) < len(places):
            raise GraphError(f"a shard is {name} at the same rank twice")
    if not graph.wanted:
        raise GraphError("no shard is wanted")
    lost = {place.shard for place in graph.wanted} & {place.shard for place in graph.has}
    if lost and not graph.encodes:
        raise GraphError(f"shard {min(lost)} is wanted and already present")
    if graph.encodes and any(place.shard >= graph.k for place in graph.has):
        raise GraphError("an encoding begins with data only")


def _check_vertex(graph: Graph, vertex: Vertex) -> None:
    name = f"rank {vertex.rank}"
    if not 0 <= vertex.rank < MAX_RANKS or [v.rank for v in graph.vertices].count(vertex.rank) != 1:
        raise GraphError(f"{name} is out of range or has two vertices")
    inputs, outputs = len(vertex.locals) + len(vertex.receives), len(vertex.matrix)
    if not inputs or not outputs or any(len(row) != inputs for row in vertex.matrix):
        raise GraphError(f"{name}: the matrix has no rows, or not {inputs} columns, one for each input")
    if not _elements(vertex.matrix):
        raise GraphError(f"{name}: the matrix contains a number that is not an element of GF(2^8)")
    if len(set(vertex.locals)) < len(vertex.locals):
        raise GraphError(f"{name}: a shard is an input twice")
    for shard in vertex.locals:
        if Place(shard, vertex.rank) not in graph.has:
            raise GraphError(f"{name} computes with shard {shard}, which it does not have")
    used = {keep.output for keep in vertex.keeps} | {send.output for send in vertex.sends}
    if used != set(range(outputs)):
        raise GraphError(f"{name}: an output is neither kept nor sent, or a missing output is kept or sent")


def _check_transfers(graph: Graph) -> None:
    """Raises GraphError unless the source of every edge sends once, and its target receives once."""
    if len(graph.edges) > MAX_EDGES:
        raise GraphError(f"{len(graph.edges)} transfers; allowed: {MAX_EDGES}")
    sent = [(send.edge, vertex.rank) for vertex in graph.vertices for send in vertex.sends]
    received = [(edge, vertex.rank) for vertex in graph.vertices for edge in vertex.receives]
    for number, edge in enumerate(graph.edges):
        if edge.source == edge.target:
            raise GraphError(f"edge {number} goes from rank {edge.source} to itself")
        for what, done, rank in (("sent", sent, edge.source), ("received", received, edge.target)):
            if [who for each, who in done if each == number] != [rank]:
                raise GraphError(f"edge {number} is not {what} once, by rank {rank}")
    if len(sent) != len(graph.edges) or len(received) != len(graph.edges):
        raise GraphError("a rank sends or receives along an edge that does not exist")


def _order(graph: Graph) -> tuple[int, ...]:
    waits: dict[int, set[int]] = {vertex.rank: set() for vertex in graph.vertices}
    for edge in graph.edges:
        waits[edge.target].add(edge.source)
    try:
        return tuple(TopologicalSorter(waits).static_order())
    except CycleError as error:
        rank = min(error.args[1])
        raise GraphError(f"a cycle: rank {rank} waits for a transfer that depends on its own") from None


def _check_sums(field: Field, graph: Graph, order: tuple[int, ...]) -> None:
    """Raises GraphError unless every kept output is wanted there and is that shard, and every wanted shard is
    kept once. order: the ranks in the order of computation."""
    rows = generator_matrix(graph.parity)
    forms: dict[int, Row] = {}
    kept: list[Place] = []
    by_rank = {vertex.rank: vertex for vertex in graph.vertices}
    for vertex in map(by_rank.__getitem__, order):
        inputs = tuple(rows[s] for s in vertex.locals) + tuple(forms[e] for e in vertex.receives)
        outputs = multiply(field, vertex.matrix, inputs)
        forms |= {send.edge: outputs[send.output] for send in vertex.sends}
        for keep in vertex.keeps:
            if Place(keep.shard, vertex.rank) not in graph.wanted:
                raise GraphError(f"rank {vertex.rank} keeps shard {keep.shard}, which is not wanted there")
            if outputs[keep.output] != rows[keep.shard]:
                raise GraphError(
                    f"the output that rank {vertex.rank} keeps as shard {keep.shard} is not that shard"
                )
            kept.append(Place(keep.shard, vertex.rank))
    for place in graph.wanted:
        if kept.count(place) != 1:
            raise GraphError(f"rank {place.rank} does not keep shard {place.shard} exactly once")
