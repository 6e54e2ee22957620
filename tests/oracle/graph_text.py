"""A second writer of the JSON text of a graph and of its hash, compared with gfsmith_graph_json and
gfsmith_graph_hash. It also writes the changed graphs of tests."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from gfsmith.graph.types import Graph, Place, Vertex, primitive


def _place(place: Place) -> dict[str, int]:
    return {"shard": place.shard, "rank": place.rank}


def _vertex(vertex: Vertex) -> dict[str, Any]:
    return {
        "rank": vertex.rank,
        "primitive": primitive(vertex),
        "locals": vertex.locals,
        "receives": vertex.receives,
        "matrix": vertex.matrix,
        "keeps": [{"output": keep.output, "shard": keep.shard} for keep in vertex.keeps],
        "sends": [{"output": send.output, "edge": send.edge} for send in vertex.sends],
    }


def record(graph: Graph) -> dict[str, Any]:
    return {
        "scheme": graph.scheme,
        "does": "encode" if graph.encodes else "decode",
        "polynomial": graph.polynomial,
        "k": graph.k,
        "m": graph.m,
        "parity": graph.parity,
        "has": [_place(place) for place in graph.has],
        "wanted": [_place(place) for place in graph.wanted],
        "edges": [{"from": edge.source, "to": edge.target} for edge in graph.edges],
        "vertices": [_vertex(vertex) for vertex in graph.vertices],
    }


def text(graph: Graph) -> str:
    """Return the JSON record without spaces, byte for byte the text of gfsmith_graph_json."""
    return json.dumps(record(graph), separators=(",", ":"))


def digest(graph: Graph) -> int:
    """Return the hash of gfsmith_graph_hash: the first 8 bytes, little endian, of BLAKE2b-128 of the text
    (RFC 7693)."""
    found = hashlib.blake2b(text(graph).encode(), digest_size=16).digest()
    return int.from_bytes(found[:8], "little")
