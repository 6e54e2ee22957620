"""A Go package of a build's machine code, for Go's own assembler. docs/go.md"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gfsmith.console import fail
from gfsmith.emit import golang as emitter
from gfsmith.emit.x86.frame import Abi
from gfsmith.generate import Kernel
from gfsmith.request import Build

_KEYWORDS = (
    "break case chan const continue default defer else fallthrough for func go goto if import interface map "
    "package range return select struct switch type var"
)


def check_package(folder: str) -> None:
    """A Go package has its folder's name. Ends the program with a line if that cannot be."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", folder) or folder in _KEYWORDS.split():
        fail(f"-o: '{folder}' would be the Go package's name; allowed: small letters, digits and _")


def narrowed(build: Build) -> Build:
    """The kernels that a Go package takes, of a build. Raises SpecError if they are no codec."""
    specs = tuple(spec for spec in build.specs if emitter.takes(spec))
    emitter.check(specs)
    return Build(specs, ())


def golang(kernels: Sequence[Kernel], package: str) -> tuple[list[Kernel], dict[str, str]]:
    """The kernels that fit on a Go stack, and path -> text of the package."""
    fitting = [kernel for kernel in kernels if emitter.fits(kernel.code[Abi.SYSV])]
    return fitting, emitter.files([(kernel.spec, kernel.code[Abi.SYSV]) for kernel in fitting], package)
