"""`gfsmith list`: the kernels of a configuration."""

from __future__ import annotations

from typing import Any

import click

from gfsmith.cli import build_options
from gfsmith.cli.console import fail, out, print_json


@click.command("list")
@build_options.options
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--summary", is_flag=True, help="Kernels and bytes per instruction set (Markdown).")
def command(as_json: bool, summary: bool, **options: Any) -> None:
    """List the kernels of a configuration."""
    if as_json and summary:
        fail("--summary and --json exclude each other; leave one out")
    from gfsmith.build import output, report, request

    (specs, _), folder = request.load(**options)
    if as_json:
        print_json({"kernels": [report.record(spec) for spec in specs]})
    elif summary:
        print(report.summary(specs, output.read_manifest(folder)))
    else:
        out().print(report.kernel_table(specs))
