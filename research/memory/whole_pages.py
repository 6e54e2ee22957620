"""Comparison of one policy for a call with two: one for its whole pages, another for the rest (section 4.1).

The candidates are those of the coordinator, without climbing. For two policies, the best few of each part
alone are combined.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from research.memory import candidates
from research.memory.forecast import ISA
from research.memory.machine import Events, run
from research.memory.policies import PAGE, Policy, call, moved
from research.memory.systems import Setting

LENGTHS = (5120, 7168)
KS, MANY_KS, MANY = (8, 16, 24, 32, 48), (8, 24, 48), 10
FEW = 4  #: policies of each part that are combined


@dataclass(frozen=True, slots=True)
class Parts:
    """The best policy of the call, the best pair of policies, and their GB/s."""

    k: int
    length: int
    threads: int
    one: str
    one_gbps: float
    pages: str
    rest: str
    two_gbps: float

    @property
    def gain(self) -> float:
        return self.two_gbps / self.one_gbps


def _events(s: Setting, policy: Policy) -> Events:
    return call(ISA, s.m, s.k, s.length, policy)


def _best(s: Setting) -> list[tuple[float, Policy]]:
    """Return the coordinator's candidates with their speeds, the fastest first."""
    found = [(run(s.machine, _events(s, p), s.work).gbps, p) for p in candidates.candidates(s)]
    return sorted(found, key=lambda each: -each[0])


def parts(s: Setting) -> Parts:
    pages = replace(s, length=s.length // PAGE * PAGE)
    rest = replace(s, length=s.length - pages.length)
    pairs = [(p, r) for _, p in _best(pages)[:FEW] for _, r in _best(rest)[:FEW]]

    def speed(pair: tuple[Policy, Policy]) -> float:
        after = moved(_events(rest, pair[1]), pages.length)
        return run(s.machine, np.concatenate([_events(pages, pair[0]), after]), s.work).gbps

    two, (first, second) = max(((speed(pair), pair) for pair in pairs), key=lambda each: each[0])
    one, policy = _best(s)[0]
    gbps = round(one, 3), round(two, 3)
    return Parts(s.k, s.length, s.threads, str(policy), gbps[0], str(first), str(second), gbps[1])


def settings() -> list[Setting]:
    single = [Setting(k, length=length) for length in LENGTHS for k in KS]
    return single + [Setting(k, length=length, threads=MANY) for length in LENGTHS for k in MANY_KS]
