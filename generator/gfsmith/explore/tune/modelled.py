"""Variants ranked by a processor model alone, for CPUs that are not available.

The model (llvm-mca) covers the instructions of the main loop and no memory. So only parameters that change
these instructions vary, and the results hold for data in cache only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from gfsmith.build import parallel
from gfsmith.build.generate import Kernel
from gfsmith.build.target import Target
from gfsmith.explore.tune import foresight, space
from gfsmith.explore.tune.load import attempt
from gfsmith.explore.tune.result import Basis, Choice, Prediction, Study
from gfsmith.explore.tune.space import Plan
from gfsmith.kernel.spec import KernelSpec, SpecError

PATH = "cached"
#: Parameters that change the instructions of the main loop.
_SEEN = ("width", "unroll", "circuit", "order", "placement")
_TIE = 1.01  #: cycles whose ratio is smaller are equal for a model


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
    """Return the number of kernels that `variants` has to generate."""
    return len({spec for plan in _candidates(target, prefix, reference) for spec in plan.specs})


def variants(
    target: Target, prefix: str, reference: Plan, jobs: int, advance: Callable[[int], None]
) -> list[Plan]:
    """Return all variants that the model can distinguish and the registers can hold, each proved; equal code
    once."""
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
    """Return the simplest plan of those with the fewest cycles; None: the reference stays."""
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
    """Return one study per CPU, of targets with their references and variants, and the plans that it chose.
    Raises ModelError."""
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
