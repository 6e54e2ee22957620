"""The location of shards before a timed call."""

from __future__ import annotations

from enum import Enum


class Regime(Enum):
    """Location of the shards before each call: all in the core's own caches, or none in any cache."""

    CACHED = "cached"
    MEMORY = "memory"
