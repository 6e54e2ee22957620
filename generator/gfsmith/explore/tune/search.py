"""The search of one cell: a grid if the space is small, otherwise TPE. An interrupted search can be resumed.

Optuna keeps every variant's outcome in a journal file, from which an interrupted study continues.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import TrialState

from gfsmith.build.target import Target
from gfsmith.explore.tune import space
from gfsmith.explore.tune.measure import Advance, Bench, rounds, summarise
from gfsmith.explore.tune.result import Cell, Interval, Measurement, Phase
from gfsmith.explore.tune.space import Plan
from gfsmith.kernel.spec import SpecError

_BATCH = 16  #: variants that are generated together and timed alternately

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)


class StorageError(ValueError):
    """A journal that cannot be read or written. The message is one line."""


class _Lock(JournalFileOpenLock):
    """The lock of a journal, which the system releases when its process dies. Optuna's own locks are files
    that a killed process leaves, for which the next one waits."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self._path = path
        self._held = -1

    def acquire(self) -> bool:
        self._held = os.open(self._path, os.O_RDWR)
        fcntl.flock(self._held, fcntl.LOCK_EX)
        return True

    def release(self) -> None:
        os.close(self._held)


def storage(path: Path | None) -> BaseStorage:
    """Return the journal at `path`, or one in memory. Raises StorageError."""
    if path is None:
        return InMemoryStorage()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = _Lock(path)
        if path.exists():
            lock.acquire()
            try:
                _check(path)
            finally:
                lock.release()
        return JournalStorage(JournalFileBackend(str(path), lock))
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from None


def _check(path: Path) -> None:
    """Check that every line is a record of Optuna, and remove a last line that was unfinished when the
    process died. On StorageError the file is unchanged."""
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    try:
        known = all("op_code" in json.loads(line) for line in whole.splitlines())
    except (ValueError, TypeError):
        known = False
    if not known or (data and not data.startswith(b"{")):
        raise StorageError(f"{path}: not a journal of gfsmith tune; remove it to start again")
    if len(whole) < len(data):
        path.write_bytes(whole)


@dataclass(frozen=True, slots=True)
class Search:
    """One cell's search. budget: number of variants; trials: per variant. known: variants to begin with.
    name: name of the study in the journal."""

    name: str
    cell: Cell
    target: Target
    prefix: str
    reference: Plan
    known: tuple[Plan, ...]
    budget: int
    trials: int
    seed: int

    @property
    def options(self) -> dict[str, tuple[int | str, ...]]:
        return space.axes(self.target, self.cell.path)


class _Grid(optuna.samplers.GridSampler):
    """Grid without a stop request after the last point: the search does not go beyond it."""

    def after_trial(self, *arguments: Any) -> None:
        pass


