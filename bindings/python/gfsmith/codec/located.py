"""The result of `Codec.locate` and `Codec.correct`."""

from __future__ import annotations

from typing import NamedTuple

INTACT, UNEXPLAINED = 0xFFFF, 0xFFFE  #: in `where` of Codec.locate, instead of a shard's index


class Located(NamedTuple):
    """Numbers of byte positions. Those of `Codec.locate` have a shard's length as their sum."""

    #: For each shard, the number of positions at which it is (`locate`) or was (`correct`) wrong.
    counts: tuple[int, ...]
    #: Number of positions at which the parities match the data.
    intact: int
    #: Number of positions that no single wrong shard explains, or that could not be corrected.
    unexplained: int

    @property
    def wrong(self) -> tuple[int, ...]:
        """Indices of the shards that are or were wrong somewhere."""
        return tuple(i for i, count in enumerate(self.counts) if count)
