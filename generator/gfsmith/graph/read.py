"""Parsing of a graph from JSON, such as that of gfsmith_graph_json, and its hash. check.py proves graphs."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gfsmith.graph.types import SCHEMES, Edge, Graph, GraphError, Keep, Place, Send, Vertex, primitive

Number = Annotated[int, Field(ge=0, lt=1 << 16)]
Rows = tuple[tuple[Number, ...], ...]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Place(_Form):
    shard: Number
    rank: Number


class _Edge(_Form):
    source: Annotated[Number, Field(alias="from")]
    target: Annotated[Number, Field(alias="to")]


class _Keep(_Form):
    output: Number
    shard: Number


class _Send(_Form):
    output: Number
    edge: Number


class _Vertex(_Form):
    rank: Number
    primitive: str
    locals: tuple[Number, ...]
    receives: tuple[Number, ...]
    matrix: Rows
    keeps: tuple[_Keep, ...]
    sends: tuple[_Send, ...]

    def vertex(self) -> Vertex:
        keeps = tuple(Keep(keep.output, keep.shard) for keep in self.keeps)
        sends = tuple(Send(send.output, send.edge) for send in self.sends)
        return Vertex(self.rank, self.locals, self.receives, self.matrix, keeps, sends)


class _Graph(_Form):
    scheme: str
    does: Literal["encode", "decode"]
    polynomial: Number
    k: Number
    m: Number
    parity: Rows
    has: tuple[_Place, ...]
    wanted: tuple[_Place, ...]
    edges: tuple[_Edge, ...]
    vertices: tuple[_Vertex, ...]

    def graph(self) -> Graph:
        return Graph(
            self.scheme, self.does == "encode", self.polynomial, self.k, self.m, self.parity,
            tuple(Place(place.shard, place.rank) for place in self.has),
            tuple(Place(place.shard, place.rank) for place in self.wanted),
            tuple(Edge(edge.source, edge.target) for edge in self.edges),
            tuple(vertex.vertex() for vertex in self.vertices),
        )  # fmt: skip


def _form(text: str) -> _Graph:
    """Return the record in a JSON text. Raises GraphError for another structure."""
    try:
        return _Graph.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the text"
        raise GraphError(f"{where}: {first['msg'].splitlines()[0]}") from None


def digest(text: str) -> int:
    """Return the hash of the graph in a JSON text: that of gfsmith_graph_hash, the first 8 bytes, little
    endian, of BLAKE2b-128 (RFC 7693) of the text without spaces, with keys in the order of the record.

    Raises GraphError for another structure."""
    plain = _form(text).model_dump_json(by_alias=True)
    found = hashlib.blake2b(plain.encode(), digest_size=16).digest()
    return int.from_bytes(found[:8], "little")


def graph(text: str) -> Graph:
    """Return the graph in a JSON text.

    Raises GraphError for another structure, an unknown scheme, and a primitive that violates the vertex
    rule."""
    form = _form(text)
    if form.scheme not in SCHEMES:
        raise GraphError(f"scheme '{form.scheme}' is unknown; allowed: {', '.join(SCHEMES)}")
    found = form.graph()
    for stated, vertex in zip(form.vertices, found.vertices, strict=True):
        if stated.primitive != primitive(vertex):
            raise GraphError(
                f"rank {vertex.rank}: primitive '{stated.primitive}' violates the vertex rule; "
                f"allowed: {primitive(vertex)}"
            )
    return found
