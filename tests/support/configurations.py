"""Configurations with few kernels, and the proofs that `make gen` has already made."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from tests.support.paths import ROOT

FEWEST_KERNELS = """
[generator]
isas = [{isas}]
[[kernels]]
operation = "dot"
shapes = ["nx1"]
[[kernels]]
operation = "mad"
shapes = ["1x1", "nx1"]
[[kernels]]
operation = "xor"
shapes = ["nx1"]
"""


def fewest_kernels(isas: Iterable[str]) -> str:
    """Return a gfsmith.toml with the fewest kernels with which a codec can do all its operations, slowly."""
    return FEWEST_KERNELS.format(isas=", ".join(f'"{isa}"' for isa in isas))


def known_proofs(cache: Path, *names: str) -> None:
    """Copy the proofs of `make gen`, or those with the names, into a cache of gfsmith. Results are keyed by
    content, so they are valid for any run that generates the same kernels. For tests that are not about
    proving. Those of checksums, which every build needs, take 43 seconds of CPU time (AMD EPYC, Zen 4).
    """
    cache.mkdir(parents=True, exist_ok=True)
    for name in names or ("proofs", "algebra", "checksums"):
        known = ROOT / ".gfsmith-cache" / f"{name}.json"
        if known.exists():
            # Other processes may read the cache.
            fresh = Path(shutil.copy(known, cache / f".{name}-{os.getpid()}"))
            fresh.replace(cache / known.name)
