"""The data model of graphs, and the rule that determines a vertex's primitive.

INEC (H. Shi, X. Lu, "INEC: Fast and Coherent In-Network Erasure Coding", SC 2020), section III-D: a *dynamic
EC graph* is a directed acyclic graph whose vertices are nodes and whose edges are transfers of one shard's
length each. The inputs of a vertex are the shards that its node has (`locals`), then the transfers that it
receives. Its matrix has a row for each output:

    output[i] = sum over j of matrix[i][j] * input[j]    in GF(2^8), byte by byte.

An output is sent, kept as a shard, or both. A node, named by its rank, has at most one vertex, which computes
when all its transfers have arrived. runtime/compose/src/graph.h is the same in C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gfsmith.field.matrix import Matrix, Row

MAX_RANKS = 1024  #: GFSMITH_RANKS_MAX
MAX_EDGES = 4096  #: GFSMITH_EDGES_MAX
SCHEMES = ("rs", "lrc", "ppr", "ecpipe", "triec")  #: the layouts of runtime/compose/src/graph_layouts.c


class GraphError(ValueError):
    """An impossible layout, or an invalid graph."""


@dataclass(frozen=True, slots=True)
class Place:
    """A shard and the rank that holds it."""

    shard: int
    rank: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A transfer between ranks. Its number is its index in Graph.edges."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Keep:
    """The vertex keeps this output as this shard."""

    output: int
    shard: int


@dataclass(frozen=True, slots=True)
class Send:
    """The vertex sends this output along this edge."""

    output: int
    edge: int


@dataclass(frozen=True, slots=True)
class Vertex:
    """The computation of one node. matrix: a row for each output, a column for each of locals, then
    receives."""

    rank: int
    locals: tuple[int, ...]
    receives: tuple[int, ...]
    matrix: Matrix
    keeps: tuple[Keep, ...]
    sends: tuple[Send, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph. has: the present shards that it uses. wanted: the shards that it computes, with their ranks.
    parity: the code's m x k parity matrix over GF(2)[x] / polynomial."""

    scheme: str
    encodes: bool
    polynomial: int
    k: int
    m: int
    parity: Matrix
    has: tuple[Place, ...]
    wanted: tuple[Place, ...]
    edges: tuple[Edge, ...]
    vertices: tuple[Vertex, ...]


def is_unit(row: Row) -> bool:
    """Return True if the output is equal to an input: a 1 and zeros."""
    return sum(row) == 1


def calculator(matrix: Sequence[Row]) -> str:
    """Return "" if all outputs are inputs, "xor" if the only output is the sum of all inputs, else "ec"."""
    if all(is_unit(row) for row in matrix):
        return ""
    if len(matrix) == 1 and all(element == 1 for element in matrix[0]):
        return "xor"
    return "ec"


def primitive(vertex: Vertex) -> str:
    """Return the primitive of the vertex rule: "recv" for a vertex with incoming edges, the calculator, and
    "send" for one with outgoing edges, joined by "-"; "keep" if none of these applies."""
    words = (
        "recv" if vertex.receives else "",
        calculator(vertex.matrix),
        "send" if vertex.sends else "",
    )
    return "-".join(word for word in words if word) or "keep"
