"""The folder of a chunk server alone: loss of power, failing system calls, full disks, damage, and mutants.

A change that is done must be on the disk; of the others, a beginning of their sequence.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.folders import once
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.apps.shards.support import NATIVE
from tests.system.apps.stripe_store.conftest import HERE, call
from tests.system.apps.stripe_store.power import Disk, Restorer, Type, entries
from tests.system.apps.stripe_store.shelves import Run, Shelf, after, changes, prefixes
from tests.system.apps.stripe_store.support import EXAMPLE, HEADERS, LANGUAGE, POWER

CHUNK = [
    EXAMPLE / "chunk" / f"{name}.c" for name in ("disk", "database", "place", "room", "item", "kept", "shelf")
]
SOURCES = CHUNK + [EXAMPLE / "common" / f"{name}.c" for name in ("record", "message", "files", "report")]
LIBRARIES = ("-lsqlite3", "-lxxhash", "-lsodium", "-lpthread")
FAULT = "fault.so"
FULL = 3  #: KEPT_FULL

pytestmark = pytest.mark.needs("store")


def compiled(source: Path, folder: Path) -> Path:
    target = folder / f"{source.parent.name}-{source.stem}.o"
    include = (*HEADERS, *(f"-I{ROOT}/runtime/{part}/include" for part in ("core", "compose")))
    flags = (*LANGUAGE, "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    call("cc", *flags, *include, f"-I{EXAMPLE}/chunk", "-c", "-o", target, source)
    return target


def linked(objects: Iterable[Path], folder: Path) -> Path:
    call("cc", "-o", folder / "shelf", *objects, *LIBRARIES)
    return folder / "shelf"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the program, its objects and the two libraries."""

    def make(folder: Path) -> None:
        linked([compiled(source, folder) for source in (HERE / "native" / "shelf.c", *SOURCES)], folder)
        flags = ("-std=c11", "-O1", "-shared", "-fPIC")
        call("cc", *flags, "-o", folder / POWER, HERE / "native" / "power.c")
        call("cc", *flags, "-D_GNU_SOURCE", "-o", folder / FAULT, NATIVE / "fault.c")

    return once(tmp_path_factory, "store-shelf", make)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory, where a flush takes no time."""
    with tempfile.TemporaryDirectory(prefix="gfsmith-", dir="/dev/shm") as folder:
        yield Path(folder)


WORDS = (
    *("n1", ".", "c1:40", "r1", ".", "c2:9841", "c3:29524", "r2", "r3", ".", "f1", "."),
    *("c4:29524", "u2", "n2", "f3", "r4", ".", "c5:1", "r5", "f4", ".", "w", ".", "c6:364", "r6", "."),
)
LARGE = tuple(word for n in range(1, 180) for word in (f"c{n}:88573", *(["."] if n % 20 == 0 else [])))
"""More than the log holds, so it is moved into the database."""


def lose_power(shelf: Shelf, words: tuple[str, ...], folder: Path, *, states: int, seed: int) -> None:
    """Run the changes, cut the power at random moments, and check the rest."""
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


@pytest.mark.parametrize("seed", range(2))
def test_power_cuts_at_any_moment(built: Path, memory: Path, seed: int) -> None:
    shelf = Shelf(built / "shelf", memory / "disk", (built / POWER,))
    lose_power(shelf, WORDS, memory, states=50, seed=seed)


def test_the_name_of_a_new_folder_is_on_disk(built: Path, memory: Path) -> None:
    """Also if the process that made it was killed before."""
    parent, record = memory / "parent", memory / "record"
    shelf = Shelf(built / "shelf", parent / "disk", (built / POWER,))
    shelf.folder.mkdir(parents=True)
    record.mkdir()
    assert shelf.run("c1:40", ".", variables={"POWER_LOG": str(record)}).done() == [("c1:40", 0)]
    (log,) = record.iterdir()
    flushed = {entry.file for entry in entries(log) if entry.type is Type.FLUSHED}
    assert parent.stat().st_ino in flushed


def test_power_cuts_while_the_log_is_moved(built: Path, memory: Path) -> None:
    shelf = Shelf(built / "shelf", memory / "disk", (built / POWER,))
    lose_power(shelf, LARGE, memory, states=25, seed=1)


# -- failing system calls, and no room -------------------------------------------------------------

FULL = 3
"""KEPT_FULL."""
FEW = ("n1", ".", "c1:40", "r1", "c2:9841", ".", "f1", "c3:29524", ".")


def check_fault(shelf: Shelf, plan: str) -> set[int]:
    """Run changes with a fault, check the rest, and return the statuses of the changes that are done."""
    shutil.rmtree(shelf.folder, ignore_errors=True)
    run = shelf.run(*FEW, variables={"SHARDS_PROGRAM": "shelf", "SHARDS_FAULT": plan})
    assert run.status in (0, 3) and run.errors == "", (plan, run)
    full = {word for word, status in run.done() if status == FULL}
    good = [word for word, status in run.done() if status == 0]
    possible = prefixes([word for word in FEW if word not in full], len(good))
    content = shelf.content()
    assert content in possible, (plan, run, sorted(content))
    return {status for _, status in run.done()}


def calls(shelf: Shelf, count: Path) -> int:
    """Return the number of system calls of the changes."""
    shelf.run(*FEW, variables={"SHARDS_PROGRAM": "shelf", "SHARDS_COUNT": str(count)})
    return int(count.read_text().split()[0])


@pytest.mark.parametrize("part", range(2))
def test_every_system_call_fails(built: Path, memory: Path, part: int) -> None:
    shelf = Shelf(built / "shelf", memory / "disk", (built / FAULT,))
    total = calls(shelf, memory / "count")
    assert total > 100
    for n in range(1 + part, total + 1, 2):
        check_fault(shelf, f"call:{n}:EIO")


@pytest.mark.parametrize("error", ["ENOSPC", "EDQUOT", "EFBIG"])
def test_the_disk_is_full_from_a_write_on(built: Path, memory: Path, error: str) -> None:
    """Or a quota is reached, or the limit of the size of files."""
    shelf = Shelf(built / "shelf", memory / "disk", (built / FAULT,))
    seen: set[int] = set()
    for plan in (*(f"pwrite:{n}+" for n in range(1, 60, 3)), "fallocate:1+", "fallocate:2+"):
        seen |= check_fault(shelf, f"{plan}:{error}")
    assert seen == {0, FULL}


def test_a_limit_of_the_size(built: Path, memory: Path) -> None:
    """Stored items stay, an item without room is refused, and a deletion makes room."""
    shelf = Shelf(built / "shelf", memory / "disk")
    words = [f"c{n}:88573" for n in range(1, 15)]
    run = shelf.run(*words, ".", "c20:1", "f1", "f2", ".", "c21:88573", room="1")
    status = dict(run.done())
    stored = [word for word in words if status[word] == 0]
    assert 5 < len(stored) < 11 and {status[word] for word in words} == {0, FULL}
    assert (status["f1"], status["f2"], status["c21:88573"]) == (0, 0, 0)
    small = ["c20:1"] if status["c20:1"] == 0 else []
    assert shelf.content() == {*stored[2:], *small, "c21:88573"}
    assert (shelf.folder / "chunks").stat().st_size <= 1 << 20


def test_items_of_values_that_exist_exceed_the_limit(built: Path, memory: Path) -> None:
    """Others are refused, also afterwards, until deletions make room."""
    shelf, length = Shelf(built / "shelf", memory / "disk"), 29524
    fills = [f"c{n}:{length}" for n in range(1, 60)]
    full = shelf.run(*fills, room="1").done()
    stored = [word for word, status in full if status == 0]
    assert 10 < len(stored) < 40 and {status for _, status in full} == {0, FULL}
    more = [f"c100:{length}", f"c101:{length}!", ".", f"c102:{length}"]
    assert [status for _, status in shelf.run(*more, room="1").done()] == [FULL, 0, FULL]
    deletions = [f"f{word[1:].partition(':')[0]}" for word in stored[:3]]
    assert {status for _, status in shelf.run(*deletions, ".", more[-1], room="1").done()} == {0}
    assert shelf.content() == {*stored[3:], f"c101:{length}", f"c102:{length}"}


def test_a_list_in_steps(built: Path, memory: Path) -> None:
    """It has chunks and records beyond the first 256 items. Versions between them may be missing."""
    shelf = Shelf(built / "shelf", memory / "disk")
    every = [kind.format(n) for n in range(1, 200) if n % 7 for kind in ("c{}:4", "r{}")]
    for part in (every[::2], every[1::2]):
        assert len(shelf.run(*part).done()) == len(part)
    assert shelf.content() == set(every)


# -- damage ----------------------------------------------------------------------------------------


def spoil(path: Path, at: int, length: int = 1) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        old = file.read(length)
        file.seek(at)
        file.write(bytes(byte ^ 0x5A for byte in old))


def test_damage_at_any_place(built: Path, memory: Path) -> None:
    """A damaged item is missing, and reported; no other changes, unless the structure is damaged."""
    shelf = Shelf(built / "shelf", memory / "disk")
    words = ("n1", *(word for n in range(1, 9) for word in (f"c{n}:29524", f"r{n}")))
    assert shelf.run(*words).status == 0
    path, draw, lost = shelf.folder / "chunks", random.Random(1), 0
    right, size = path.read_bytes(), path.stat().st_size
    for _ in range(60):
        at = draw.randrange(size)
        spoil(path, at)
        run = shelf.run("l")
        have = run.content()
        if "is renamed to chunks.damaged" in run.errors:
            assert have == frozenset()
        else:
            assert have - {"n0"} <= after(words), at
            lost += (len(have) < len(words)) == ("damaged items, which are missing" in run.errors)
        with path.open("r+b") as file:
            file.truncate()
            file.write(right)
    assert lost > 20


def test_damage_in_the_header_and_in_a_definition(built: Path, memory: Path) -> None:
    """The database is replaced, or its items are there: the chunk server does not stay away."""
    shelf = Shelf(built / "shelf", memory / "disk")
    words = ("n1", "c1:40", "r1")
    assert shelf.run(*words).status == 0
    path = shelf.folder / "chunks"
    right = path.read_bytes()
    table = right.rindex(b"CREATE TABLE record")
    for at in (18, 19, 47, *range(table, table + 4)):
        for bit in range(8):
            path.write_bytes(right[:at] + bytes([right[at] ^ 1 << bit]) + right[at + 1 :])
            assert shelf.content() in (frozenset(), after(words)), (at, bit)
            (shelf.folder / "place").unlink()


@pytest.mark.parametrize("length", [0, 100, 16384, 3 * 16384, 10 * 16384 + 7])
def test_a_truncated_database(built: Path, memory: Path, length: int) -> None:
    shelf = Shelf(built / "shelf", memory / "disk")
    words = ("n1", *(f"c{n}:29524" for n in range(1, 9)))
    assert shelf.run(*words).status == 0
    os.truncate(shelf.folder / "chunks", length)
    assert shelf.content() <= after(words)
    assert shelf.run("c50:1", "l").content() >= {"c50:1"}


def test_faults_while_a_damaged_database_is_replaced(built: Path, memory: Path) -> None:
    """Afterwards the folder is not taken for a copy, and a process that is started again begins there."""
    shelf = Shelf(built / "shelf", memory / "disk", (built / FAULT,))
    count = memory / "count"

    def run(plan: str) -> Run:
        spoil(shelf.folder / "chunks", 0, 100)
        variables = {"SHARDS_PROGRAM": "shelf", "SHARDS_COUNT": str(count), "SHARDS_FAULT": plan}
        return shelf.run(variables=variables)

    assert shelf.content() == frozenset()
    assert "is renamed to chunks.damaged" in run("call:1000:EIO").errors
    total = int(count.read_text().split()[0])
    for plan in [f"call:{n}:KILL" for n in range(1, total, 3)] + [f"pwrite:{n}+:ENOSPC" for n in range(1, 5)]:
        run(plan)
        assert shelf.run("l", variables={"SHELF_USED": "1"}).lines == ("open", "listed 0"), plan
        assert shelf.content() == frozenset(), plan


# -- places ----------------------------------------------------------------------------------------


def test_a_copy_is_refused(built: Path, memory: Path) -> None:
    """Until the operator states that the original is gone."""
    shelf = Shelf(built / "shelf", memory / "disk")
    shelf.run("n1", "c1:40")
    shutil.copytree(shelf.folder, memory / "copy")
    copy = Shelf(built / "shelf", memory / "copy")
    run = copy.run("l")
    why = f"{copy.folder} was copied or moved: if its original will never be used again, remove"
    assert (run.status, run.lines) == (3, (f"gone {why} {copy.folder}/place",))
    assert shelf.content() == {"n1", "c1:40"}
    (copy.folder / "place").unlink()
    assert copy.content() == {"n1", "c1:40"}
    assert (copy.folder / "place").exists()


def test_a_birth_that_an_older_kernel_did_not_know(built: Path, memory: Path) -> None:
    """The same file is no copy, and its birth is noted; with another number it is one."""
    shelf = Shelf(built / "shelf", memory / "d")
    shelf.run("n1")
    place = shelf.folder / "place"
    noted = place.read_text()
    machine, number, birth = noted.split()
    assert birth != "0.0"
    place.write_text(f"{machine} {number} 0.0\n")
    assert shelf.content() == {"n1"}
    assert place.read_text() == noted
    for other in (f"{machine} {number}1 0.0\n", f"{machine} {number} 1.1\n", "unknown"):
        place.write_text(other)
        assert "was copied or moved" in shelf.run("l").lines[0]


def test_a_disk_that_disappears_for_a_while(built: Path, memory: Path) -> None:
    """The process that has used it does not begin an empty database in its place."""
    shelf = Shelf(built / "shelf", memory / "disk")
    run = shelf.run("n1", "c1:40", ".", "x", "c2:40", "l")
    why = f"without {shelf.folder}: its database is not there: mount its disk"
    assert [line for line in run.lines if line.startswith(why)], run
    assert run.content() == {"n1", "c1:40", "c2:40"}


# -- mutants ---------------------------------------------------------------------------------------

FORGETS = "o->change.type == CHANGE_FORGET"
MUTANTS = {
    "never flushes": Mutant('"FULL"', '"OFF"'),
    "answers before the flush": Mutant('"FULL"', '"NORMAL"'),
    "answers without a commit": Mutant("database_commit(d)", "KEPT_OK", within="transact"),
    "does not delete on disk": Mutant(
        "database_change(d, &o->change)", f"{FORGETS} ? KEPT_OK : database_change(d, &o->change)"
    ),
}


def mutated(built: Path, mutant: Mutant, folder: Path) -> Path:
    (folder / "chunk").mkdir()
    _, copy = plant(mutant, CHUNK, folder / "chunk")
    changed = compiled(copy, folder)
    return linked([changed, *(path for path in built.glob("*.o") if path.name != changed.name)], folder)


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_lose_changes(built: Path, memory: Path, name: str) -> None:
    program = mutated(built, MUTANTS[name], memory)
    with pytest.raises(AssertionError):
        lose_power(Shelf(program, memory / "disk", (built / POWER,)), WORDS, memory, states=60, seed=1)


def test_a_mutant_without_checksums(built: Path, memory: Path) -> None:
    program = mutated(built, Mutant("!item_chunk(bytes, length, version)", "false"), memory)
    shelf = Shelf(program, memory / "disk")
    shelf.run("n1", "c1:29524")
    path = shelf.folder / "chunks"
    spoil(path, path.read_bytes().index(b"gfs-chnk") + 100)
    with pytest.raises(AssertionError):
        shelf.content()
