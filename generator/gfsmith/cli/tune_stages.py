"""The stages of `gfsmith tune`, in order, and their messages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gfsmith.build import config, prove_kernels, tuned
from gfsmith.build.output import is_of_the_user
from gfsmith.build.target import TUNABLE, Target, TargetError, best_isa, parse
from gfsmith.build.target import every as every_target
from gfsmith.build.target import reference as references_of
from gfsmith.cli.console import fail, out, print_json, progress
from gfsmith.cli.tune_options import Options, write
from gfsmith.explore.cost_model import kernels, mca
from gfsmith.explore.cost_model.target import check_cpus
from gfsmith.explore.cost_model.tools import ModelError, available
from gfsmith.explore.tune import modelled, result, show, tuned_file
from gfsmith.explore.tune.load import LoadError, NativeBench
from gfsmith.explore.tune.result import Basis, Bound, Prediction, Regime, Study
from gfsmith.explore.tune.space import Plan
from gfsmith.kernel import limits, microarch
from gfsmith.kernel.isa import ISAS
from gfsmith.kernel.microarch import Microarch
from gfsmith.kernel.spec import KernelSpec
from gfsmith.words import counted

EVERY_FEATURE = frozenset(flag for isa in ISAS for flag in isa.cpu_flags)

if TYPE_CHECKING:
    from gfsmith.explore.tune.study import Ledger


def _targets(texts: Sequence[str], features: frozenset[str]) -> list[Target]:
    """Return the targets that the SPEC texts describe. Exits with a one-line message if a text is invalid or
    this CPU cannot run its instruction set."""
    try:
        found = [parse(text, best_isa(features)) for text in texts]
    except TargetError as error:
        fail(str(error))
    for target in found:
        lacking = sorted(set(target.isa.cpu_flags) - features)
        if lacking:
            fail(f"SPEC '{target.name}': this CPU lacks {', '.join(lacking)}; measure it on one that has it")
    return list(dict.fromkeys(found))


def _specs(path: Path) -> tuple[tuple[KernelSpec, ...], str]:
    """Return the specs of the build whose kernels are the references, and its prefix."""
    loaded = config.load(path)
    return config.specs(loaded, str(path)), loaded.generator.prefix


def named(texts: tuple[str, ...], every: bool, options: Options) -> tuple[str, ...]:
    """Return the SPEC texts, or with `every` those of all shapes of the build on its best set that this CPU
    has, or that any CPU has for a model. Exits with a one-line message unless there are either texts or
    `every`, or without such a set."""
    if every == bool(texts):
        fail("SPEC or --all: name targets such as dot:10x4 cauchy:10x4, or say --all, and not both")
    if not every:
        return texts
    specs, _ = _specs(options.path)
    built = {spec.isa.name for spec in specs}
    features = microarch.host_features() if options.models is None else EVERY_FEATURE
    able = [isa for isa in TUNABLE if isa.name in built and features.issuperset(isa.cpu_flags)]
    if not able:
        fail(f"--all: this CPU runs no machine code of {options.path}; add a set of this CPU to its isas")
    return tuple(target.name for target in every_target(specs, able[0]))


@contextmanager
def _bench(target: Target, jobs: int) -> Iterator[NativeBench]:
    with tempfile.TemporaryDirectory(prefix="gfsmith-tune-") as folder:
        bench = NativeBench(target, Path(folder), jobs)
        try:
            yield bench
        finally:
            bench.close()


def _prove(plans: Sequence[Plan], jobs: int, cache: Path) -> None:
    """Prove the machine code of the kernels in `plans`, for every ABI. Raises Refuted."""
    from gfsmith.build import generate

    specs = list(dict.fromkeys(spec for plan in plans for spec in plan.specs))
    with progress("generate winners", len(specs)) as advance:
        kernels = generate.generate(specs, jobs, cache / "tuned-kernels.json", advance)
    work = prove_kernels.tasks_of(kernels)
    with progress("prove winners' machine code", len(work)) as advance:
        prove_kernels.prove_all(work, jobs, cache / "tuned-proofs.json", advance)


def _measure(targets: Sequence[Target], host: Microarch, options: Options) -> tuple[Ledger, bool]:
    """Return the measurements, and True if the study is complete."""
    from gfsmith.explore.tune import search, study

    specs, prefix = _specs(options.path)
    settings = study.Settings(
        lengths=options.lengths,
        regimes=tuple(Regime(r) for r in options.regimes),
        budget=options.budget,
        trials=options.trials,
        final=options.final,
        seed=options.seed,
        prefix=prefix,
        limits=limits.of(host),
    )
    if not any(study.cells(target, settings) for target in targets):
        fail("--lengths: with none of them do all shards fit into the caches; add --regime memory")
    journal = options.journal or options.cache / "tune.journal"
    ledger = study.Ledger(host.name)
    try:
        kept = search.storage(None if options.fresh else journal)
        with progress("measure variants", study.steps(targets, settings)) as advance:
            study.run(ledger, targets, specs, settings, lambda t: _bench(t, options.jobs), kept, advance)
    except KeyboardInterrupt:
        return ledger, False
    except (LoadError, search.StorageError) as error:
        fail(str(error))
    return ledger, True


def _seen_from_outside(
    study: Study, ledger: Ledger, targets: Sequence[Target], host: Microarch, options: Options
) -> Study:
    """Return the study with the model's predictions for its variants and the machine's limits for its
    cells."""
    from gfsmith.explore.tune import foresight, roofline

    specs, prefix = _specs(options.path)
    cache = options.cache / "mca.json"
    foreseen: list[Prediction] = []
    allowed: list[Bound] = []
    for target in targets:
        cells = list(dict.fromkeys(m.cell for m in study.measurements if m.cell.target == target.name))
        references = [(c, Plan(references_of(target, c.path, specs, prefix))) for c in cells]
        symbols = {m.symbol for m in study.measurements if m.cell.target == target.name}
        plans = [plan for symbol, plan in ledger.plans.items() if symbol in symbols]
        outcomes: dict[KernelSpec, mca.Outcome] = {}
        if available() and plans:
            with progress("predict cycles", len({s for p in plans for s in p.specs})) as advance:
                foreseen += foresight.predictions(
                    target, plans, references[0][1], host.name, options.jobs, cache, advance
                )
            parts = list(dict.fromkeys(s for _, reference in references for s in reference.specs))
            found = kernels.predict_all(parts, [host.name], options.jobs, cache)
            outcomes = {spec: found[spec][host.name] for spec in parts}
        with _bench(target, options.jobs) as bench:
            allowed += roofline.bounds(bench, target, references, outcomes, options.trials, options.seed)
    told = foresight.correlations(study.measurements, foreseen)
    return replace(study, predictions=tuple(foreseen), correlations=told, bounds=tuple(allowed))


def _drawable(folder: Path) -> None:
    """Exits with a one-line message, before any measurement, if no report can be written to `folder`."""
    try:
        from gfsmith.explore.tune import page
    except ImportError as error:
        fail(f"the Python package {error.name} is missing (plots); install it with: tools/setup.sh tune")
    try:
        page.check(folder)
    except page.PageError as error:
        fail(f"--report: {error}")


def _draw(studies: Sequence[Study], folder: Path) -> None:
    from gfsmith.explore.tune import page

    try:
        page.write(studies, folder)
    except page.PageError as error:
        fail(f"--report: {error}", 1)


def recorded(options: Options) -> list[Study]:
    """Return the studies of --recorded. Exits with a one-line message if a file is not a study, or without
    --report."""
    if options.recorded and options.report is None:
        fail("--recorded adds studies to a report; name its folder with --report")
    try:
        return [result.read(path) for path in options.recorded]
    except result.StudyError as error:
        fail(f"--recorded: {error}")


def _check_study(path: Path | None) -> None:
    """Exit with a one-line message if the file of --study is one of the user."""
    if path is not None and is_of_the_user(path, _is_study):
        fail(f"--study: {path}: exists and is no study; name another file, or move this one")


def _is_study(path: Path) -> bool:
    try:
        result.read(path)
    except result.StudyError:
        return False
    return True


def combine(studies: Sequence[Study], options: Options) -> None:
    """Write the report of recorded studies. Exits with a one-line message if an option needs measurements."""
    if options.study or options.target or options.as_json:
        fail("--study, --output and --json need measurements; name a SPEC or --all, or leave them out")
    assert options.report is not None
    _drawable(options.report)
    _draw(studies, options.report)
    print(f"{options.report}: the studies of {counted(len(studies), 'file')}")


def _report(study: Study, others: Sequence[Study], options: Options) -> None:
    if options.report is not None:
        _draw([*others, study], options.report)
    if options.study is not None:
        write(options.study, show.json_text(study))
    if options.as_json:
        print_json(result.to_json(study))
    else:
        show.table(out(), study)


def _model_names(text: str, targets: Sequence[Target], options: Options) -> list[str]:
    """Return the names in the value of --model.

    Exits with a one-line message if the model or dispatch does not know a name, if a name is not a core for a
    target, or if a tuned file with measurements would be overwritten."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    try:
        for name in names:
            microarch.find(name)
        for target in targets:
            check_cpus(target.isa.arch, target.name, names)
    except (microarch.UnknownMicroarchitecture, ModelError) as error:
        fail(f"--model: {error}")
    if options.target is not None and len(names) > 1:
        fail("--output: one file cannot hold several microarchitectures; leave it out, or name one --model")
    for name in names:
        path = options.tuned_file(name)
        if path.exists() and tuned.read(path).basis == Basis.MEASURED.value:
            fail(f"{path} holds measurements, which a model must not replace; remove it, or change --output")
    return names


