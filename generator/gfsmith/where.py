"""`gfsmith where`: what build systems include of this installation."""

from __future__ import annotations

import click

from gfsmith.files import share

#: Build system -> the folder or file that it is given.
PLACES = {"bazel": "bazel", "cmake": "cmake", "make": "make/gfsmith.mk"}


@click.command("where")
@click.argument("system", type=click.Choice(list(PLACES)))
def where(system: str) -> None:
    """Print where the files for a build system are.

    cmake: a folder for gfsmith_ROOT. make: a file to include. bazel: a folder for local_repository.
    """
    print(share(PLACES[system]))
