"""From sums and transfers to a graph: every rank's sums become one vertex.

A layout says what is known where, as sums of inputs: `bring` carries one to another rank (or does nothing, if
it is the same), `keep` ends with a shard. Equal sums of a rank are one output, equal transfers one edge.
runtime/compose/src/graph_build.c does the same, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gfsmith.field import Field
from gfsmith.graph.types import MAX_EDGES, MAX_SIZE, Edge, GraphError, Keep, Place, Send, Vertex, is_unit
from gfsmith.matrix import Matrix


@dataclass(frozen=True, slots=True, order=True)
class Input:
    """A shard that is there, or what arrives by an edge: shards come first."""

    received: bool
    number: int


#: Input -> factor, none of them 0.
Sum = dict[Input, int]


def shard(number: int) -> Input:
    return Input(False, number)


def _received(edge: int) -> Input:
    return Input(True, edge)


@dataclass(slots=True)
class _Rank:
    outputs: list[Sum] = field(default_factory=list)
    keeps: list[Keep] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)

    def output(self, total: Sum) -> int:
        if total not in self.outputs:
            self.outputs.append(dict(total))
        return self.outputs.index(total)


class Builder:
    """A graph in the making."""

    def __init__(self, polynomial: int) -> None:
        self._field = Field(polynomial)
        self._ranks: dict[int, _Rank] = {}
        self._edges: list[Edge] = []
        self._wanted: list[Place] = []

    def add(self, into: Sum, what: Sum, factor: int) -> None:
        """into += factor * what"""
        for key, element in what.items():
            total = into.pop(key, 0) ^ self._field.multiply(factor, element)
            if total:
                into[key] = total

    def bring(self, source: int, target: int, what: Sum, factor: int, into: Sum) -> None:
        """into += factor * what; `what` is known at rank `source`, `into` is a sum at rank `target`."""
        if source == target:
            self.add(into, what, factor)
        elif what:
            self.add(into, {_received(self._send(source, target, what)): 1}, factor)

    def _send(self, source: int, target: int, what: Sum) -> int:
        rank = self._ranks.setdefault(source, _Rank())
        output = rank.output(what)
        for send in rank.sends:
            if send.output == output and self._edges[send.edge].target == target:
                return send.edge
        if len(self._edges) == MAX_EDGES:
            raise GraphError(
                f"this takes more than {MAX_EDGES} transfers, which are all that a graph may have"
            )
        self._edges.append(Edge(source, target))
        rank.sends.append(Send(output, len(self._edges) - 1))
        return len(self._edges) - 1

    def keep(self, at: int, number: int, total: Sum) -> None:
        """The sum, at this rank, is a shard to be kept there."""
        if not total:
            raise GraphError(f"shard {number} is a sum of nothing: nobody can send it")
        rank = self._ranks.setdefault(at, _Rank())
        rank.keeps.append(Keep(rank.output(total), number))
        self._wanted.append(Place(number, at))

    def finish(self) -> tuple[tuple[Place, ...], tuple[Place, ...], tuple[Edge, ...], tuple[Vertex, ...]]:
        """What is there and used, what is wanted, edges and vertices, by rank."""
        vertices = tuple(_vertex(rank, self._ranks[rank]) for rank in sorted(self._ranks))
        has = tuple(Place(number, vertex.rank) for vertex in vertices for number in vertex.locals)
        return has, tuple(self._wanted), tuple(self._edges), vertices


def _vertex(rank: int, made: _Rank) -> Vertex:
    inputs = sorted({key for total in made.outputs for key in total})
    matrix: Matrix = tuple(tuple(total.get(key, 0) for key in inputs) for total in made.outputs)
    size = len(inputs) + sum(not is_unit(row) for row in matrix)
    if size > MAX_SIZE:
        raise GraphError(
            f"rank {rank} would have {size} inputs and sums, which are more than the {MAX_SIZE} "
            "of a primitive"
        )
    return Vertex(
        rank,
        tuple(key.number for key in inputs if not key.received),
        tuple(key.number for key in inputs if key.received),
        matrix,
        tuple(made.keeps),
        tuple(made.sends),
    )
