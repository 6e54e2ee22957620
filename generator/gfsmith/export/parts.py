"""Which files of the runtime go with which kernels: a coordinator where it has something to choose among."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.files import share
from gfsmith.generate import Kernel

#: Folders of C files, in the order in which an amalgamation has them; the second one with a coordinator only.
SOURCES = ("src", "adaptive")
COORDINATOR = "gfsmith_adaptive.h"  #: its public header


def has_coordinator(kernels: Sequence[Kernel]) -> bool:
    """Has the build variants, so that its runtime has a coordinator (docs/adaptive.md)?"""
    return any(kernel.spec.pipelined for kernel in kernels)


def runtime(kernels: Sequence[Kernel]) -> dict[str, str]:
    """path below runtime/ -> text: headers and sources."""
    with_it = has_coordinator(kernels)
    folders = ("include", *(SOURCES if with_it else SOURCES[:1]))
    paths = [path for folder in folders for path in sorted(share("runtime").glob(f"{folder}/*.[hc]"))]
    return {
        f"{path.parent.name}/{path.name}": path.read_text(encoding="utf-8")
        for path in paths
        if with_it or path.name != COORDINATOR
    }
