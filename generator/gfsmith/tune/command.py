"""`gfsmith tune`: options, stage order and messages."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gfsmith import certify, config, microarch
from gfsmith.complete import listed
from gfsmith.console import fail, out, print_json, progress
from gfsmith.isa import ISAS
from gfsmith.microarch import Microarch
from gfsmith.model import kernels, mca
from gfsmith.model.target import check_cpus
from gfsmith.model.tools import ModelError, available
from gfsmith.spec import KernelSpec
from gfsmith.tune import modelled, result, show, tuned
from gfsmith.tune.load import LoadError, NativeBench
from gfsmith.tune.options import LENGTHS, Options, parse_lengths, write
from gfsmith.tune.result import Basis, Bound, Prediction, Regime, Study
from gfsmith.tune.space import Plan
from gfsmith.tune.target import Target, TargetError, best_isa, parse
from gfsmith.tune.target import reference as references_of

EVERY_FEATURE = frozenset(flag for isa in ISAS for flag in isa.cpu_flags)

if TYPE_CHECKING:
    from gfsmith.tune.study import Ledger


def _targets(texts: Sequence[str], features: frozenset[str]) -> list[Target]:
    """What to tune. Ends with one line for what cannot be, or cannot run here."""
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
    """The build whose kernels are the references, and its prefix."""
    loaded = config.load(path)
    return config.specs(loaded, str(path)), loaded.generator.prefix


@contextmanager
def _bench(target: Target, jobs: int) -> Iterator[NativeBench]:
    with tempfile.TemporaryDirectory(prefix="gfsmith-tune-") as folder:
        bench = NativeBench(target, Path(folder), jobs)
        try:
            yield bench
        finally:
            bench.close()


def _prove(plans: Sequence[Plan], jobs: int, cache: Path) -> None:
    """The machine code of the kernels that are to be written, under every ABI. Raises Refuted."""
    from gfsmith import generate

    specs = list(dict.fromkeys(spec for plan in plans for spec in plan.specs))
    with progress("generate winners", len(specs)) as advance:
        kernels = generate.generate(specs, jobs, cache / "tuned-kernels.json", advance)
    work = certify.tasks_of(kernels)
    with progress("prove winners' machine code", len(work)) as advance:
        certify.certify(work, jobs, cache / "tuned-proofs.json", advance)


def _measure(targets: Sequence[Target], host: Microarch, options: Options) -> tuple[Ledger, bool]:
    """What was measured, and whether that is all of it."""
    from gfsmith.tune import search, study

    specs, prefix = _specs(options.path)
    settings = study.Settings(
        lengths=parse_lengths(options.lengths),
        regimes=tuple(Regime(r) for r in options.regimes),
        budget=options.budget,
        trials=options.trials,
        final=options.final,
        seed=options.seed,
        prefix=prefix,
    )
    if not any(study.cells(target, settings) for target in targets):
        fail("--lengths: none of them fits into the caches with all shards; add --regime memory")
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
    """The study with what the model says of its variants and what the machine allows in its cells."""
    from gfsmith.tune import foresight, roofline

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
    """Ends with one line, before anything is measured, if no report can be drawn there."""
    try:
        from gfsmith.tune import page
    except ImportError as error:
        fail(f"the Python package {error.name} is missing (pictures); get it with: tools/setup.sh tune")
    try:
        page.check(folder)
    except page.PageError as error:
        fail(f"--report: {error}")


def _draw(study: Study, folder: Path) -> None:
    from gfsmith.tune import page

    try:
        page.write(study, folder)
    except page.PageError as error:
        fail(f"--report: {error}", 1)


def _report(study: Study, options: Options) -> None:
    if options.report is not None:
        _draw(study, options.report)
    if options.study is not None:
        write(options.study, show.json_text(study))
    if options.as_json:
        print_json(result.to_json(study))
    else:
        show.table(out, study)


def _model_names(text: str, targets: Sequence[Target], options: Options) -> list[str]:
    """Ends with one line for a name that the model or dispatch does not know or that is no core for a target,
    and where a file is in the way that holds more than a model's opinion."""
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
            fail(f"{path} was measured, which a model cannot better; remove it, or give another --output")
    return names


