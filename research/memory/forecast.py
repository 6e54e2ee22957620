"""Forecast for gfsmith's kernels on the model of persistent memory: the best policy of each cell, and the
choices of the rules.

The CPU is that of the paper, so the kernels are those for AVX-512 without GFNI. In every cell, hill climbing
finds the best distance of each policy. `rule` is the paper's choice (section 4.1, as systems.py implements
it) with its climbing. `candidates` is the result of the coordinator's search (policy_search.c): the best
policy of its list, or of climbing from the best pipelined one, with both kinds of stores.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from research.memory import candidates
from research.memory.hill_climbing import climb
from research.memory.machine import run
from research.memory.policies import STREAM_MIN, VARIANTS, Policy, call
from research.memory.systems import FIRST_EXTRA, FURTHEST, Setting, furthest, high_pressure, isal

ISA = "avx512"
KS = (4, 8, 12, 16, 24, 32, 48, 96, 154)
LENGTHS = (256, 1024, 4096, 16384)
THREADS = (1, 4, 10, 18)
LONGEST = 4096  #: bytes of the longest shards with several threads
TWO = ("rows4", "block")  #: policies that have a variant with two distances


@dataclass(frozen=True, slots=True)
class Forecast:
    """GB/s by policy text; the best policy, and the chosen ones."""

    k: int
    length: int
    threads: int
    isal: float
    gbps: dict[str, float]
    rule: str
    candidates: str

    @property
    def best(self) -> str:
        return max(self.gbps, key=lambda name: self.gbps[name])


class _Cell:
    """The policies of one cell, each simulated once."""

    def __init__(self, setting: Setting) -> None:
        self.s = setting
        self.speed = functools.cache(self._speed)
        self.nt = setting.length >= STREAM_MIN

    def _speed(self, policy: Policy) -> float:
        s = self.s
        return run(s.machine, call(ISA, s.m, s.k, s.length, policy), s.work).gbps

    def climbed(self, policy: Policy, most: int) -> Policy:
        found, _ = climb(lambda d: self.speed(replace(policy, distance=d)), policy.distance, most)
        policy = replace(policy, distance=found)
        if policy.first:
            first, _ = climb(lambda d: self.speed(replace(policy, first=d)), policy.first, most, 1)
            policy = replace(policy, first=first)
        return policy

    def every(self) -> Iterator[Policy]:
        """Yield each policy with its best distances, and then with the other kind of stores."""
        yield Policy("default")
        yield Policy("plain")
        for walk in VARIANTS:
            one = self.climbed(Policy(walk, self.s.k, 0, self.nt), FURTHEST)
            yield one
            yield replace(one, nt=not one.nt)
            if walk in TWO:
                yield self.climbed(replace(one, first=one.distance + FIRST_EXTRA), FURTHEST)

    def rule(self) -> Policy:
        most = max(furthest(self.s), 1)
        start = min(self.s.k, most)
        if high_pressure(self.s):
            return self.climbed(Policy("block-shuffled", start, 0, self.nt), most)
        return self.climbed(Policy("rows4", start, start + FIRST_EXTRA, self.nt), most)

    def candidates(self) -> Policy:
        listed = candidates.candidates(self.s)
        best = max(listed, key=self.speed)
        piped = [policy for policy in listed if policy.walk in VARIANTS]
        if not piped:
            return best
        climber = max(piped, key=self.speed)
        climber = self.climbed(climber, min(candidates.longest(self.s, climber), FURTHEST))
        return max((best, climber, replace(climber, nt=not climber.nt)), key=self.speed)


def forecast(setting: Setting) -> Forecast:
    cell = _Cell(setting)
    policies = {*cell.every(), rule := cell.rule(), chosen := cell.candidates()}
    gbps = {str(p): round(cell.speed(p), 3) for p in sorted(policies, key=str)}
    s = setting
    return Forecast(s.k, s.length, s.threads, round(isal(s).gbps, 3), gbps, str(rule), str(chosen))


def cells() -> list[Setting]:
    every = (Setting(k, length=length, threads=n) for n in THREADS for length in LENGTHS for k in KS)
    return [s for s in every if s.threads == 1 or s.length <= LONGEST]