def _sampler(setup: Search) -> optuna.samplers.BaseSampler:
    if space.size(setup.options) <= setup.budget:
        return _Grid(setup.options, seed=setup.seed)
    return optuna.samplers.TPESampler(seed=setup.seed, n_startup_trials=setup.budget // 3)


def _planned(setup: Search, chosen: Mapping[str, Any]) -> Plan | None:
    try:
        return space.plan(setup.target, setup.prefix, chosen)
    except SpecError:
        return None


def _suggest(trial: optuna.Trial, setup: Search) -> dict[str, Any]:
    return {name: trial.suggest_categorical(name, values) for name, values in setup.options.items()}


def _measured(record: Mapping[str, Any], setup: Search, plan: Plan, phase: Phase) -> Measurement:
    speed, rate = Interval(*record["speed"]), Interval(*record["rate"])
    first = plan == setup.reference
    trials = int(record["trials"])
    return Measurement(setup.cell, plan.symbols, plan.parameters, first, phase, trials, speed, rate)


def _record(measurement: Measurement) -> dict[str, Any]:
    """Return the record that `_measured` reads."""
    speed, rate = measurement.speed, measurement.rate
    return {
        "trials": measurement.trials,
        "speed": [speed.median, speed.low, speed.high],
        "rate": [rate.median, rate.low, rate.high],
    }


def _known(study: optuna.Study, setup: Search) -> dict[Plan, Measurement]:
    """Return the measurements in the journal."""
    found: dict[Plan, Measurement] = {}
    kept = study.user_attrs
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        plan = _planned(setup, trial.params)
        if plan is not None:
            found[plan] = _measured(kept[_kept(trial.number)], setup, plan, Phase.SEARCH)
    return found


def _kept(number: int) -> str:
    """Return the name of the study's attribute that holds a trial's measurement."""
    return f"measured{number}"


def _tell(study: optuna.Study, number: int, measurement: Measurement | None) -> None:
    if measurement is None:
        study.tell(number, state=TrialState.FAIL)
        return
    study.set_user_attr(_kept(number), _record(measurement))
    study.tell(number, measurement.speed.median)


def _batch(study: optuna.Study, setup: Search, size: int) -> dict[int, Plan | None]:
    """Return trial number -> plan: first those that an interrupted run left open, then new ones."""
    batch: dict[int, Plan | None] = {}
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        complete = set(trial.params) == set(setup.options)
        batch[trial.number] = _planned(setup, trial.params) if complete else None
    while len(batch) < size:
        asked = study.ask()
        batch[asked.number] = _planned(setup, _suggest(asked, setup))
    return batch


def _take(
    bench: Bench,
    setup: Search,
    batch: Sequence[Plan],
    found: dict[Plan, Measurement],
    order: random.Random,
) -> None:
    """Measure the new plans of a batch, alternately; equal code is measured once."""
    ready = bench.load([plan for plan in dict.fromkeys(batch) if plan not in found])
    distinct = {digest: plan for plan, digest in reversed(ready.items())}
    trials = rounds(bench, list(distinct.values()), setup.reference, setup.trials, order)
    for plan, digest in ready.items():
        same = trials[distinct[digest]]
        found[plan] = summarise(
            setup.cell, plan, setup.reference, same, Phase.SEARCH, setup.target.sources, len(distinct)
        )


def _final_name(plans: Sequence[Plan], trials: int) -> str:
    return f"final {trials} " + " ".join(plan.symbol for plan in plans)


def kept_final(
    setup: Search, kept: BaseStorage, plans: Sequence[Plan], trials: int
) -> dict[Plan, Measurement] | None:
    """Return the final of exactly these plans if the journal has it."""
    study = optuna.load_study(study_name=setup.name, storage=kept)
    records = study.user_attrs.get(_final_name(plans, trials))
    if records is None:
        return None
    pairs = zip(plans, records, strict=True)
    return {plan: _measured(record, setup, plan, Phase.FINAL) for plan, record in pairs}


def keep_final(setup: Search, kept: BaseStorage, final: Mapping[Plan, Measurement], trials: int) -> None:
    """Write a final to the journal."""
    study = optuna.load_study(study_name=setup.name, storage=kept)
    study.set_user_attr(_final_name(list(final), trials), [_record(m) for m in final.values()])


def search(
    setup: Search, bench: Bench, kept: BaseStorage, advance: Advance, found: dict[Plan, Measurement]
) -> None:
    """Search the cell that is open in the bench. Every variant that was tried goes into `found`, those of the
    journal first, also after Ctrl-C."""
    study = optuna.create_study(
        study_name=setup.name,
        storage=kept,
        sampler=_sampler(setup),
        direction="maximize",
        load_if_exists=True,
    )
    found |= _known(study, setup)
    if not study.get_trials(deepcopy=False):
        for begin in (setup.reference, *setup.known):
            point = space.coordinates(begin, setup.options)
            if point is not None and space.size(setup.options) > setup.budget:
                study.enqueue_trial(point)
    order = random.Random(setup.seed)
    budget = min(setup.budget, space.size(setup.options))
    states = (TrialState.COMPLETE, TrialState.FAIL)
    finished = len(study.get_trials(deepcopy=False, states=states))
    advance(min(finished, budget))
    while finished < budget:
        batch = _batch(study, setup, min(_BATCH, budget - finished))
        _take(bench, setup, [plan for plan in batch.values() if plan is not None], found, order)
        for number, plan in batch.items():
            _tell(study, number, found.get(plan) if plan is not None else None)
        finished += len(batch)
        advance(len(batch))
