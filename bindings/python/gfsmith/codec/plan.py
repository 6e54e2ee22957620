"""Repair plans: gfsmith_plan.h."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gfsmith.codec import _native

if TYPE_CHECKING:
    from gfsmith.codec.shards import Shards


class Plan:
    """A repair plan: lost shards in terms of present ones, target[t] = sum over n of matrix[t][n] * read[n].

    Created by `Codec.plan`. A plan is independent of its codec and immutable; any number of threads may run
    it. It reads as few shards as possible.

    >>> import gfsmith
    >>> codec = gfsmith.Codec.lrc(k=12, l=2, r=2)
    >>> plan = codec.plan(codec.all_but(3))
    >>> plan.reads, plan.targets, plan.is_least
    ((0, 1, 2, 4, 5, 12), (3,), True)
    """

    #: Indices of the shards that are read, ascending.
    reads: tuple[int, ...]
    #: Indices of the shards that are rebuilt, ascending.
    targets: tuple[int, ...]
    #: A row for each target, with an element for each read shard.
    matrix: tuple[bytes, ...]
    #: Is it proved that every repair of these targets reads at least as many shards?
    is_least: bool

    def __init__(self, handle: _native._Plan) -> None:
        self._handle = handle
        reads, targets, matrix, self.is_least = _native.plan_of(handle)
        self.reads, self.targets = tuple(reads), tuple(targets)
        self.matrix = tuple(matrix[t * len(reads) : (t + 1) * len(reads)] for t in range(len(targets)))

    def run(self, shards: Shards) -> None:
        """Rebuild the targets, in place.

        shards: all k + m, as a sequence or as rows; those of `reads` are read, those of `targets` written,
        all others are ignored and may be None. Errors: as `Codec.reconstruct`.
        """
        _native.plan_run(self._handle, shards)

    def __repr__(self) -> str:
        return f"<gfsmith.Plan: reads {self.reads}, rebuilds {self.targets}>"
