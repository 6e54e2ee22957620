"""The runtime's files for given kernels: the coordinator only if it has variants to choose among."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.build.generate import Kernel
from gfsmith.emit.files import share
from gfsmith.emit.lists import has_coordinator

#: Parts of the runtime, in the order of an amalgamation. The second only occurs with a coordinator.
PARTS = ("core", "adaptive")
COORDINATOR = "gfsmith_adaptive.h"  #: its public header
CHECKER = "packaging/check_linked.py"


def checker() -> str:
    """Return the script that compares linked kernels with the manifest, the same for every prefix."""
    return share(CHECKER).read_text(encoding="utf-8")


def runtime(kernels: Sequence[Kernel]) -> dict[str, str]:
    """Return path below runtime/ -> text of the headers and sources."""
    folder = share("runtime")
    parts = PARTS if has_coordinator(kernel.spec for kernel in kernels) else PARTS[:1]
    paths = [path for part in parts for path in sorted(folder.glob(f"{part}/*/*.[hc]"))]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
