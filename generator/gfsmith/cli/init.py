"""`gfsmith init`: the default configuration as a file to edit."""

from __future__ import annotations

import os

import click

from gfsmith.build.places import CONFIGURATION
from gfsmith.cli.console import fail
from gfsmith.emit.files import replacing, share


@click.command("init")
def command() -> None:
    """Write gfsmith.toml with the default set of kernels to this folder.

    The file has comments and is meant to be edited: docs/configuration.md describes its keys, and fewer
    kernels take less time to generate. An existing file stays as it is (exit status 2).
    """
    if os.path.lexists(CONFIGURATION):
        fail(f"{CONFIGURATION}: exists already; remove it first, or edit it")
    try:
        with replacing(CONFIGURATION) as stage:
            stage.write_text(
                share(CONFIGURATION.name).read_text(encoding="utf-8"), encoding="utf-8", newline="\n"
            )
    except OSError as error:
        fail(f"cannot write {CONFIGURATION}: {error.strerror}")
    print(f"{CONFIGURATION}: the default set; edit it, then run `gfsmith gen`")