def rank(texts: Sequence[str], names: str, options: Options) -> None:
    """Rank variants by the model alone, for any CPU, and write the tuned files."""
    if options.report is not None:
        fail("--report and --model exclude each other: a report needs measurements; leave one out")
    targets = _targets(texts, EVERY_FEATURE)
    cpus = _model_names(names, targets, options)
    for cpu in cpus:
        _kept(options.tuned_file(cpu), cpu, Basis.MODEL, targets)  # raises before the work
    specs, prefix = _specs(options.path)
    ranked = []
    for target in targets:
        reference = Plan(references_of(target, modelled.PATH, specs, prefix))
        count = modelled.count(target, prefix, reference)
        with progress("generate variants", count) as advance:
            plans = modelled.variants(target, prefix, reference, options.jobs, advance)
        ranked.append((target, reference, plans))
    total = len(cpus) * sum(len(plans) for _, _, plans in ranked)
    with progress("predict cycles", total) as advance:
        found = modelled.studies(ranked, cpus, options.jobs, options.cache / "mca.json", advance)
    _prove([plan for _, chosen in found for plan in chosen], options.jobs, options.cache)
    kept = {study.microarchitecture: _write(study, targets, options) for study, _ in found}
    if options.as_json:
        print_json({"studies": [result.to_json(study) for study, _ in found]})
        return
    for study, _ in found:
        show.models(out(), study, [target.name for target in targets])
        path = options.tuned_file(study.microarchitecture)
        chosen = _chosen(study, kept[study.microarchitecture])
        print(f"{path}: {chosen}; ranked by llvm-mca alone, not measured")


