"""Variants ranked by a model of the processor alone, for CPUs that are not at hand.

The model (llvm-mca) sees the instructions of the main loop and no memory, so only what changes these is
varied, and only data in cache is spoken of.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from gfsmith import parallel
from gfsmith.generate import Kernel
from gfsmith.spec import KernelSpec, SpecError
from gfsmith.tune import foresight, space
from gfsmith.tune.load import attempt
from gfsmith.tune.result import Basis, Choice, Prediction, Study
from gfsmith.tune.space import Plan
from gfsmith.tune.target import Target

PATH = "cached"
#: What changes the instructions of the main loop.
_SEEN = ("width", "unroll", "circuit", "order", "placement")
_TIE = 1.01  #: cycles that differ by less are equal to a model


def _candidates(target: Target, prefix: str, reference: Plan) -> list[Plan]:
    options = {name: values for name, values in space.axes(target, PATH).items() if name in _SEEN}
    found = {reference: None}
    for values in itertools.product(*options.values()):
        try:
            found[space.plan(target, prefix, dict(zip(options, values, strict=True)))] = None
        except SpecError:
            continue
    return [plan for plan in found if len(plan.specs) == len(reference.specs)]


def count(target: Target, prefix: str, reference: Plan) -> int:
    """How many kernels `variants` has to generate."""
    return len({spec for plan in _candidates(target, prefix, reference) for spec in plan.specs})


def variants(
    target: Target, prefix: str, reference: Plan, jobs: int, advance: Callable[[int], None]
) -> list[Plan]:
    """All that the model can tell apart and a register file can hold, each proved; equal code once."""
    candidates = _candidates(target, prefix, reference)
    specs = list(dict.fromkeys(spec for plan in candidates for spec in plan.specs))
    digests: dict[KernelSpec, str] = {}

    def done(number: int, kernel: Kernel | None) -> None:
        if kernel is not None:
            digests[specs[number]] = kernel.digest
        advance(1)

    parallel.run(attempt, specs, jobs, done)
    ordered = sorted(candidates, key=lambda p: space.complexity(p, reference), reverse=True)
    fit = [plan for plan in ordered if all(spec in digests for spec in plan.specs)]
    return list({tuple(digests[s] for s in plan.specs): plan for plan in fit}.values())


def choose(
    target: Target, plans: Iterable[Plan], reference: Plan, foreseen: Sequence[Prediction]
) -> Choice | None:
    """The simplest of those with the fewest cycles; None: the reference stays."""
    cycles = {p.symbols: p.cycles for p in foreseen}
    known = [plan for plan in plans if plan.symbols in cycles]
    if reference not in known:
        return None
    best = min(cycles[plan.symbols] for plan in known)
    tied = [plan for plan in known if cycles[plan.symbols] <= best * _TIE]
    first = min(tied, key=lambda p: (*space.complexity(p, reference), p.symbol))
    return None if first == reference else Choice(target.name, PATH, first.symbols, first.parameters, {})


def studies(
    ranked: Sequence[tuple[Target, Plan, Sequence[Plan]]],
    cpus: Sequence[str],
    jobs: int,
    cache: Path | None,
    advance: Callable[[int], None],
) -> list[tuple[Study, list[Plan]]]:
    """One study a CPU, of targets with their references and variants, and the plans it chose. Raises
    ModelError."""
    found = []
    for cpu in cpus:
        foreseen: list[Prediction] = []
        choices: list[Choice] = []
        chosen: list[Plan] = []
        for target, reference, plans in ranked:
            told = foresight.predictions(target, plans, reference, cpu, jobs, cache, advance)
            choice = choose(target, plans, reference, told)
            foreseen += told
            if choice is not None:
                choices.append(choice)
                chosen += [plan for plan in plans if plan.symbols == choice.symbols]
        study = Study(cpu, Basis.MODEL, True, 0.0, 0.0, choices=tuple(choices), predictions=tuple(foreseen))
        found.append((study, chosen))
    return found
