"""The result of `Codec.locate`."""

from __future__ import annotations

from typing import NamedTuple

INTACT, UNEXPLAINED = 0xFFFF, 0xFFFE  #: in `where` of Codec.locate, instead of a shard's index


class Located(NamedTuple):
    """The result of `Codec.locate`: numbers of byte positions, whose sum is a shard's length."""

    #: For each shard, the number of positions at which it is wrong.
    counts: tuple[int, ...]
    #: Number of positions at which the parities match the data.
    intact: int
    #: Number of positions that no single wrong shard explains.
    unexplained: int

    @property
    def wrong(self) -> tuple[int, ...]:
        """Indices of the shards that are wrong somewhere."""
        return tuple(i for i, count in enumerate(self.counts) if count)
