"""The folder of a chunk server alone: loss of power, failing system calls, full disks, damage, and mutants.

A change that is done must be on the disk; of the others, a beginning of their sequence.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.folders import once
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.apps.shards.support import NATIVE
from tests.system.apps.stripe_store.conftest import HERE, call
from tests.system.apps.stripe_store.power import Disk, Restorer, Type, entries
from tests.system.apps.stripe_store.shelves import Shelf, after, changes, prefixes
from tests.system.apps.stripe_store.support import EXAMPLE

CHUNK = ("disk", "database", "place", "item", "kept")
COMMON = ("record", "message", "files", "report")
LIBRARIES = ("-lsqlite3", "-lxxhash", "-lsodium", "-lpthread")
POWER, FAULT = "power.so", "fault.so"

pytestmark = pytest.mark.needs("store")


def build(folder: Path, source: Path = EXAMPLE) -> Path:
    include = (f"-I{source}", *(f"-I{ROOT}/runtime/{part}/include" for part in ("core", "compose")))
    files = [source / "chunk" / f"{name}.c" for name in CHUNK]
    files += [source / "common" / f"{name}.c" for name in COMMON]
    flags = ("-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    call("cc", *flags, *include, "-o", folder / "shelf", HERE / "native" / "shelf.c", *files, *LIBRARIES)
    return folder / "shelf"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the program and the two libraries."""

    def make(folder: Path) -> None:
        build(folder)
        flags = ("-std=c11", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC")
        call("cc", *flags, "-o", folder / POWER, HERE / "native" / "power.c")
        call("cc", *flags, "-o", folder / FAULT, NATIVE / "fault.c")

    return once(tmp_path_factory, "store-shelf", make)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory, where a flush takes no time."""
    yield from in_memory()


def in_memory() -> Iterator[Path]:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="gfsmith-", dir="/dev/shm") as folder:
        yield Path(folder)


WORDS = (
    *("n1", ".", "c1:40", "r1", ".", "c2:9841", "c3:29524", "r2", "r3", ".", "f1", "."),
    *("c4:29524", "u2", "n2", "f3", "r4", ".", "c5:1", "r5", "f4", ".", "w", ".", "c6:364", "r6", "."),
)
LARGE = tuple(word for n in range(1, 180) for word in (f"c{n}:88573", *(["."] if n % 20 == 0 else [])))
"""More than the log holds, so it is moved into the database."""


def lose_power(shelf: Shelf, words: tuple[str, ...], folder: Path, *, states: int, seed: int) -> None:
    """Run the changes, cut the power at random moments, and check what remains."""
    record, draw = folder / "record", random.Random(seed)
    record.mkdir()
    shelf.folder.mkdir()
    disk = Disk(shelf.folder)
    run = shelf.run(*words, variables={"POWER_LOG": str(record)})
    assert [word for word, status in run.done() if status == 0] == changes(words)
    restorer = Restorer(shelf.folder, folder / "kept")
    restorer.keep()
    (log,) = record.iterdir()
    found = entries(log)
    moments = sorted(draw.sample(range(len(found)), min(states, len(found))))
    done = 0
    for at, entry in enumerate(found):
        if moments and moments[0] == at:
            moments.pop(0)
            restorer.restore(disk.cut(draw))
            content = shelf.content()
            assert content in prefixes(words, done), (at, done, sorted(content))
        disk.replay(entry)
        done += entry.type is Type.NOTE


@pytest.mark.parametrize("seed", range(3))
def test_power_cuts_at_any_moment(built: Path, memory: Path, seed: int) -> None:
    shelf = Shelf(built / "shelf", memory / "disk", (built / POWER,))
    lose_power(shelf, WORDS, memory, states=60, seed=seed)


def test_power_cuts_while_the_log_is_moved(built: Path, memory: Path) -> None:
    shelf = Shelf(built / "shelf", memory / "disk", (built / POWER,))
    lose_power(shelf, LARGE, memory, states=40, seed=1)
