"""`gfsmith tune`: the options of the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from gfsmith.build.places import CONFIGURATION
from gfsmith.cli.build_options import MOST_JOBS, default_jobs
from gfsmith.cli.completion import listed
from gfsmith.cli.console import InputPath, OutputPath
from gfsmith.cli.lists import list_option
from gfsmith.cli.tune_options import LENGTHS, SURVEY, Options, parse_lengths
from gfsmith.explore.tune.regime import Regime
from gfsmith.kernel import microarch


@click.command()
@click.option(
    "-c",
    "--config",
    "path",
    type=InputPath(path_type=Path),
    default=CONFIGURATION,
    show_default=True,
    help="Configuration of the build whose kernels are the reference.",
)
@list_option("--lengths", default=LENGTHS, show_default=True, help="Shard lengths in bytes.")
@click.option(
    "--regime",
    "regimes",
    multiple=True,
    type=click.Choice([r.value for r in Regime]),
    default=[r.value for r in Regime],
    show_default=True,
    help="Location of the shards; repeatable.",
)
@click.option(
    "--variants",
    "budget",
    type=click.IntRange(1, 100_000),
    default=64,
    show_default=True,
    help="Greatest number of variants to try per cell.",
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
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Seed of the measuring order and of the search."
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, MOST_JOBS),
    default=default_jobs,
    help="Number of processes that generate; a single process measures.",
)
@click.option(
    "-o",
    "--output",
    "target",
    type=OutputPath(path_type=Path, dir_okay=False),
    help="Tuned file [default: tuned/<microarchitecture>.toml next to the configuration].",
)
@click.option(
    "--study", type=OutputPath(path_type=Path, dir_okay=False), help="Write all figures to this file as JSON."
)
@click.option(
    "--report",
    type=OutputPath(path_type=Path),
    help="Write a page to this folder that filters and plots all results.",
)
@click.option(
    "--recorded",
    multiple=True,
    type=InputPath(path_type=Path, dir_okay=False),
    help="Add this file of --study, for example of another CPU, to the report; repeatable. Without SPEC, the "
    "report has recorded studies only.",
)
@click.option(
    "--journal",
    type=OutputPath(path_type=Path, dir_okay=False),
    help="File from which an interrupted study resumes [default: .gfsmith-cache/tune.journal].",
)
@list_option(
    "--model",
    "models",
    metavar="CPU,...",
    shell_complete=listed(microarch.BY_NAME),
    help="Rank for these CPUs (LLVM's names) by llvm-mca alone, without measurements.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="All shapes of the build with up to 16 outputs, on its best set that this machine has, within 15 "
    "minutes on 2 cores: instead of the defaults above, "
    f"--lengths {SURVEY['lengths']} --variants {SURVEY['budget']} --trials {SURVEY['trials']} "
    f"--final {SURVEY['final']}.",
)
@click.option("--fresh", is_flag=True, help="Ignore the journal and measure everything again.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.argument("specs", nargs=-1, metavar="SPEC...")
@click.pass_context
def command(context: click.Context, /, specs: tuple[str, ...], every: bool, **words: Any) -> None:
    """Find the fastest variants of kernels on this machine.

    SPEC is KIND:SHAPE[@ISA], such as dot:10x4, dot:nx4, cauchy:10x4@avx2. KIND is dot, mad, xor or a code
    (`gfsmith codes`). SHAPE is inputs x outputs; n inputs means any number, timed with 10. ISA is an
    instruction set; default: the best of this machine. docs/tuning.md explains the method.
    """
    from gfsmith.cli import tune_stages

    if every:
        asked = {name for name in SURVEY if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
        words |= {name: value for name, value in SURVEY.items() if name not in asked}
    options = Options(**words | {"lengths": parse_lengths(words["lengths"])})
    recorded = tune_stages.recorded(options)
    if recorded and not specs and not every and options.models is None:
        tune_stages.combine(recorded, options)
        return
    specs = tune_stages.named(specs, every, options)
    if options.models is not None:
        tune_stages.rank(specs, options.models, options)
    else:
        tune_stages.measure(specs, recorded, options)
