"""Graphs over nodes, created by the library, as JSON text: for `gfsmith graph`, not part of the interface.

The text is that of gfsmith_graph_json (docs/compose/guide.md). Ranks are 0 to 1023, one for each shard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gfsmith.codec import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gfsmith.codec.codec import Codec
    from gfsmith.codec.shards import Flags


def encoding(scheme: str, codec: Codec, holders: Sequence[int], source: int) -> str:
    """Return the graph that takes all data from `source` and sends shard i to rank holders[i]. Raises
    GfsmithError.
    """
    return _native.graph_encode(codec._handle, codec.polynomial, scheme, holders, source)


def decoding(
    scheme: str, codec: Codec, holders: Sequence[int], present: Flags, wanted: Flags, sinks: Sequence[int]
) -> str:
    """Return the graph that rebuilds the wanted missing shards: shard i at rank sinks[i]. Raises
    GfsmithError.
    """
    return _native.graph_decode(codec._handle, codec.polynomial, scheme, holders, present, wanted, sinks)
