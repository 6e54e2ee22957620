"""Requests for graphs, which the library lays out (runtime/compose/src/graph_create.h).

`encoding_text` and `decoding_text` return the JSON text of the library, `proved` the graph in it, which
check.py has proved; `encoding` and `decoding` do both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import gfsmith
from gfsmith.graph import read
from gfsmith.graph.check import prove
from gfsmith.graph.types import Graph, GraphError
from gfsmith.repair.planner import plan

if TYPE_CHECKING:
    from gfsmith.codec import Codec


def proved(text: str) -> Graph:
    """Return the graph in a text of the library. Raises GraphError unless it is correct for all data."""
    graph = read.graph(text)
    prove(graph)
    return graph


def encoding_text(scheme: str, codec: Codec, holders: Sequence[int], source: int) -> str:
    """Return the text of the graph that takes all data from rank `source` and brings shard i to rank
    holders[i].

    Raises GraphError."""
    from gfsmith.codec import graph

    try:
        return graph.encoding(scheme, codec, holders, source)
    except gfsmith.GfsmithError as error:
        raise GraphError(str(error)) from None


def decoding_text(
    scheme: str,
    codec: Codec,
    holders: Sequence[int],
    lost: Iterable[int],
    wanted: Iterable[int] | None = None,
    sinks: dict[int, int] | None = None,
) -> str:
    """Return the text of the graph that rebuilds lost shards by the plan with the fewest reads.

    wanted: the lost shards to rebuild, None for all. sinks: the rank that receives a shard, by default its
    holder. Raises PlanError for a loss that cannot be repaired, and GraphError."""
    from gfsmith.codec import graph

    missing = tuple(lost)
    targets = codec.only(*plan(codec, missing, wanted).targets)
    to = [(sinks or {}).get(shard, holder) for shard, holder in enumerate(holders)]
    try:
        return graph.decoding(scheme, codec, holders, codec.all_but(*missing), targets, to)
    except gfsmith.GfsmithError as error:
        raise GraphError(str(error)) from None


def encoding(scheme: str, codec: Codec, holders: Sequence[int], source: int) -> Graph:
    """Return the proved graph of encoding_text. Raises GraphError."""
    return proved(encoding_text(scheme, codec, holders, source))


def decoding(
    scheme: str,
    codec: Codec,
    holders: Sequence[int],
    lost: Iterable[int],
    wanted: Iterable[int] | None = None,
    sinks: dict[int, int] | None = None,
) -> Graph:
    """Return the proved graph of decoding_text. Raises PlanError and GraphError."""
    return proved(decoding_text(scheme, codec, holders, lost, wanted, sinks))
