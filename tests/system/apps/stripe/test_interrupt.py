"""A run that is interrupted at any system call loses nothing.

A fault stops the program right before the n-th call of a function, for n = 1, 2, 3 ... until a run ends
without reaching the n-th call. This covers every point of every command, without a clock.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.levels import first
from tests.system.apps.stripe.support import (
    DEADLINE,
    DONE,
    REFUSED,
    Outcome,
    Stripe,
    content,
    default_signals,
    flip,
    make_set,
    shard,
    snapshot,
    temporaries,
)

CALLS = ("mkstemp", "pread", "pwrite", "fsync", "rename")
SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP}
SHAPE = ("-k", "4", "-m", "2", "-b", "64")

Faulty = Callable[[str], Stripe]


class Scene:
    """A folder that is recreated before each run, and the files that it may contain afterwards."""

    def __init__(self, stripe: Stripe, root: Path, command: str, size: int = 999) -> None:
        self.stripe = stripe
        self.command = command
        self.folder = root / "scene"
        self.data = content(size)
        self.good = make_set(stripe, root / "good", self.data)
        self.old = make_set(stripe, root / "old", content(777, seed=9))
        self.file = root / "good" / "file"
        self.want = snapshot(self.good)
        self.before: dict[str, str] = {}
        self.outputs = {"repair": 2, "join": 1}.get(command, 6)

    def set_up(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        if self.command == "split --force":
            shutil.copytree(self.old, self.folder, dirs_exist_ok=True)
        if self.command in ("repair", "join"):
            shutil.copytree(self.good, self.folder, dirs_exist_ok=True)
            shard(self.folder, 1).unlink()
            flip(shard(self.folder, 4), -1)
        self.before = snapshot(self.folder)

    @property
    def arguments(self) -> tuple[str | Path, ...]:
        match self.command:
            case "repair":
                return ("repair", self.folder)
            case "join":
                return ("join", "--force", self.folder, "-o", self.folder / "joined")
            case _:
                return (*self.command.split(), *SHAPE, self.file, self.folder)

    def check_nothing_lost(self) -> None:
        """Check that every shard has its old or its new contents, complete, and that the original is
        unchanged.
        """
        assert self.file.read_bytes() == self.data
        after = snapshot(self.folder)
        assert set(self.before) <= set(after)
        for name, digest in after.items():
            if name == "joined":
                assert (self.folder / name).read_bytes() == self.data
            elif not name.startswith(".stripe.tmp."):
                assert digest in (self.before.get(name), self.want[name]), name

    def check_second_run(self) -> None:
        again = list(self.arguments)
        if self.command == "split":
            again.insert(1, "--force")
        self.stripe.ok(*again)
        wanted = snapshot(self.folder)
        for name, digest in self.want.items():
            if self.command != "join":
                assert wanted[name] == digest
        if self.command == "join":
            assert (self.folder / "joined").read_bytes() == self.data


@pytest.fixture(params=["split", "split --force", "repair", "join"])
def scene(request: pytest.FixtureRequest, stripe: Stripe, tmp_path: Path) -> Scene:
    return Scene(stripe, tmp_path, request.param)


def runs(scene: Scene, faulty: Faulty, call: str, what: str) -> Iterator[Outcome]:
    """Yield one outcome for each point at which the fault can occur."""
    for n in itertools.count(1):
        scene.set_up()
        outcome = faulty(f"{call}:{n}:{what}").run(*scene.arguments)
        if outcome.status == DONE:
            assert n > 1, f"{call} is never called"
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
        # All calls except the renames and the flush of the folder come before the first rename.
        if call != "rename" and not (call == "fsync" and number > scene.outputs):
            assert snapshot(scene.folder) == scene.before


@pytest.mark.parametrize("call", ["pread", "pwrite"])
@pytest.mark.parametrize("command", ["split", "repair", "join"])
def test_a_signal_ends_the_work_soon(
    stripe: Stripe, faulty: Faulty, tmp_path: Path, command: str, call: str
) -> None:
    """The run ends with the current stripe: within 6 calls of a kind, well before the fatal one."""
    scene = Scene(stripe, tmp_path, command, size=20_000)
    scene.set_up()
    outcome = faulty(f"{call}:8:INT,{call}:16:KILL").run(*scene.arguments)
    assert outcome.status == -signal.SIGINT
    assert snapshot(scene.folder) == scene.before


@pytest.mark.parametrize("call", ["mkstemp", "pwrite", "fsync", "rename"])
def test_errors_at_every_call(scene: Scene, faulty: Faulty, call: str) -> None:
    number = 0
    for number, outcome in enumerate(runs(scene, faulty, call, "ENOSPC"), 1):
        assert outcome.status == REFUSED
        assert outcome.stderr.startswith("stripe: cannot ")
        assert outcome.stderr.endswith(": No space left on device\n")
        assert outcome.stderr.count("\n") == 1
        assert str(scene.folder) in outcome.stderr
        assert temporaries(scene.folder) == []
        scene.check_nothing_lost()
        if call in ("mkstemp", "pwrite") or (call == "rename" and number == 1):
            assert snapshot(scene.folder) == scene.before
        if call == "rename" and scene.command == "split":
            assert snapshot(scene.folder) == scene.before  # the renames are undone
    if call == "fsync":
        assert number == scene.outputs + 1  # the fsync of the folder counts, too


def test_unreadable_input(stripe: Stripe, faulty: Faulty, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(999))
    (tmp_path / "out").mkdir()
    shape = (*SHAPE, file, tmp_path / "out")
    line = faulty("pread:2:EIO").refusal("split", *shape)
    assert line == f"cannot read {file}: Input/output error"
    assert snapshot(tmp_path / "out") == {}


def test_a_read_error_after_the_scan_stops_the_repair(stripe: Stripe, faulty: Faulty, shards: Path) -> None:
    """Reads: 5 headers, 5 shards times 4 stripes, then the stripes for the repair."""
    shard(shards, 1).unlink()
    before = snapshot(shards)
    outcome = faulty("pread:27:EIO").run("repair", shards)
    assert outcome.status == REFUSED
    assert outcome.stderr == f"stripe: cannot read {shard(shards, 2)}: Input/output error\n"
    assert snapshot(shards) == before


class Stopped:
    """The program, stopped right before a call; `resume` continues it until its end."""

    def __init__(self, stripe: Stripe, *arguments: str | Path) -> None:
        self.process = subprocess.Popen(
            [stripe.program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **stripe.environment},
            preexec_fn=default_signals,
        )
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def resume(self, *signals: signal.Signals) -> Outcome:
        for each in (*signals, signal.SIGCONT):
            self.process.send_signal(each)
        out, err = self.process.communicate(timeout=DEADLINE)
        return Outcome(self.process.returncode, out.decode(), err.decode())


def test_temporary_files_have_unique_names_in_the_folder_of_the_shards(
    stripe: Stripe, faulty: Faulty, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(content(999))
    (tmp_path / "out").mkdir()
    arguments = ("split", *SHAPE, tmp_path / "file", tmp_path / "out")
    first = Stopped(faulty("pwrite:5:STOP"), *arguments)
    assert len(temporaries(tmp_path / "out")) == 6
    second = Stopped(faulty("pwrite:5:STOP"), *arguments)
    assert len(temporaries(tmp_path / "out")) == 12
    assert not any(path.suffix == ".gfs" for path in (tmp_path / "out").iterdir())
    assert first.resume(signal.SIGINT).status == -signal.SIGINT
    assert len(temporaries(tmp_path / "out")) == 6
    assert second.resume().status == DONE
    assert temporaries(tmp_path / "out") == []
    stripe.ok("verify", tmp_path / "out")


def test_a_shard_that_appears_meanwhile_is_not_replaced(faulty: Faulty, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content(999))
    out = tmp_path / "out"
    out.mkdir()
    run = Stopped(faulty("pwrite:5:STOP"), "split", *SHAPE, tmp_path / "file", out)
    shard(out, 3).write_text("mine")
    outcome = run.resume()
    assert outcome.status == REFUSED
    assert outcome.stderr == f"stripe: {shard(out, 3)} already exists (--force replaces it)\n"
    assert [path.name for path in out.iterdir()] == ["file.003.gfs"]
    assert shard(out, 3).read_text() == "mine"


@pytest.mark.parametrize(("size", "why"), [(998, "became shorter"), (1200, "changed")])
def test_input_that_changes_while_it_is_read(faulty: Faulty, tmp_path: Path, size: int, why: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(999))
    (tmp_path / "out").mkdir()
    run = Stopped(faulty("pwrite:2:STOP"), "split", *SHAPE, file, tmp_path / "out")
    os.truncate(file, size)
    outcome = run.resume()
    assert outcome.status == REFUSED
    assert outcome.stderr == f"stripe: {file} {why} while it was read\n"
    assert snapshot(tmp_path / "out") == {}


def test_an_ignored_signal_stays_ignored(faulty: Faulty, shards: Path, tmp_path: Path) -> None:
    """A signal ignored by the parent stays ignored, as under nohup."""

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    plan = faulty("pread:3:HUP")
    outcome = plan.run("join", shards, "-o", tmp_path / "joined", before=ignore)
    assert outcome.status == DONE
    assert (tmp_path / "joined").read_bytes() == content(999)
