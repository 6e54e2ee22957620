"""Measurement of one cell: screening of static policies, settling of the adaptive one, final rounds."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from bench.adaptive.driver import Measures
from bench.adaptive.judge import fastest
from bench.adaptive.plan import ADAPTIVE, DEFAULT, PEERS, Cell, Effort, in_packets, policies, xor_codes

#: Batches per sample while the adaptive contender settles; the policy is checked after each batch.
BATCH = 8

Samples = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Settling:
    """The adaptive contender's path to its policy: calls (of all threads) and seconds before it held the
    policy, the number of changes until then, including trials, and whether it then held the policy long
    enough."""

    policy: str
    calls: int
    seconds: float
    changes: int
    quiet: bool


@dataclass(slots=True)
class Measured:
    """A cell's figures: nanoseconds per stripe in screening and final rounds. static: the static policies in
    `final`. same: the contender with the adaptive one's policy and no adapting; end: the policy that the
    adaptive contender reported most often after its samples."""

    cell: Cell
    settling: Settling
    static: list[str]
    same: str
    end: str = ""
    screened: Samples = field(default_factory=dict)
    final: Samples = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)


def rounds(sample: Callable[[str], float], who: Sequence[str], count: int, chance: random.Random) -> Samples:
    """Run `count` rounds in which each contender gets one sample, in a new order each time."""
    ns: Samples = {name: [] for name in who}
    for _ in range(count):
        for name in chance.sample(list(who), len(who)):
            ns[name].append(sample(name))
    return ns


def settle(driver: Measures, slot: int, threads: int, effort: Effort, count: int) -> Settling:
    """Run the adaptive contender alone until its policy has not changed for a while.

    After every batch of calls it reports its current policy. In a search that is the policy of a trial, which
    changes every few milliseconds.
    """
    calls, elapsed, changes = 0, 0.0, 0
    held, since = driver.policy(slot, ADAPTIVE), (0, 0.0)
    batch = max(count // BATCH, 1)
    while elapsed < effort.settling * 1e6 and elapsed - since[1] < effort.quiet * 1e6:
        before = (calls, elapsed)
        elapsed += driver.sample(slot, ADAPTIVE, threads, 0, batch) * batch * threads
        calls += batch * threads
        now = driver.policy(slot, ADAPTIVE)
        if now != held:
            held, since, changes = now, before, changes + 1
    quiet = elapsed - since[1] >= effort.quiet * 1e6
    return Settling(held, since[0], since[1] / 1e9, changes, quiet)


def best_of(ns: Samples, number: int) -> list[str]:
    """Return the fastest `number` contenders, best first, each compared with the default library."""
    left, found = list(ns), list[str]()
    every = range(len(ns[DEFAULT]))
    while left and len(found) < number:
        among = [DEFAULT, *(name for name in left if name != DEFAULT)] if DEFAULT in left else left
        found.append(fastest(ns, among, every))
        left.remove(found[-1])
    return found


class CellMeasurer:
    """Measures the cells of one shape and length, which are open in a slot of the driver."""

    def __init__(self, driver: Measures, effort: Effort, slot: int = 0) -> None:
        self._driver, self._effort, self._slot = driver, effort, slot
        self._chance = random.Random(1)
        self._open: list[str] = []
        self._xor: dict[str, int] = {}  #: code -> slot

    def measure(self, cells: Iterable[Cell]) -> Iterable[Measured]:
        """Measure cells that differ in their threads only. Raises RunError."""
        for number, cell in enumerate(cells):
            if number == 0:
                static = [DEFAULT, *(f"policy:{text}" for text in policies(cell.k))]
                wanted = [*static, ADAPTIVE, *PEERS]
                missing = self._driver.cell(self._slot, cell, wanted)
                self._open = [name for name in wanted if name not in missing]
                missing = missing | self._open_xor(cell)
            yield self._one(cell, [name for name in static if name in self._open], missing)
        for slot in (self._slot, *self._xor.values()):
            self._driver.close(slot)

    def _open_xor(self, cell: Cell) -> dict[str, str]:
        """Open the XOR-based codes of a cell; return the missing ones with the reasons."""
        missing: dict[str, str] = {}
        self._xor = {}
        for slot, code in enumerate(xor_codes(cell), self._slot + 1):
            why = self._driver.cell(slot, cell, [in_packets(cell.length)], code)
            if why:
                missing[code] = next(iter(why.values()))
                self._driver.close(slot)
            else:
                self._xor[code] = slot
        return missing

    def _sampler(self, cell: Cell, count: int) -> Callable[[str], float]:
        threads, stripe = cell.threads, (cell.k + cell.m) * cell.length
        lead = max(count // 3, (self._effort.lead << 20) // (stripe * threads)) + 1
        packets = in_packets(cell.length).removeprefix("~")

        def sample(name: str) -> float:
            if name in self._xor:
                return self._driver.sample(self._xor[name], packets, threads, lead, count)
            return self._driver.sample(self._slot, name, threads, lead, count)

        return sample

    def _counterpart(self, settling: Settling) -> str:
        """Return the contender that runs the settled policy without adapting."""
        name = DEFAULT if settling.policy in ("default", "none") else f"policy:{settling.policy}"
        if name not in self._open:
            self._driver.add(self._slot, name)
            self._open.append(name)
        return name

    def _one(self, cell: Cell, static: list[str], missing: dict[str, str]) -> Measured:
        effort, slot, threads = self._effort, self._slot, cell.threads
        count = self._driver.calibrate(slot, DEFAULT, threads, effort.screen_microseconds)
        screened = rounds(self._sampler(cell, count), static, effort.screening, self._chance)
        finalists = best_of(screened, effort.finalists)
        count = max(count * effort.microseconds // effort.screen_microseconds, 1)
        settling = settle(self._driver, slot, threads, effort, count)
        same = self._counterpart(settling)
        judged = list(dict.fromkeys([DEFAULT, *finalists, same]))
        peers = [name for name in PEERS if name in self._open]
        everyone = [*judged, ADAPTIVE, *peers, *self._xor]
        sample, answers = self._sampler(cell, count), list[str]()

        def listening(name: str) -> float:
            ns = sample(name)
            if name == ADAPTIVE:
                answers.append(self._driver.policy(slot, ADAPTIVE))
            return ns

        final = rounds(listening, everyone, effort.final, self._chance)
        end = statistics.mode(answers)
        return Measured(cell, settling, judged, same, end, screened, final, missing)
