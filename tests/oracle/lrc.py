"""Losses that some local reconstruction code of a topology repairs."""

from __future__ import annotations

from collections.abc import Iterable

from gfsmith.codes.lrc import Lrc


def within_bound(lrc: Lrc, lost: Iterable[int]) -> bool:
    """Return True if some code of this topology repairs the loss: condition (1) of gfsmith.codes.lrc."""
    missing = set(lost)
    beyond = sum(shard >= lrc.k + lrc.l for shard in missing)
    for g, group in enumerate(lrc.groups):
        beyond += max(0, len(missing & {*group, lrc.k + g}) - 1)
    return beyond <= lrc.r