def _run_model(texts: Sequence[str], names: str, options: Options) -> None:
    """Rank by the model alone, for any CPU."""
    if options.report is not None:
        fail("--report: draws what was measured, and --model measures nothing; leave one of them out")
    targets = _targets(texts, EVERY_FEATURE)
    cpus = _model_names(names, targets, options)
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
    for study, _ in found:
        write(options.tuned_file(study.microarchitecture), tuned.text(study))
    if options.as_json:
        print_json({"studies": [result.to_json(study) for study, _ in found]})
        return
    for study, _ in found:
        show.models(out, study, [target.name for target in targets])
        path = options.tuned_file(study.microarchitecture)
        print(f"{path}: {len(study.choices)} kernels, all proved; ranked by llvm-mca alone, nothing measured")


def _run(texts: Sequence[str], options: Options) -> None:
    try:
        import optuna  # noqa: F401
    except ImportError:
        fail("the Python package optuna is missing (searches for variants); get it with: tools/setup.sh tune")
    try:
        host = microarch.host()
    except microarch.UnknownMicroarchitecture as error:
        fail(str(error))
    targets = _targets(texts, microarch.host_features())
    if options.report is not None:
        _drawable(options.report)
    ledger, complete = _measure(targets, host, options)
    study = ledger.study(complete)
    if options.report is not None and complete:
        study = _seen_from_outside(study, ledger, targets, host, options)
    _report(study, options)
    if not complete:
        kept = "" if options.fresh else "; what was measured is kept, and the same command goes on from there"
        fail(f"interrupted; no tuned file was written{kept}", 130)
    _prove([plan for _, plan in ledger.chosen], options.jobs, options.cache)
    target = options.tuned_file(host.name)
    write(target, tuned.text(study))
    if not options.as_json:
        print(f"{target}: {len(study.choices)} kernels, all proved; {study.seconds:.0f} s")


@click.command()
@click.option(
    "-c",
    "--config",
    "path",
    type=click.Path(path_type=Path),
    default=Path("gfsmith.toml"),
    show_default=True,
    help="The build whose kernels are compared with.",
)
@click.option("--lengths", default=LENGTHS, show_default=True, help="Bytes of a shard.")
@click.option(
    "--regime",
    "regimes",
    multiple=True,
    type=click.Choice([r.value for r in Regime]),
    default=[r.value for r in Regime],
    show_default=True,
    help="Where the shards are.",
)
@click.option(
    "--variants",
    "budget",
    type=click.IntRange(1, 100_000),
    default=64,
    show_default=True,
    help="Variants to try per cell; all if there are no more.",
)
@click.option(
    "--trials",
    type=click.IntRange(3, 10_000),
    default=11,
    show_default=True,
    help="Trials of each variant in the search.",
)
@click.option(
    "--final", type=click.IntRange(9, 10_000), default=81, show_default=True, help="Trials of each finalist."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of orders and of the search.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    default=os.cpu_count() or 1,
    help="Processes that generate; one measures.",
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Tuned file [default: tuned/<microarchitecture>.toml beside the configuration].",
)
@click.option("--study", type=click.Path(path_type=Path, dir_okay=False), help="Keep all figures as JSON.")
@click.option(
    "--report", type=click.Path(path_type=Path), help="Draw everything: pictures and a page in this folder."
)
@click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where an interrupted study goes on from [default: .gfsmith-cache/tune.journal].",
)
@click.option(
    "--model",
    "models",
    metavar="CPU,...",
    shell_complete=listed(microarch.BY_NAME),
    help="Measure nothing: rank for these CPUs (LLVM's names) by llvm-mca alone.",
)
@click.option("--fresh", is_flag=True, help="No journal: measure everything anew.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...")
def tune(specs: tuple[str, ...], **words: Any) -> None:  # fmt: skip
    """Find the fastest variants of kernels on this machine.

    SPEC is WHAT:SHAPE[@ISA], such as dot:10x4, dot:nx4, cauchy:10x4@avx2. WHAT is dot, mad, xor or a code
    (`gfsmith codes`), SHAPE inputs x outputs (n: any number of inputs, timed with 10), ISA an instruction
    set, this machine's best if left out. docs/tuning.md has more.
    """
    options = Options(**words)
    if options.models is not None:
        _run_model(specs, options.models, options)
    else:
        _run(specs, options)
