"""Studies: plain memcached, and the store with every scheme, composed and incoherent, which alternate."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

from bench.compose.plan import COMPOSED, CONTENDERS, INCOHERENT
from bench.compose.ycsb.client import WORKLOADS, Figures, Load, fill, run
from bench.compose.ycsb.programs import INCOHERENTLY, STORE
from bench.compose.ycsb.server import counters, memcached, stripe_store

#: The distribution of the paper's degraded reads (section IV-B): a Weibull shape of 0.7 to 0.8, 1 % of all.
WEIBULL = 0.75
NONE, SOME, MORE, ALL = "none", "1%", "10%", "all"
RATES = {SOME: 0.01, MORE: 0.1, ALL: 1.0}
MEMCACHED = "memcached"
MEMORY = 256  #: MiB of each memcached
PROGRAMS = {COMPOSED: STORE, INCOHERENT: INCOHERENTLY}


@dataclass(frozen=True, slots=True)
class Study:
    """A pair of servers (or plain memcached alone) under some workloads. degraded: the reads that find a
    chunk missing; lost: the number of chunks missing then; value: bytes of a record; slice: bytes, 0: whole
    chunks; stripes: memory stripes of the store."""

    scheme: str
    shape: tuple[int, ...]
    degraded: str
    value: int
    workloads: tuple[str, ...]
    lost: int = 1
    slice: int = 0
    stripes: int = 1

    @property
    def id(self) -> str:
        degraded = self.degraded if self.lost == 1 else f"{self.degraded}:{self.lost}"
        stripes = "" if self.stripes == 1 else f"{self.stripes}-stripes"
        words = (self.scheme, "+".join(map(str, self.shape)), degraded, str(self.value), stripes)
        return "/".join(word for word in words if word)

    @property
    def contenders(self) -> tuple[str, ...]:
        return (MEMCACHED,) if self.scheme == MEMCACHED else CONTENDERS

    def arguments(self) -> list[str]:
        """Return the arguments of the store's command."""
        names = ("-k", "--groups", "--global") if self.scheme == "lrc" else ("-k", "-m")
        found = ["--scheme", self.scheme]
        for name, number in zip(names, self.shape, strict=True):
            found += [name, str(number)]
        if self.degraded != NONE:
            lost = "" if self.lost == 1 else f":{self.lost}"
            found += ["--degraded", f"weibull:{WEIBULL}:{RATES[self.degraded]}{lost}"]
        if self.slice:
            found += ["--slice", str(self.slice)]
        return found

    def server(self, contender: str, more: Sequence[str] = ()) -> AbstractContextManager[list[int]]:
        """Return the server. more: further arguments of the store's command."""
        if contender == MEMCACHED:
            return memcached(MEMORY)
        return stripe_store(PROGRAMS[contender], ("--keep", MEMORY), [*self.arguments(), *more], self.stripes)


@dataclass(frozen=True, slots=True)
class Effort:
    """rounds: of all contenders, in a new order each; records, seconds: as in Load. threads: of the client,
    for each memory stripe."""

    rounds: int = 3
    records: int = 300
    threads: int = 4
    seconds: int = 2


QUICK = Effort(rounds=2, records=100, seconds=1)

_KIB = 1024
_EVERY = tuple(WORKLOADS)
_LIKE = {"rs": (6, 3), "lrc": (6, 2, 2), "ppr": (6, 3), "ecpipe": (6, 3), "triec": (6, 3)}

#: Healthy: PPR and ECPipe write as RS does. Degraded 1 %: shapes, values and workloads of the paper's figures
#: 9 to 13. All reads degraded: its figure 14, with one memory stripe, and RS with three (the paper: nine).
STUDIES: Sequence[Study] = (
    Study(MEMCACHED, (), NONE, 8 * _KIB, _EVERY),
    *(Study(scheme, _LIKE[scheme], NONE, 8 * _KIB, _EVERY) for scheme in ("rs", "lrc", "triec")),
    Study("rs", (3, 2), SOME, 4 * _KIB, ("A",)),
    Study("lrc", (12, 2, 2), SOME, 32 * _KIB, ("A",)),
    Study("ppr", (12, 4), SOME, 64 * _KIB, ("C",)),
    Study("ecpipe", (6, 3), SOME, 16 * _KIB, ("B",), slice=_KIB),
    Study("triec", (3, 2), SOME, 8 * _KIB, ("A",), lost=2),
    *(Study(scheme, shape, ALL, 8 * _KIB, _EVERY) for scheme, shape in _LIKE.items()),
    Study("rs", _LIKE["rs"], ALL, 8 * _KIB, _EVERY, stripes=3),
)


@dataclass(slots=True)
class Found:
    """Figures of the rounds by workload and contender. reads: each contender's number of degraded reads, and
    its number of reads."""

    rounds: dict[str, dict[str, list[Figures]]]
    reads: dict[str, tuple[int, int]]


def measure(study: Study, effort: Effort) -> Found:
    """Measure a study. Raises RunError, BuildError."""
    chance = random.Random(study.id)
    load = Load(effort.records, study.value, effort.threads * study.stripes, effort.seconds)
    with ExitStack() as stack:
        ports = {who: stack.enter_context(study.server(who)) for who in study.contenders}
        for each in ports.values():
            fill(each, load)
        found = Found({w: {who: [] for who in study.contenders} for w in study.workloads}, {})
        for workload, rounds in found.rounds.items():
            for _ in range(effort.rounds):
                for who in chance.sample(study.contenders, len(study.contenders)):
                    rounds[who].append(run(ports[who], load, workload))
        for who, each in ports.items():
            counted = counters(each)
            found.reads[who] = counted.get("reads_degraded", 0), counted.get("cmd_get", 0)
    return found
