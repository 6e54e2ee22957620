"""Options of the commands that work on the kernels of a build."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from gfsmith.build.places import CONFIGURATION
from gfsmith.cli.completion import fixed
from gfsmith.cli.console import InputPath, OutputPath
from gfsmith.codes import names
from gfsmith.kernel.isa import BY_NAME

#: The greatest number of processes; a machine may have more processors.
MOST_JOBS = 256


def default_jobs() -> int:
    """Return the number of processes unless the user gives one."""
    return min(os.cpu_count() or 1, MOST_JOBS)


#: The option of every command that works on many kernels at once.
jobs = click.option(
    "-j", "--jobs", type=click.IntRange(1, MOST_JOBS), default=default_jobs, help="Number of processes."
)


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a build to a command: the configuration file, the flags that override its
    [generator] table, and additional kernels. The values are the arguments of build.request.load."""
    for option in reversed((
        click.option("-c", "--config", "path", type=InputPath(path_type=Path), default=CONFIGURATION,
                     show_default=True, help="Configuration file."),
        click.option("--isa", "isas", multiple=True, help="Only this instruction set; repeatable.",
                     shell_complete=fixed(BY_NAME)),
        click.option("--prefix", help="Prefix of every symbol."),
        click.option("--polynomial", help="Polynomial of the field, such as 0x11d."),
        click.option("-o", "--output", "folder", type=OutputPath(), help="Output folder."),
        click.option("--code", help="Add kernels for this code's matrix (`gfsmith codes`); without a "
                     "configuration file also a small set of kernels for any code.",
                     shell_complete=fixed(names.NAMES)),
        click.option("--k", type=int, help="With --code: data shards."),
        click.option("--m", type=int, help="With --code: parity shards."),
        click.option("--l", type=int, help="With --code lrc: groups, each with a local parity."),
        click.option("--r", type=int, help="With --code lrc: global parities."),
        click.option("--packets", is_flag=True, help="With --code: the kernels add packets (packet layout)."),
        click.option("--adaptive", is_flag=True, help="Add the kernels of the table [adaptive], with its "
                     "defaults if the file has no such table."),
    )):  # fmt: skip
        command = option(command)
    return command


def symbols(context: click.Context) -> list[str]:
    """Return the symbols of the kernels in the output folder that a command's flags select, read from its
    manifest. Used for completion, so the result is empty if the folder or the configuration cannot be
    read."""
    from gfsmith.build import config, output, request

    flags = context.params
    path, folder = flags.get("path") or CONFIGURATION, flags.get("folder")
    try:
        target = Path(folder) if folder else request.output_folder(path)
        named = output.read_manifest(target).get("kernels", [])
        return [str(kernel["symbol"]) for kernel in named]
    except (config.ConfigError, output.OutputError, LookupError, TypeError):
        return []
