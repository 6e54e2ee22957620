"""A build's machine code as a Go package (docs/go.md) or a Rust module."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gfsmith.build import compiled
from gfsmith.build.generate import Kernel
from gfsmith.build.request import Build
from gfsmith.emit import golang, packaged
from gfsmith.emit import rust as emitter

_KEYWORDS = (
    "break case chan const continue default defer else fallthrough for func go goto if import interface map "
    "package range return select struct switch type var"
)


class PackageError(ValueError):
    """A folder whose name is not allowed for a Go package."""


def check_package(folder: str) -> None:
    """Raises PackageError if the folder's name, which becomes the package's name, is not allowed."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", folder) or folder in _KEYWORDS.split():
        raise PackageError(
            f"-o: '{folder}' would be the Go package's name; allowed: lower-case letters, digits and _"
        )


def narrowed(build: Build, form: str) -> Build:
    """Return the build with only the kernels that a package of this form can use: none is tuned.

    Raises SpecError if they are too few.
    """
    tuned = {row.spec.symbol for row in build.tuned if row.added}
    specs = tuple(spec for spec in build.specs if spec.symbol not in tuned and packaged.takes(spec))
    packaged.check(specs, form)
    return Build(specs, ())


def go(kernels: Sequence[Kernel], package: str) -> dict[str, str]:
    """Return path -> text of the Go package."""
    return golang.files(_proved(kernels), package, compiled.frames(kernels))


def rust(kernels: Sequence[Kernel]) -> dict[str, str]:
    """Return path -> text of the Rust module."""
    return emitter.files(_proved(kernels))


def _proved(kernels: Sequence[Kernel]) -> list[packaged.Proved]:
    return [(kernel.spec, next(iter(kernel.code.values()))) for kernel in kernels]
