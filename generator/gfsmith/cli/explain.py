"""`gfsmith explain`: one kernel, from its specification to its predicted cycles."""

from __future__ import annotations

from typing import Any

import click

from gfsmith.build.places import cache_of
from gfsmith.cli import build_options
from gfsmith.cli.completion import listed, words
from gfsmith.cli.console import fail, out, print_json
from gfsmith.cli.lists import list_option
from gfsmith.kernel import microarch


@click.command("explain")
@build_options.options
@list_option(
    "--cpu",
    "cpus",
    help="Predict cycles for these cores (LLVM's names); default: a selection for the kernel's architecture.",
    shell_complete=listed(microarch.BY_NAME),
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.argument("symbol", shell_complete=words(build_options.symbols))
def command(symbol: str, cpus: str | None, as_json: bool, **options: Any) -> None:
    """Show one kernel: its function, Program, machine code and predicted cycles."""
    from gfsmith.build import request
    from gfsmith.explore.explain import show
    from gfsmith.explore.explain.kernel import explain

    (specs, _), _ = request.load(**options)
    spec = next((spec for spec in specs if spec.symbol == symbol), None)
    if spec is None:
        fail(f"no kernel '{symbol}' in this configuration; see `gfsmith list`")
    names = None if cpus is None else [name.strip() for name in cpus.split(",") if name.strip()]
    explained = explain(spec, names, cache_of(options["path"]))
    if as_json:
        print_json(show.to_json(explained))
    else:
        show.show(out(), explained)
