"""Changes while the adaptive policy runs: the number of its calls until it is as fast as the static best.

Each change goes there and back: three phases. In every round of a phase the adaptive contender, the default
library, the static best of this phase's state and that of the other state get one short sample each,
alternately. So the adaptive contender makes the same calls as if it ran alone, and every figure has
simultaneous references. The static best of a state is selected before, by screening in that state.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from bench.adaptive.driver import Driver
from bench.adaptive.judge import within
from bench.adaptive.measure import Samples, best_of, rounds, settle
from bench.adaptive.plan import ADAPTIVE, DEFAULT, Cell, Effort, policies

#: Rounds whose median decides whether the adaptive contender is within the margin.
WINDOW = 9
#: MiB that the load copies.
LOAD = 256


@dataclass(frozen=True, slots=True)
class State:
    """The conditions of a phase."""

    cell: Cell
    load: bool = False

    def words(self) -> str:
        threads = "1 thread" if self.cell.threads == 1 else f"{self.cell.threads} threads"
        load = ", memory under load" if self.load else ""
        return f"{self.cell.k}+{self.cell.m}, {self.cell.length} B, {threads}{load}"


@dataclass(frozen=True, slots=True)
class Change:
    """A change from `first` to `second` and back."""

    what: str
    first: State
    second: State


def _wide(length: int = 1024, threads: int = 1) -> Cell:
    return Cell(100, 4, length, threads)


CHANGES = (
    Change("shape", State(Cell(28, 4, 1024, 1)), State(_wide())),
    Change("block size", State(_wide(256)), State(_wide(4096))),
    Change("threads", State(_wide()), State(_wide(threads=2))),
    Change("background load", State(_wide()), State(_wide(), load=True)),
)


@dataclass(frozen=True, slots=True)
class Phase:
    """Rounds in one state. best: its static best; other: that of the other state; recovered: round and calls
    after which the adaptive contender is within the margin, None if it never is."""

    state: State
    best: str
    other: str
    calls: int  #: of the adaptive contender per round, all threads together
    ns: Samples
    policies: list[str]

    def ratios(self) -> list[float]:
        pairs = zip(self.ns[ADAPTIVE], self.ns[self.best], strict=True)
        return [mine / best for mine, best in pairs]

    @property
    def recovered(self) -> int | None:
        """Return the calls until the adaptive contender is within the margin."""
        at = within(self.ratios(), WINDOW)
        return None if at is None else at * self.calls


@contextmanager
def _load(program: Path) -> Iterator[None]:
    """Another process copies memory on the first processor; the driver's first thread is on the last."""
    process = subprocess.Popen([str(program), str(LOAD), "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()


class RecoveryMeasurer:
    """Measures changes in its own slots of a driver."""

    def __init__(self, driver: Driver, effort: Effort, load: Path) -> None:
        self._driver, self._effort, self._program = driver, effort, load
        self._chance = random.Random(2)

    def _loaded(self, state: State) -> AbstractContextManager[None]:
        return _load(self._program) if state.load else nullcontext()

    def _slots(self, change: Change) -> dict[State, int]:
        """Open one slot for each shape and length of the two states."""
        slots: dict[State, int] = {}
        shapes: dict[tuple[int, int, int], int] = {}
        both = [text for state in (change.first, change.second) for text in policies(state.cell.k)]
        static = [f"policy:{text}" for text in dict.fromkeys(both)]
        for state in (change.first, change.second):
            shape = (state.cell.k, state.cell.m, state.cell.length)
            if shape not in shapes:
                shapes[shape] = len(shapes)
                self._driver.cell(shapes[shape], state.cell, [DEFAULT, *static, ADAPTIVE])
            slots[state] = shapes[shape]
        return slots

    def _count(self, slot: int, state: State, microseconds: int) -> int:
        return self._driver.calibrate(slot, DEFAULT, state.cell.threads, microseconds)

    def _sample(self, slot: int, state: State, name: str, count: int) -> float:
        return self._driver.sample(slot, name, state.cell.threads, count // 3 + 1, count)

    def _best(self, slot: int, state: State) -> str:
        """Return the static best, screened twice as long as for a cell, since it is selected only once."""
        static = [DEFAULT, *(f"policy:{text}" for text in policies(state.cell.k))]
        count = self._count(slot, state, self._effort.screen_microseconds)
        turns = 2 * self._effort.screening
        found = rounds(lambda name: self._sample(slot, state, name, count), static, turns, self._chance)
        return best_of(found, 1)[0]

    def _phase(self, slot: int, state: State, best: str, other: str) -> Phase:
        count = self._count(slot, state, self._effort.slice)
        who = list(dict.fromkeys([DEFAULT, best, other, ADAPTIVE]))
        seen: list[str] = []
        ns: Samples = {name: [] for name in who}
        for _ in range(self._effort.phase):
            one = rounds(lambda name: self._sample(slot, state, name, count), who, 1, self._chance)
            for name in who:
                ns[name] += one[name]
            policy = self._driver.policy(slot, ADAPTIVE)
            if not seen or seen[-1] != policy:
                seen.append(policy)
        return Phase(state, best, other, (count + count // 3 + 1) * state.cell.threads, ns, seen)

    def measure(self, change: Change) -> Sequence[Phase]:
        """Settle in the first state, then the second, then the first again. Raises RunError."""
        slots = self._slots(change)
        best: dict[State, str] = {}
        for state in (change.second, change.first):
            with self._loaded(state):
                best[state] = self._best(slots[state], state)
        first = change.first
        count = self._count(slots[first], first, self._effort.microseconds)
        settle(self._driver, slots[first], first.cell.threads, self._effort, count)
        phases = []
        for state in (change.first, change.second, change.first):
            other = best[change.second if state == change.first else change.first]
            with self._loaded(state):
                phases.append(self._phase(slots[state], state, best[state], other))
        for slot in set(slots.values()):
            self._driver.close(slot)
        return phases