def _kept(path: Path, name: str, basis: Basis, targets: Sequence[Target]) -> list[tuned.Entry]:
    """Return the kernels of an earlier file for this CPU that are of other SPECs. Raises TunedError."""
    earlier = tuned.read(path) if path.exists() else None
    if earlier is None or (earlier.microarchitecture, earlier.basis) != (name, basis.value):
        return []
    searched = {target.name for target in targets}
    return [entry for entry in earlier.kernel if entry.spec not in searched]


def _write(study: Study, targets: Sequence[Target], options: Options) -> list[tuned.Entry]:
    """Write the tuned file of a study, and return the kernels of other SPECs that stay: also those that
    another run has written meanwhile."""
    path = options.tuned_file(study.microarchitecture)
    kept = _kept(path, study.microarchitecture, study.basis, targets)
    write(path, tuned_file.text(study, kept))
    return kept


def _chosen(study: Study, kept: Sequence[tuned.Entry]) -> str:
    """Return the number of kernels of a tuned file in words."""
    others = f"; {counted(len(kept), 'kernel')} of other SPECs stay" if kept else ""
    if not study.choices:
        return (
            f"no kernel: the default stays the best, because no variant is faster and nowhere slower{others}"
        )
    return f"{counted(len(study.choices), 'kernel')}, all proved{others}"


def measure(texts: Sequence[str], others: Sequence[Study], options: Options) -> None:
    """Time variants on this machine and write the tuned file. others: recorded studies for the report."""
    targets = _targets(texts, microarch.host_features())
    try:
        import optuna  # noqa: F401
    except ImportError:
        fail(
            "the Python package optuna is missing (search for variants); install it with: tools/setup.sh tune"
        )
    try:
        host = microarch.host()
    except microarch.UnknownMicroarchitecture as error:
        fail(str(error))
    _kept(options.tuned_file(host.name), host.name, Basis.MEASURED, targets)  # raises before the work
    _check_study(options.study)
    if options.report is not None:
        _drawable(options.report)
    ledger, complete = _measure(targets, host, options)
    study = ledger.study(complete)
    if options.report is not None and complete:
        study = _seen_from_outside(study, ledger, targets, host, options)
    _report(study, others, options)
    if not complete:
        resumes = "" if options.fresh else "; the measurements are kept, and the same command resumes"
        fail(f"interrupted; no tuned file was written{resumes}", 130)
    _prove([plan for _, plan in ledger.chosen], options.jobs, options.cache)
    kept = _write(study, targets, options)
    if not options.as_json:
        print(f"{options.tuned_file(host.name)}: {_chosen(study, kept)}; {study.seconds:.0f} s")
