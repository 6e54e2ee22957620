"""`gfsmith where`: paths of this installation's files for build systems."""

from __future__ import annotations

import click

from gfsmith.emit.files import share

#: Build system -> its folder or file in this installation.
PLACES = {"bazel": "packaging/bazel", "cmake": "packaging/cmake", "make": "packaging/make/gfsmith.mk"}


@click.command("where")
@click.argument("system", type=click.Choice(list(PLACES)))
def command(system: str) -> None:
    """Print the path of the files for a build system.

    cmake: a folder for gfsmith_ROOT. make: a file to include, with a backslash before each blank. bazel: a
    folder for local_repository.
    """
    place = str(share(PLACES[system]))
    print(place.replace(" ", "\\ ") if system == "make" else place)
