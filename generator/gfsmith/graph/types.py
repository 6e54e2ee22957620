"""What a graph is, and the rule that picks a vertex's primitive.

INEC (H. Shi, X. Lu, "INEC: Fast and Coherent In-Network Erasure Coding", SC 2020), section III-D: a *dynamic
EC graph* is a directed acyclic graph whose vertices are nodes and whose edges are transfers of one shard's
length each. A vertex has inputs, the shards that its node has (`locals`) and then what it receives, and a
matrix with a row for each output:

    output[i] = sum over j of matrix[i][j] * input[j]    in GF(2^8), byte by byte.

An output is sent, kept as a shard, or both. A node, named by its rank, is one vertex at most: it computes
when all that it receives is there. runtime/compose/src/graph.h has the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gfsmith.matrix import Matrix, Row

MAX_RANKS = 1024  #: GFSMITH_RANKS_MAX
MAX_EDGES = 4096  #: GFSMITH_EDGES_MAX
MAX_SIZE = 255  #: inputs and computed outputs of a primitive: what a codec has of shards


class GraphError(ValueError):
    """A graph that cannot be laid out, or that is not one."""


@dataclass(frozen=True, slots=True)
class Place:
    """A shard at a rank."""

    shard: int
    rank: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A transfer between ranks; its number is its index."""

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
    """A node's part. matrix: a row for each output, an element for each of locals, then receives."""

    rank: int
    locals: tuple[int, ...]
    receives: tuple[int, ...]
    matrix: Matrix
    keeps: tuple[Keep, ...]
    sends: tuple[Send, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """has: the shards that are there, as far as they are used. wanted: those to be had when it is over, and
    where. parity: the code's m x k matrix over GF(2)[x] / polynomial."""

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
    """Whether it is an input: a 1 and zeros."""
    return sum(row) == 1


def calculator(matrix: Sequence[Row]) -> str:
    """ "": outputs are inputs; "xor": one output, the sum of all inputs; else "ec"."""
    if all(is_unit(row) for row in matrix):
        return ""
    if len(matrix) == 1 and all(element == 1 for element in matrix[0]):
        return "xor"
    return "ec"


def primitive(vertex: Vertex) -> str:
    """The vertex rule: what nobody sends to sends, what sends to nobody receives, all others do both; with no
    computation it is just send or receive."""
    words = (
        "recv" if vertex.receives else "",
        calculator(vertex.matrix),
        "send" if vertex.sends else "",
    )
    return "-".join(word for word in words if word) or "keep"
