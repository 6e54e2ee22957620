"""What is silently wrong: the answer of `Codec.locate`."""

from __future__ import annotations

from typing import NamedTuple

INTACT, UNEXPLAINED = 0xFFFF, 0xFFFE  #: in `where` of Codec.locate, in place of a shard's index


class Located(NamedTuple):
    """What `Codec.locate` found: numbers of byte positions; all of them together are a shard's length."""

    #: For each shard, the positions at which it is the one that is wrong.
    counts: tuple[int, ...]
    #: Positions at which the parities match the data.
    intact: int
    #: Positions that no single wrong shard explains.
    unexplained: int

    @property
    def wrong(self) -> tuple[int, ...]:
        """The shards that are wrong somewhere."""
        return tuple(i for i, count in enumerate(self.counts) if count)
