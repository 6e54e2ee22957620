"""What tests of several folders share: turns between processes, folders made once, few kernels, proofs."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

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
    """A gfsmith.toml: with these few kernels a codec does all that it ever does, slowly."""
    return FEWEST_KERNELS.format(isas=", ".join(f'"{isa}"' for isa in isas))


def known_proofs(cache: Path) -> None:
    """Give a cache of gfsmith's what `make gen` has proved: by content, so it holds whoever makes the same.
    For tests that are not about proving."""
    cache.mkdir(parents=True, exist_ok=True)
    for name in ("proofs.json", "algebra.json"):
        known = ROOT / ".gfsmith-cache" / name
        if known.exists():
            shutil.copy(known, cache)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One of the processes of pytest-xdist at a time, by a file that is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` fills, once for all processes of pytest-xdist."""
    base = factory.getbasetemp()
    folder = (base.parent if base.name.startswith("popen-") else base) / name
    folder.mkdir(exist_ok=True)
    made = folder / "made"
    with locked(folder.with_suffix(".lock")):
        if not made.exists():
            make(folder)
            made.touch()
    return folder
