"""The order of the tests of a run on several processes: each process begins with its share of the longest.

pytest-xdist gives each process a stretch of the list, and a process without work takes half of the rest of
another one. A long test that begins last would leave the other processes without work.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support import needs

#: The longest tests, of 20 to 120 seconds on 2 cores, the longest first: a module below tests/, or a module,
#: "::" and the beginning of a test's name.
LONG = (
    "system/ceph/test_cluster.py",
    "system/hardening/test_coverage.py",
    "system/hardening/test_fuzz.py::test_nothing_is_found[api]",
    "system/apps/shards/test_hostile.py::test_threads_have_no_race",
)


def longest_first(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """Return the tests in stretches, one for each process, that begin with the long tests in turn."""
    ranks = [_rank(item) for item in items]
    long = sorted((n for n, rank in enumerate(ranks) if rank is not None), key=lambda n: ranks[n] or 0)
    others = [n for n, rank in enumerate(ranks) if rank is None]
    found: list[int] = []
    for process in range(processes):
        own = long[process::processes]
        size = (len(items) - len(found)) // (processes - process)  # as pytest-xdist cuts the list
        left = max(0, size - len(own))
        found += own + others[:left]
        del others[:left]
    return [items[n] for n in [*found, *others]]


def _rank(item: pytest.Item) -> int | None:
    """Return the place of a test in LONG."""
    below = needs.below_tests(item.path)
    name = "" if below is None else f"{below.as_posix()}::{item.name}"
    return next((n for n, long in enumerate(LONG) if name.startswith(long)), None)
