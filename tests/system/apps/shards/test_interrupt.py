"""A run that is interrupted at any system call loses nothing.

A fault stops the program right before the n-th call of a function, for n = 1, 2, 3 ... until a run ends
without reaching the n-th call. This covers every point of every command, without a clock.
"""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.levels import first
from tests.system.apps.shards.support import (
    DEADLINE,
    DONE,
    REFUSED,
    Outcome,
    Stopped,
    Tool,
    content,
    flip,
    make_set,
    shard,
    snapshot,
    temporaries,
)

CALLS = ("create", "pread", "pwrite", "fsync", "rename", "unlink")
SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP}
SHAPE = ("-t", "1", "-k", "4", "-m", "2", "-b", "64")

Faulty = Callable[[str], Tool]


class Scene:
    """A folder that is recreated before each run, and the contents that it may have afterwards."""

    def __init__(self, tool: Tool, root: Path, command: str, size: int = 999) -> None:
        self.tool = tool
        self.command = command
        self.folder = root / "scene"
        self.data = content(size)
        self.old_data = content(777, seed=9)
        self.good = make_set(tool, root / "good", self.data)
        self.old = make_set(tool, root / "old", self.old_data)
        self.file = root / "good" / "file"
        self.want = snapshot(self.good)
        self.before: dict[str, str] = {}
        self.outputs = {"repair": 2, "restore": 1}.get(command, 6)
        protects = command.startswith("protect")
        #: Flushes besides those of the outputs: of the folder, and of the change record.
        self.more_flushes = 4 if protects else 1
        #: Calls before the step that a signal no longer stops: three writes for each shard, one flush; reads
        #: of the headers of old shards and of the file. After it, the headers of new shards are read, and
        #: those of old ones again before they are removed.
        self.early = {
            "fsync": self.outputs,
            "pwrite": 3 * self.outputs if protects else 99,
            "pread": self.outputs + 2 if command == "protect --force" else 2 if protects else 99,
        }

    def set_up(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        if self.command == "protect --force":
            shutil.copytree(self.old, self.folder, dirs_exist_ok=True)
        if self.command in ("repair", "restore"):
            shutil.copytree(self.good, self.folder, dirs_exist_ok=True)
            shard(self.folder, 1).unlink()
            flip(shard(self.folder, 4), -1)
        self.before = snapshot(self.folder)

    @property
    def arguments(self) -> tuple[str | Path, ...]:
        match self.command:
            case "repair":
                return ("repair", "-t", "1", self.folder)
            case "restore":
                return ("restore", "-t", "1", "--force", self.folder, "-o", self.folder / "restored")
            case _:
                return (*self.command.split(), *SHAPE, self.file, self.folder)

    def check_nothing_lost(self) -> None:
        """Check that the original is unchanged and that the folder restores to the old or the new contents,
        if it had contents before.
        """
        assert self.file.read_bytes() == self.data
        after = snapshot(self.folder)
        if self.command in ("repair", "restore"):
            for name, digest in after.items():
                if name == "restored":
                    assert (self.folder / name).read_bytes() == self.data
                elif not name.startswith(".gfsmith-shards."):
                    assert digest in (self.before.get(name), self.want[name]), name
        if self.command != "protect":
            allowed = (self.old_data, self.data) if self.command == "protect --force" else (self.data,)
            done = self.tool.run("restore", self.folder, "-o", "-")
            assert (done.status, done.stderr) == (DONE, "")
            assert done.raw in allowed

    def check_second_run(self) -> None:
        again = list(self.arguments)
        if self.command == "protect":
            again.insert(1, "--force")
        self.tool.ok(*again)
        if self.command == "restore":
            assert (self.folder / "restored").read_bytes() == self.data
        else:
            assert self.tool.run("restore", self.folder, "-o", "-").raw == self.data
            assert self.tool.run("verify", self.folder).status == DONE


@pytest.fixture(params=["protect", "protect --force", "repair", "restore"])
def scene(request: pytest.FixtureRequest, tool: Tool, tmp_path: Path) -> Scene:
    return Scene(tool, tmp_path, request.param)


def runs(scene: Scene, faulty: Faulty, call: str, what: str) -> Iterator[Outcome]:
    """Yield one outcome for each point at which the fault can occur."""
    for n in itertools.count(1):
        scene.set_up()
        outcome = faulty(f"{call}:{n}:{what}").run(*scene.arguments)
        if outcome.status == DONE:
            assert n > 1 or call == "unlink", f"{call} is never called"
            return
        yield outcome


@pytest.mark.campaign
@pytest.mark.parametrize("call", CALLS)
def test_kill_9_at_every_call(scene: Scene, faulty: Faulty, call: str) -> None:
    for outcome in runs(scene, faulty, call, "KILL"):
        assert outcome.status == -signal.SIGKILL
        scene.check_nothing_lost()
        scene.check_second_run()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("what", first(SIGNALS))
def test_signals_at_every_call(scene: Scene, faulty: Faulty, call: str, what: str) -> None:
    for number, outcome in enumerate(runs(scene, faulty, call, what), 1):
        assert outcome.status == -SIGNALS[what]
        assert outcome.stderr == ""
        assert temporaries(scene.folder) == []
        scene.check_nothing_lost()
        if call not in ("rename", "unlink") and number <= scene.early.get(call, number):
            assert snapshot(scene.folder) == scene.before


def test_a_signal_hides_no_change(scene: Scene, faulty: Faulty) -> None:
    """The signal comes when the files get their names: the lines on stdout, a pipe, name the changes."""
    scene.set_up()
    outcome = faulty("rename:1:INT").run(*scene.arguments)
    assert outcome.status == -signal.SIGINT
    done = {"repair": ": rebuilt\n", "restore": ": 999 bytes, checksum as recorded\n"}
    line = done.get(scene.command, f": 6 shards in {scene.folder}, generation ")
    assert outcome.stdout.count(line) == (2 if scene.command == "repair" else 1)


@pytest.mark.parametrize("call", ["pread", "pwrite"])
@pytest.mark.parametrize("command", ["protect", "repair", "restore"])
def test_a_signal_ends_the_work_soon(
    tool: Tool, faulty: Faulty, tmp_path: Path, command: str, call: str
) -> None:
    """The run ends with the current batch of 64 stripes, well before the fatal call."""
    scene = Scene(tool, tmp_path, command, size=200_000)
    scene.set_up()
    outcome = faulty(f"{call}:2:INT,{call}:600:KILL").run(*scene.arguments)
    assert outcome.status == -signal.SIGINT
    assert snapshot(scene.folder) == scene.before


@pytest.mark.parametrize("call", ["create", "pwrite", "fsync", "rename"])
def test_errors_at_every_call(scene: Scene, faulty: Faulty, call: str) -> None:
    number = 0
    for number, outcome in enumerate(runs(scene, faulty, call, "ENOSPC"), 1):
        assert outcome.status == REFUSED
        assert outcome.stderr.startswith("gfsmith-shards: cannot ")
        assert outcome.stderr.endswith(": No space left on device\n")
        assert outcome.stderr.count("\n") == 1
        assert str(scene.folder) in outcome.stderr
        assert temporaries(scene.folder) == []
        scene.check_nothing_lost()
        if call in ("create", "pwrite") or (call == "rename" and number == 1):
            assert snapshot(scene.folder) == scene.before
        if call == "rename" and scene.command.startswith("protect"):
            assert snapshot(scene.folder) == scene.before  # the renames are undone
    if call == "fsync":
        assert number == scene.outputs + scene.more_flushes


def test_unreadable_input(tool: Tool, faulty: Faulty, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(999))
    (tmp_path / "out").mkdir()
    shape = (*SHAPE, file, tmp_path / "out")
    line = faulty("pread:2:EIO").refusal("protect", *shape)
    assert line == f"cannot read {file}: Input/output error"
    assert snapshot(tmp_path / "out") == {}


def test_a_read_error_after_the_scan_stops_the_repair(tool: Tool, faulty: Faulty, shards: Path) -> None:
    """Two shards are lost, so the third one that becomes unreadable is too many."""
    shard(shards, 1).unlink()
    shard(shards, 3).unlink()
    before = snapshot(shards)
    reads = 4 + 4 + 4 * 2  # headers twice; records and end of each file
    outcome = faulty(f"pread:{reads + 7}:EIO").run("repair", "-t", "1", shards)
    assert outcome.status == REFUSED
    assert outcome.stderr.startswith("gfsmith-shards: file: too many damaged or missing shards: ")
    assert snapshot(shards) == before


def test_temporary_files_have_unique_names_in_the_folder_of_the_target(
    faulty: Faulty, shards: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    first = Stopped(faulty("pwrite:1:STOP"), "restore", "-t", "1", shards, "-o", out / "first")
    assert len(temporaries(out)) == 1
    second = Stopped(faulty("pwrite:1:STOP"), "restore", "-t", "1", shards, "-o", out / "second")
    assert len(temporaries(out)) == 2
    assert first.resume(signal.SIGINT).status == -signal.SIGINT
    assert len(temporaries(out)) == 1
    assert second.resume().status == DONE
    assert [path.name for path in out.iterdir()] == ["second"]


def test_a_shard_that_appears_meanwhile_is_not_replaced(faulty: Faulty, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content(999))
    out = tmp_path / "out"
    out.mkdir()
    run = Stopped(faulty("pwrite:5:STOP"), "protect", *SHAPE, tmp_path / "file", out)
    shard(out, 3).write_text("mine")
    outcome = run.resume()
    assert outcome.status == REFUSED
    assert outcome.stderr == f"gfsmith-shards: {shard(out, 3)} already exists\n"
    assert [path.name for path in out.iterdir()] == [shard(out, 3).name]
    assert shard(out, 3).read_text() == "mine"


def other_file(tmp_path: Path) -> Path:
    """Return another file of the same name."""
    (tmp_path / "other").mkdir(exist_ok=True)
    (tmp_path / "other" / "file").write_bytes(content(500, seed=2))
    return tmp_path / "other" / "file"


@pytest.mark.parametrize("plan", ["create:2:STOP", "rename:1:STOP", "rename:4:STOP"])
@pytest.mark.parametrize("command", ["protect", "protect --force"])
def test_of_two_concurrent_runs_one_is_refused(
    tool: Tool, faulty: Faulty, tmp_path: Path, command: str, plan: str
) -> None:
    """The run that locked the folder completes its set; a run without the lock changes nothing."""
    (tmp_path / "file").write_bytes(content(999))
    out = tmp_path / "out"
    out.mkdir()
    if command == "protect --force":
        tool.ok("protect", *SHAPE, tmp_path / "file", out)
    first = Stopped(faulty(plan), *command.split(), *SHAPE, tmp_path / "file", out)
    before = snapshot(out)
    line = tool.refusal(*command.split(), *SHAPE, other_file(tmp_path), out)
    assert line == f"another run is changing {out}: run one after the other"
    assert snapshot(out) == before
    assert first.resume().status == DONE
    assert tool.ok("verify", out) == "file: all 6 shards are intact\n"
    assert tool.run("restore", out, "-o", "-").raw == content(999)


@pytest.mark.parametrize("at", ["scandir:1", "open:5"])
def test_a_generation_that_is_replaced_while_it_is_read(
    tool: Tool, faulty: Faulty, shards: Path, tmp_path: Path, at: str
) -> None:
    """A run completes the next one when another has read the change record, or replaces this one when
    another has opened some shards."""
    command = ("protect", "--force", *SHAPE, other_file(tmp_path), shards)
    writer = Stopped(faulty("unlink:1:STOP"), *command) if at == "scandir:1" else None
    reader = Stopped(faulty(f"{at}:STOP"), "verify", shards)
    assert writer.resume().status == DONE if writer is not None else tool.ok(*command)
    outcome = reader.resume()
    assert (outcome.status, outcome.stdout) == (DONE, "file: all 6 shards are intact\n"), outcome


def test_two_runs_that_race_for_the_lock(tool: Tool, faulty: Faulty, tmp_path: Path) -> None:
    """The record that a run has opened disappears before it can lock it: the run opens the next one."""
    (tmp_path / "file").write_bytes(content(999))
    out = tmp_path / "out"
    out.mkdir()
    first = Stopped(faulty("flock:1:STOP"), "protect", *SHAPE, tmp_path / "file", out)
    second = Stopped(faulty("rename:1:STOP"), "protect", *SHAPE, other_file(tmp_path), out)
    outcome = first.resume()
    assert outcome.status == REFUSED
    assert outcome.stderr == f"gfsmith-shards: another run is changing {out}: run one after the other\n"
    assert second.resume().status == DONE
    assert tool.ok("verify", out) == "file: all 6 shards are intact\n"


def test_a_partial_generation_does_not_hide_a_complete_one(
    tool: Tool, faulty: Faulty, tmp_path: Path
) -> None:
    """Four of six new shards, of which one is damaged, are too few; all six old ones are intact."""
    out = make_set(tool, tmp_path, content(999))
    file = other_file(tmp_path)
    killed = faulty("rename:5:KILL").run("protect", "--force", *SHAPE, file, out)
    assert killed.status == -signal.SIGKILL
    assert len(list(out.glob("*.g2.*"))) == 4
    flip(shard(out, 3, generation=2), 600)
    assert tool.ok("verify", out).splitlines() == [
        "file: generation 2 is incomplete and does not count: protect was interrupted or is running",
        "file: 4 files of other generations than 1 are left over",
        "file: all 6 shards are intact",
    ]
    assert tool.run("restore", out, "-o", "-").raw == content(999)
    assert tool.ok("repair", out).splitlines()[2:] == [
        f"{out}: the incomplete generation 2 of file is removed",
        "file: all 6 shards are intact, nothing to repair",
    ]
    assert {path.name for path in out.glob("*.gfs")} == {shard(out, i).name for i in range(6)}


@pytest.fixture
def mirror(tool: Tool, faulty: Faulty, tmp_path: Path) -> Path:
    """A copy of a folder of shards, of which no tool has removed anything: it was copied while a run gave the
    shards of generation 2 their names, with the change record, and again later."""
    out, copy = make_set(tool, tmp_path, content(999)), tmp_path / "mirror"
    shutil.copytree(out, copy)
    run = Stopped(faulty("rename:5:STOP"), "protect", "--force", *SHAPE, other_file(tmp_path), out)
    shutil.copytree(out, copy, dirs_exist_ok=True)
    assert run.resume().status == DONE
    shutil.copytree(out, copy, dirs_exist_ok=True)
    assert (copy / ".gfsmith-shards.change").stat().st_size > 0
    return copy


def test_a_copy_with_the_record_of_a_run_that_has_ended(tool: Tool, mirror: Path, tmp_path: Path) -> None:
    """All shards of the new generation are there: it counts."""
    new = other_file(tmp_path).read_bytes()
    assert tool.run("restore", mirror, "-o", "-").raw == new
    assert tool.ok("verify", mirror).splitlines() == [
        "file: 6 files of other generations than 2 are left over",
        "file: all 6 shards are intact",
    ]


@pytest.mark.parametrize("command", ["repair", "protect"])
@pytest.mark.parametrize("damaged", [False, True])
def test_the_next_run_in_such_a_copy(
    tool: Tool, mirror: Path, tmp_path: Path, command: str, damaged: bool
) -> None:
    """It removes the record, and no shard, also if a header is damaged."""
    if damaged:
        flip(shard(mirror, 0, generation=2), 20)
        assert tool.run("restore", mirror, "-o", "-").raw == other_file(tmp_path).read_bytes()
    before = snapshot(mirror)
    third = tmp_path / "third"
    third.write_bytes(b"third")
    words: tuple[str | Path, ...] = ("protect", *SHAPE, third)
    done = tool.ok(*(words if command == "protect" else ("repair",)), mirror)
    assert f"{mirror}: the interrupted generation 2 of file is complete\n" in done
    after = snapshot(mirror)
    assert {name for name in before if name not in after} == {".gfsmith-shards.change"}
    rebuilt = shard(mirror, 0, generation=2).name if damaged and command == "repair" else ""
    assert all(after[name] == before[name] for name in before if name.endswith(".gfs") and name != rebuilt)


def test_such_a_copy_with_damaged_shards(tool: Tool, mirror: Path, tmp_path: Path) -> None:
    """Two shards, of which the first one was cut, are damaged: the new generation counts."""
    os.truncate(shard(mirror, 0, generation=2), 700)
    flip(shard(mirror, 2, generation=2), 20)
    assert tool.run("restore", mirror, "-o", "-").raw == other_file(tmp_path).read_bytes()


def test_such_a_copy_that_has_lost_a_shard(tool: Tool, mirror: Path, tmp_path: Path) -> None:
    """It has the temporary file of this shard, but a run gives the next shard its name later."""
    assert len(temporaries(mirror)) == 2
    shard(mirror, 4, generation=2).unlink()
    done = tool.ok("protect", "-n", "third", *SHAPE, tmp_path / "file", mirror)
    assert f"{mirror}: generation 2 of file has 5 of 6 shards here, which stay\n" in done
    assert tool.run("restore", *mirror.glob("file.*"), "-o", "-").raw == other_file(tmp_path).read_bytes()


def make_stale(tool: Tool, folder: Path) -> Path:
    """Return a folder of shards with the record of the run that has made them, as a copy may have it."""
    copy = make_set(tool, folder, content(999))
    (copy / ".gfsmith-shards.change").write_bytes(shard(copy, 0).read_bytes()[:512])
    return copy


@pytest.fixture
def stale(tool: Tool, tmp_path: Path) -> Path:
    return make_stale(tool, tmp_path)


def change_names(stale: Path, kind: str) -> Path:
    """Rename, move or remove shards, and return the folder of those that were moved."""
    other = stale.parent / "elsewhere"
    other.mkdir()
    match kind:
        case "renamed":
            shard(stale, 2).rename(stale / "copy.gfs")
        case "exchanged":
            shard(stale, 2).rename(other / "third")
            shard(stale, 3).rename(shard(stale, 2))
            (other / "third").rename(shard(stale, 3))
        case "moved":
            for i in range(3):
                shard(stale, i).rename(shard(other, i))
        case "damaged":
            os.truncate(shard(stale, 1), 700)
            flip(shard(stale, 2), 20)
        case "lost":
            shard(stale, 1).unlink()
    return other


@pytest.mark.parametrize("command", ["protect", "repair"])
@pytest.mark.parametrize("kind", ["renamed", "exchanged", "moved", "damaged", "lost"])
def test_a_copy_whose_shards_are_renamed_or_missing(tool: Tool, stale: Path, kind: str, command: str) -> None:
    """No run removes a shard: without temporary files, the record is not that of an interrupted run."""
    other = change_names(stale, kind)
    folders = (stale, other) if kind == "moved" else (stale,)
    before = {path.read_bytes() for path in [*stale.glob("*.gfs"), *other.glob("*.gfs")]}
    if command == "repair" and kind != "lost":
        tool.run("repair", *folders)
    else:
        tool.ok("protect", "-n", "another", *SHAPE, stale.parent / "file", stale)
    assert tool.run("restore", *stale.glob("[!a]*.gfs"), *other.glob("*.gfs"), "-o", "-").raw == content(999)
    after = {path.read_bytes() for path in [*stale.glob("*.gfs"), *other.glob("*.gfs")]}
    assert before <= after or (kind, command) == ("damaged", "repair")


def test_a_hard_link_to_the_change_record(tool: Tool, faulty: Faulty, tmp_path: Path) -> None:
    """Under the name of a record, it must not hide a set that was completed since then and has lost a shard,
    or let the next run remove it."""
    file, out = other_file(tmp_path), tmp_path / "out"
    out.mkdir()
    run = Stopped(faulty("rename:5:STOP"), "protect", *SHAPE, file, out)
    record, link = out / ".gfsmith-shards.change", tmp_path / "link"
    link.hardlink_to(record)
    assert run.resume().status == DONE
    link.rename(record)
    shard(out, 1).unlink()
    assert tool.run("restore", out, "-o", "-").raw == file.read_bytes()
    (tmp_path / "third").write_bytes(b"third")
    tool.ok("protect", *SHAPE, tmp_path / "third", out)
    assert len(list(out.glob("file.*"))) == 5


def test_repair_does_not_replace_a_shard_of_a_newer_set(tool: Tool, faulty: Faulty, tmp_path: Path) -> None:
    """The set is deleted and protected again, under the same generation, while a repair works."""
    out = make_set(tool, tmp_path, content(999))
    flip(shard(out, 1), 600)
    run = Stopped(faulty("pread:20:STOP"), "repair", "-t", "1", out)
    for path in out.glob("*.gfs"):
        path.unlink()
    tool.ok("protect", *SHAPE, other_file(tmp_path), out)
    before = snapshot(out)
    outcome = run.resume()
    assert (outcome.status, outcome.stderr) == (
        REFUSED,
        f"gfsmith-shards: {shard(out, 0)} changed while it was read\n",
    )
    assert snapshot(out) == before


def test_protect_waits_for_no_repair(tool: Tool, faulty: Faulty, tmp_path: Path) -> None:
    out = make_set(tool, tmp_path, content(999))
    flip(shard(out, 1), 600)
    run = Stopped(faulty("rename:1:STOP"), "repair", "-t", "1", out)
    line = tool.refusal("protect", "--force", *SHAPE, other_file(tmp_path), out)
    assert line == f"another run is changing {out}: run one after the other"
    assert run.resume().status == DONE
    assert tool.ok("verify", out) == "file: all 6 shards are intact\n"


@pytest.mark.parametrize("error", ["EACCES", "EMFILE", "ENOMEM"])
def test_repair_does_not_replace_a_shard_that_it_cannot_judge(
    tool: Tool, faulty: Faulty, shards: Path, error: str
) -> None:
    """The shard is intact: this run may not open it, or has no resources for it."""
    before = {path: path.stat().st_ino for path in shards.iterdir()}
    opens = 3  # the shard with index 1; the first two opens are those of the change record
    outcome = faulty(f"open:{opens + 1}:{error}").run("repair", "-t", "1", shards)
    assert outcome.status == REFUSED
    assert outcome.stderr.startswith(f"gfsmith-shards: cannot read {shard(shards, 1)}: ")
    assert outcome.stderr.endswith("; it may be intact\n")
    assert {path: path.stat().st_ino for path in shards.iterdir()} == before


@pytest.mark.parametrize("size", [998, 1200])
def test_input_that_changes_while_it_is_read(faulty: Faulty, tmp_path: Path, size: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(999))
    (tmp_path / "out").mkdir()
    run = Stopped(faulty("pwrite:2:STOP"), "protect", *SHAPE, file, tmp_path / "out")
    os.truncate(file, size)
    outcome = run.resume()
    assert outcome.status == REFUSED
    assert outcome.stderr == f"gfsmith-shards: {file} changed while it was read\n"
    assert snapshot(tmp_path / "out") == {}


@pytest.mark.parametrize("command", ["protect", pytest.param("par2", marks=pytest.mark.needs("par2"))])
def test_input_whose_time_is_set_back(faulty: Faulty, tmp_path: Path, command: str) -> None:
    """The time of its last write is the same, but not that of its last change."""
    file = tmp_path / "file"
    file.write_bytes(content(999))
    before, files = file.stat(), snapshot(tmp_path).keys()
    words: tuple[str | Path, ...] = ("protect", *SHAPE, file, tmp_path)
    if command == "par2":
        words = ("par2", "create", tmp_path / "set.par2", file)
    run = Stopped(faulty("pwrite:2:STOP"), *words)
    flip(file, 500)
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # a clock with long steps
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    outcome = run.resume()
    assert outcome.status == REFUSED and "file changed while it was read\n" in outcome.stderr, outcome
    assert snapshot(tmp_path).keys() == files


def test_standard_input_that_is_a_file_and_changes(faulty: Faulty, tmp_path: Path) -> None:
    file, out = tmp_path / "file", tmp_path / "out"
    file.write_bytes(content(999))
    out.mkdir()
    run = Stopped(faulty("pwrite:2:STOP"), "protect", *SHAPE, "-", out, stdin=file)
    flip(file, 500)
    outcome = run.resume()
    assert outcome == Outcome(REFUSED, "", "gfsmith-shards: - changed while it was read\n")
    assert snapshot(out) == {}


def reading(command: str, folder: Path) -> tuple[Path, tuple[str | Path, ...]]:
    """Return a new file in a folder, and the words that protect it, or create a set of PAR2 of it."""
    file = folder / "file"
    file.write_bytes(content(999))
    if command == "par2":
        return file, ("par2", "create", folder / "set.par2", file)
    return file, ("protect", *SHAPE, file, folder / "out")


@pytest.mark.parametrize("command", ["protect", pytest.param("par2", marks=pytest.mark.needs("par2"))])
def test_mapped_pages_are_written_back_before_a_file_is_read(
    tool: Tool, faulty: Faulty, tmp_path: Path, command: str
) -> None:
    """Only then do changes of these pages set the times of the file. A change before that is no fault."""
    file, words = reading(command, tmp_path)
    run = Stopped(faulty("writeback:1:STOP"), *words)
    flip(file, 500)
    assert run.resume().status == DONE
    if command == "par2":
        assert tool.run("par2", "verify", tmp_path / "set.par2").status == DONE
    else:
        assert tool.run("restore", tmp_path / "out", "-o", "-").raw == file.read_bytes()


@pytest.mark.parametrize("command", ["protect", pytest.param("par2", marks=pytest.mark.needs("par2"))])
def test_mapped_pages_are_written_back_after_a_file_was_read(
    faulty: Faulty, tmp_path: Path, command: str
) -> None:
    """File systems in user space set the times of the file only then. Two write-backs come before."""
    file, words = reading(command, tmp_path)
    run = Stopped(faulty("writeback:3:STOP"), *words)
    flip(file, 500)
    outcome = run.resume()
    assert outcome.status == REFUSED and "file changed while it was read\n" in outcome.stderr, outcome


@pytest.mark.needs("par2")
def test_a_file_that_changes_after_its_first_bytes_were_read(faulty: Faulty, tmp_path: Path) -> None:
    """Its id in a set of PAR2 has their MD5. The third open is that of the folder, for the next read."""
    file = tmp_path / "file"
    file.write_bytes(content(999))
    run = Stopped(faulty("open:3:STOP"), "par2", "create", tmp_path / "set.par2", file)
    flip(file, 500)
    outcome = run.resume()
    assert outcome == Outcome(REFUSED, "", "gfsmith-shards: file changed while it was read\n")


def test_ctrl_c_while_stdin_is_silent(tool: Tool, tmp_path: Path) -> None:
    """A blocked read ends by the signal, with the pool's threads running."""
    with subprocess.Popen(
        [tool.program, "protect", "-t", "3", "-", tmp_path / "out"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while not temporaries_exist(tmp_path / "out", 14):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=DEADLINE) == -signal.SIGINT
        assert process.stderr is not None and process.stderr.read() == b""
    assert list(tmp_path.iterdir()) == []


def temporaries_exist(folder: Path, count: int) -> bool:
    return folder.exists() and len(temporaries(folder)) == count


def test_an_ignored_signal_stays_ignored(faulty: Faulty, shards: Path, tmp_path: Path) -> None:
    """A signal ignored by the parent stays ignored, as under nohup."""

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    plan = faulty("pread:3:HUP")
    outcome = plan.run("restore", shards, "-o", tmp_path / "restored", before=ignore)
    assert outcome.status == DONE
    assert (tmp_path / "restored").read_bytes() == content(999)


def test_tar_ends_though_the_run_ignores_sigterm(tool: Tool, tmp_path: Path) -> None:
    """tar ignores it then, too, and waits for its end of the pipe."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "one").write_bytes(content(1 << 20))

    def limit() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    line = tool.refusal("protect", *SHAPE, folder, tmp_path / "out", before=limit)
    assert line.endswith("File too large")


def test_a_folder_while_sigchld_is_ignored(tool: Tool, tmp_path: Path) -> None:
    """The system keeps no status of children then, and a program inherits this."""

    def ignore() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    folder, again, shards = tmp_path / "folder", tmp_path / "again", tmp_path / "shards"
    folder.mkdir()
    (folder / "one").write_bytes(content(999))
    made = tool.run("protect", *SHAPE, folder, shards, before=ignore)
    restored = tool.run("restore", shards, "-o", again, before=ignore)
    assert (made.status, restored.status) == (DONE, DONE), (made, restored)
    assert snapshot(again) == snapshot(folder)


def test_a_file_for_which_another_process_has_a_lease(faulty: Faulty, shards: Path) -> None:
    """The system ends the lease at the first attempt to open the file, and the second one succeeds."""
    for number in range(1, 1 + len(list(shards.iterdir()))):
        outcome = faulty(f"open:{number}:EAGAIN").run("verify", shards)
        assert outcome.status == DONE, (number, outcome)


def test_a_name_that_the_file_system_refuses(tool: Tool, faulty: Faulty, tmp_path: Path) -> None:
    """Such as bytes that are no UTF-8: the refused run keeps no later one from this folder. The system
    refuses the first rename to such a name, and every attempt to open it."""
    file, shards = tmp_path / "file", tmp_path / "out"
    file.write_bytes(content(999))
    shards.mkdir()
    lines = set()
    for number in range(1, 8):
        plan = faulty(f"rename:1:EILSEQ,open:{number}+:EILSEQ")
        lines.add(plan.refusal("protect", *SHAPE, file, shards).split(str(tmp_path))[0])
        assert list(shards.iterdir()) == []
    assert "cannot create " in lines
    tool.ok("protect", "-q", *SHAPE, file, shards)


@pytest.mark.needs("par2")
def test_new_folders_of_par2_are_permanent(tool: Tool, preload: Path, tmp_path: Path) -> None:
    """A loss of power after the end of the run does not remove them, and their files."""
    inner, log = tmp_path / "outer" / "inner", tmp_path / "flushed"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(content(999))
    tool.ok("par2", "create", "-q", "-r", "100", tmp_path / "set.par2", tmp_path / "outer")
    shutil.rmtree(tmp_path / "outer")
    Tool(tool.program, {"LD_PRELOAD": str(preload), "SHARDS_FLUSHED": str(log)}).ok(
        "par2", "repair", tmp_path / "set.par2"
    )
    flushed = {int(number) for number in log.read_text().split()}
    assert flushed >= {path.stat().st_ino for path in (tmp_path, inner.parent, inner, inner / "file")}


@pytest.mark.needs("par2")
def test_the_second_name_of_a_damaged_file_is_permanent(tool: Tool, preload: Path, tmp_path: Path) -> None:
    """Before another file gets its name: a loss of power leaves one of both names."""
    file, log = tmp_path / "file", tmp_path / "flushed"
    file.write_bytes(content(999))
    tool.ok("par2", "create", "-q", "-r", "100", tmp_path / "set.par2", file)
    flip(file, 500)
    variables = {"LD_PRELOAD": str(preload), "SHARDS_FLUSHED": str(log), "SHARDS_FAULT": "rename:1:STOP"}
    run = Stopped(Tool(tool.program, variables), "par2", "repair", tmp_path / "set.par2")
    assert (tmp_path / "file.1").exists()
    assert str(tmp_path.stat().st_ino) in log.read_text().split()
    assert run.resume().status == DONE
