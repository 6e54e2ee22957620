"""Pairs of ranks (sender, receiver) in each scheme, from the papers' descriptions (docs/compose/guide.md).

The oracle uses no part of the layouts: no sums, no vertices, no numbers of transfers. gfsmith.graph.check
proves the result of a graph and has no schemes; these pairs show that the graph follows its scheme.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

Pair = tuple[int, int]


class Repair(Protocol):
    """A repair plan: a matrix row for each target, with an element for each shard that the plan reads."""

    @property
    def reads(self) -> Sequence[int]: ...
    @property
    def targets(self) -> Sequence[int]: ...
    @property
    def matrix(self) -> Sequence[Sequence[int]]: ...


def _apart(pairs: Iterator[Pair]) -> set[Pair]:
    """The pairs without those of a rank with itself."""
    return {(source, target) for source, target in pairs if source != target}


def encoding(scheme: str, parity: Sequence[Sequence[int]], holders: Sequence[int], source: int) -> set[Pair]:
    """rs, lrc: the source sends every shard. triec: the source sends the data shards, and their holders send
    products to the holders of the parities; the source computes the parities that it holds itself.
    """
    k = len(parity[0])
    if scheme != "triec":
        return _apart((source, holder) for holder in holders)

    def pairs() -> Iterator[Pair]:
        yield from ((source, holder) for holder in holders[:k])
        for row, holder in zip(parity, holders[k:], strict=True):
            if holder != source:
                yield from ((holders[j], holder) for j, factor in enumerate(row) if factor)

    return _apart(pairs())


def decoding(scheme: str, plan: Repair, holders: Sequence[int], sinks: Sequence[int]) -> set[Pair]:
    """sinks: for each shard, the rank that receives it."""
    found: set[Pair] = set()
    for target, row in zip(plan.targets, plan.matrix, strict=True):
        used = [holders[read] for read, factor in zip(plan.reads, row, strict=True) if factor]
        everyone = [holders[read] for read in plan.reads]
        found |= _apart(_SCHEMES[scheme](used, everyone, holders[target], sinks[target]))
    return found


def _gather(used: Sequence[int], everyone: Sequence[int], holder: int, sink: int) -> Iterator[Pair]:
    yield from ((rank, sink) for rank in used)


def _triec(used: Sequence[int], everyone: Sequence[int], holder: int, sink: int) -> Iterator[Pair]:
    """The helpers send products to the lost shard's holder, which sends the shard to the sink."""
    yield from ((rank, holder) for rank in used)
    yield holder, sink


def _ecpipe(used: Sequence[int], everyone: Sequence[int], holder: int, sink: int) -> Iterator[Pair]:
    """A chain of the helpers in the order of their shards; it ends at the sink."""
    helpers = (rank for rank in dict.fromkeys(everyone) if rank in used and rank != sink)
    yield from pairwise([*helpers, sink])


def _ppr(used: Sequence[int], everyone: Sequence[int], holder: int, sink: int) -> Iterator[Pair]:
    """A binomial tree. The sink has place 0, the helpers follow by shard. Place i sends to i without its
    lowest set bit if it has data to send.
    """
    places = [sink, *(rank for rank in dict.fromkeys(everyone) if rank != sink)]
    has = {place for place, rank in enumerate(places) if rank in used}
    for place in sorted(range(1, len(places)), key=lambda place: place & -place):
        if place in has:
            above = place & (place - 1)
            has.add(above)
            yield places[place], places[above]


_SCHEMES = {"rs": _gather, "lrc": _gather, "ppr": _ppr, "ecpipe": _ecpipe, "triec": _triec}
