"""The runtime's files for given kernels: the coordinator only if it has variants to choose among."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.build.generate import Kernel
from gfsmith.emit.files import share

#: Parts of the runtime, in the order of an amalgamation. The second only occurs with a coordinator.
PARTS = ("core", "adaptive")
COORDINATOR = "gfsmith_adaptive.h"  #: its public header
CHECKER = "packaging/check_linked.py"


def has_coordinator(kernels: Sequence[Kernel]) -> bool:
    """Return True if the build has variants, so that its runtime has a coordinator (docs/adaptive.md)."""
    return any(kernel.spec.pipelined for kernel in kernels)


def checker() -> str:
    """Return the script that compares linked kernels with the manifest, the same for every prefix."""
    return share(CHECKER).read_text(encoding="utf-8")


def runtime(kernels: Sequence[Kernel]) -> dict[str, str]:
    """Return path below runtime/ -> text of the headers and sources."""
    folder = share("runtime")
    parts = PARTS if has_coordinator(kernels) else PARTS[:1]
    paths = [path for part in parts for path in sorted(folder.glob(f"{part}/*/*.[hc]"))]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
