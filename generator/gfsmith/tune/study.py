"""A study: every target, path and block length searched, the best measured again, winners chosen."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from optuna.storages import BaseStorage

from gfsmith.cache import PACKAGE, key
from gfsmith.generate import program
from gfsmith.spec import KernelSpec
from gfsmith.stats import CONFIDENCE
from gfsmith.tune import choose
from gfsmith.tune import target as targets
from gfsmith.tune.load import RUNTIME
from gfsmith.tune.measure import Advance, Bench, rounds, summarise
from gfsmith.tune.result import Basis, Cell, Choice, Measurement, Phase, Regime, Study, Winner
from gfsmith.tune.search import Hunt, keep_final, kept_final, search
from gfsmith.tune.space import Plan, complexity
from gfsmith.tune.target import Target

_FINALISTS = 3  #: of each cell's search


@dataclass(frozen=True, slots=True)
class Settings:
    """budget: variants tried in a cell; trials: of each in the search; final: of each finalist."""

    lengths: tuple[int, ...]
    regimes: tuple[Regime, ...]
    budget: int
    trials: int
    final: int
    seed: int
    prefix: str


class Opener(Protocol):
    """Makes the bench of a target."""

    def __call__(self, target: Target) -> AbstractContextManager[Bench]: ...


@dataclass(slots=True)
class Ledger:
    """What has been measured so far; a Ctrl-C leaves it as it is. plans: of every symbol that was tried."""

    microarchitecture: str
    started: float = field(default_factory=time.monotonic)
    measurements: list[Measurement] = field(default_factory=list)
    winners: list[Winner] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    chosen: list[tuple[Target, Plan]] = field(default_factory=list)
    plans: dict[str, Plan] = field(default_factory=dict)

    def study(self, complete: bool) -> Study:
        return Study(
            microarchitecture=self.microarchitecture,
            basis=Basis.MEASURED,
            complete=complete,
            confidence=CONFIDENCE,
            seconds=time.monotonic() - self.started,
            measurements=tuple(self.measurements),
            winners=tuple(self.winners),
            choices=tuple(self.choices),
        )


def cells(target: Target, settings: Settings) -> dict[str, list[Cell]]:
    """path -> its cells, in the order of lengths."""
    found: dict[str, list[Cell]] = {}
    for regime in settings.regimes:
        for length in settings.lengths:
            path = targets.path_of(target, regime is Regime.MEMORY, length)
            if path is not None:
                cell = Cell(target.name, target.shape, target.isa.name, regime, path, length, target.code)
                found.setdefault(path, []).append(cell)
    return found


def steps(targets_: Sequence[Target], settings: Settings) -> int:
    """How much `advance` will be told in all."""
    return sum(settings.budget for t in targets_ for path in cells(t, settings).values() for _ in path)


def _name(microarchitecture: str, cell: Cell, reference: Plan, settings: Settings) -> str:
    """The study's name in the journal: what its outcomes depend on, the generator's source included."""
    parts = (microarchitecture, cell, reference, settings.trials, settings.seed, settings.prefix)
    return key((PACKAGE, RUNTIME / "src" / "apply.c"), *parts)


class _Path:
    """The cells of one target and path."""

    def __init__(self, ledger: Ledger, target: Target, reference: Plan, settings: Settings) -> None:
        self.ledger = ledger
        self.target = target
        self.reference = reference
        self.settings = settings

    def run(self, found: Sequence[Cell], bench: Bench, kept: BaseStorage, advance: Advance) -> None:
        hunts: list[Hunt] = []
        finalists = self._search(found, bench, kept, advance, hunts)
        finals = {hunt.cell.length: self._final(hunt, finalists, bench, kept) for hunt in hunts}
        chosen = choose.choice(self.target.name, found[0].path, finals, self.reference)
        if chosen is not None:
            self.ledger.choices.append(chosen)
            self.ledger.chosen.append((self.target, self.ledger.plans["+".join(chosen.symbols)]))

    def _search(
        self, found: Sequence[Cell], bench: Bench, kept: BaseStorage, advance: Advance, hunts: list[Hunt]
    ) -> list[Plan]:
        """The best of each cell, the simplest that ties with them, and the reference, simplest first; of
        equal code the simplest. hunts: gets what was done for each cell."""
        known: tuple[Plan, ...] = ()
        best: dict[Plan, None] = {self.reference: None}
        if self.reference not in bench.load([self.reference]):
            for spec in self.reference.specs:
                program(spec)  # says what does not fit
        for cell in found:
            bench.open(cell, self.reference)
            told = 0

            def tell(n: int) -> None:
                nonlocal told
                told += n
                advance(n)

            name = _name(self.ledger.microarchitecture, cell, self.reference, self.settings)
            hunt = Hunt(
                name, cell, self.target, self.settings.prefix, self.reference, known, self.settings.budget,
                self.settings.trials, self.settings.seed,
            )  # fmt: skip
            hunts.append(hunt)
            outcome: dict[Plan, Measurement] = {}
            try:
                search(hunt, bench, kept, tell, outcome)
            finally:
                self.ledger.measurements += outcome.values()
            advance(self.settings.budget - told)
            self.ledger.plans |= {plan.symbol: plan for plan in (*outcome, self.reference)}
            known = tuple(sorted(outcome, key=lambda p: -outcome[p].speed.median)[:_FINALISTS])
            tied = choose.tie({plan: m.speed for plan, m in outcome.items()}, self.reference)
            best |= dict.fromkeys((*known, tied[0]))
        ordered = sorted(best, key=lambda p: complexity(p, self.reference))
        ready = bench.load(ordered)
        distinct = {digest: plan for plan, digest in reversed(list(ready.items()))}
        return [plan for plan in ordered if plan in distinct.values()]

    def _final(self, hunt: Hunt, finalists: Sequence[Plan], bench: Bench, kept: BaseStorage) -> choose.Final:
        """Fresh trials: those that chose the finalists favour the lucky ones."""
        final = kept_final(hunt, kept, finalists, self.settings.final)
        if final is None:
            final = self._measure_final(hunt.cell, finalists, bench)
            keep_final(hunt, kept, final, self.settings.final)
        self.ledger.measurements += final.values()
        self.ledger.winners.append(choose.winner(hunt.cell, final, self.reference))
        return final

    def _measure_final(self, cell: Cell, finalists: Sequence[Plan], bench: Bench) -> dict[Plan, Measurement]:
        bench.open(cell, self.reference)
        for plan in finalists:
            if not bench.agree(plan, self.reference):
                raise RuntimeError(f"{plan.symbol} and {self.reference.symbol} compute different bytes")
        order = random.Random(self.settings.seed)
        trials = rounds(bench, finalists, self.reference, self.settings.final, order)
        sources, compared = self.target.sources, len(finalists)
        return {
            plan: summarise(cell, plan, self.reference, trials[plan], Phase.FINAL, sources, compared)
            for plan in finalists
        }


def run(
    ledger: Ledger,
    chosen: Sequence[Target],
    specs: Sequence[KernelSpec],
    settings: Settings,
    opener: Opener,
    kept: BaseStorage,
    advance: Advance,
) -> None:
    """Measure everything into the ledger. specs: the build whose kernels are the references."""
    for target in chosen:
        by_path = cells(target, settings)
        with opener(target) as bench:
            for path, found in by_path.items():
                reference = Plan(targets.reference(target, path, specs, settings.prefix))
                _Path(ledger, target, reference, settings).run(found, bench, kept, advance)
