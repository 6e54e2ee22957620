"""A study: a search of every target, path and block length, finals of the best variants, and the winners."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from optuna.storages import BaseStorage

from gfsmith.build import target as targets
from gfsmith.build.cache import key
from gfsmith.build.generate import program
from gfsmith.build.target import Target
from gfsmith.explore.stats import CONFIDENCE
from gfsmith.explore.tune import choose
from gfsmith.explore.tune.load import RUNTIME
from gfsmith.explore.tune.measure import Advance, Bench, rounds, summarise
from gfsmith.explore.tune.result import Basis, Cell, Choice, Measurement, Phase, Regime, Study, Winner
from gfsmith.explore.tune.search import Search, keep_final, kept_final, search
from gfsmith.explore.tune.space import Plan, complexity
from gfsmith.kernel.limits import GENERIC, Limits
from gfsmith.kernel.spec import KernelSpec

_FINALISTS = 3  #: per cell


@dataclass(frozen=True, slots=True)
class Settings:
    """budget: variants per cell; trials: per variant in the search; final: trials per finalist."""

    lengths: tuple[int, ...]
    regimes: tuple[Regime, ...]
    budget: int
    trials: int
    final: int
    seed: int
    prefix: str
    limits: Limits = GENERIC


class Opener(Protocol):
    """Function that returns the bench of a target."""

    def __call__(self, target: Target) -> AbstractContextManager[Bench]: ...


@dataclass(slots=True)
class Ledger:
    """The measurements so far, which Ctrl-C leaves intact. plans: the plan of every symbol that was tried."""

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
    """Return path -> its cells, in the order of lengths."""
    found: dict[str, list[Cell]] = {}
    for regime in settings.regimes:
        for length in settings.lengths:
            path = targets.path_of(target, regime is Regime.MEMORY, length, settings.limits)
            if path is not None:
                cell = Cell(target.name, target.shape, target.isa.name, regime, path, length, target.code)
                found.setdefault(path, []).append(cell)
    return found


def steps(targets_: Sequence[Target], settings: Settings) -> int:
    """Return the total number of steps that `advance` will report."""
    return sum(settings.budget for t in targets_ for path in cells(t, settings).values() for _ in path)


def _name(microarchitecture: str, cell: Cell, reference: Plan, settings: Settings) -> str:
    """Return the study's name in the journal: everything its outcomes depend on, including the measuring
    code. The same in every process, so that an interrupted study resumes."""
    kernels = [spec.identity for spec in reference.specs]
    parts = (microarchitecture, cell, kernels, settings.trials, settings.seed, settings.prefix)
    return key((__name__,), (RUNTIME / "core/src" / "apply.c").read_bytes(), *parts)


class _Path:
    """The cells of one target and path."""

    def __init__(self, ledger: Ledger, target: Target, reference: Plan, settings: Settings) -> None:
        self.ledger = ledger
        self.target = target
        self.reference = reference
        self.settings = settings

    def run(self, found: Sequence[Cell], bench: Bench, kept: BaseStorage, advance: Advance) -> None:
        setups: list[Search] = []
        finalists = self._search(found, bench, kept, advance, setups)
        finals = {setup.cell.length: self._final(setup, finalists, bench, kept) for setup in setups}
        chosen = choose.choice(self.target.name, found[0].path, finals, self.reference)
        if chosen is not None:
            self.ledger.choices.append(chosen)
            self.ledger.chosen.append((self.target, self.ledger.plans["+".join(chosen.symbols)]))

    def _search(
        self, found: Sequence[Cell], bench: Bench, kept: BaseStorage, advance: Advance, setups: list[Search]
    ) -> list[Plan]:
        """Return the best variant of each cell, the simplest that ties with them, and the reference, simplest
        first; of equal code the simplest. setups: receives the search of each cell."""
        known: tuple[Plan, ...] = ()
        best: dict[Plan, None] = {self.reference: None}
        if self.reference not in bench.load([self.reference]):
            for spec in self.reference.specs:
                program(spec)  # raises an error for a kernel that does not fit
        for cell in found:
            bench.open(cell, self.reference)
            told = 0

            def tell(n: int) -> None:
                nonlocal told
                told += n
                advance(n)

            name = _name(self.ledger.microarchitecture, cell, self.reference, self.settings)
            setup = Search(
                name, cell, self.target, self.settings.prefix, self.reference, known, self.settings.budget,
                self.settings.trials, self.settings.seed,
            )  # fmt: skip
            setups.append(setup)
            outcome: dict[Plan, Measurement] = {}
            try:
                search(setup, bench, kept, tell, outcome)
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

    def _final(
        self, setup: Search, finalists: Sequence[Plan], bench: Bench, kept: BaseStorage
    ) -> choose.Final:
        """Run fresh trials: the trials that selected the finalists favour lucky variants."""
        final = kept_final(setup, kept, finalists, self.settings.final)
        if final is None:
            final = self._measure_final(setup.cell, finalists, bench)
            keep_final(setup, kept, final, self.settings.final)
        self.ledger.measurements += final.values()
        self.ledger.winners.append(choose.winner(setup.cell, final, self.reference))
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
    """Measure all targets into the ledger. specs: the build whose kernels are the references."""
    for target in chosen:
        by_path = cells(target, settings)
        with opener(target) as bench:
            for path, found in by_path.items():
                reference = Plan(targets.reference(target, path, specs, settings.prefix))
                _Path(ledger, target, reference, settings).run(found, bench, kept, advance)
