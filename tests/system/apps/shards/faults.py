"""Runs of gfsmith-shards with one fault each, at every system call and every allocation.

A scene is a folder before a command, and the command. After a run with a fault, the scene is checked: one
complete set exists, and the output of the program names its generation.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.system.apps.shards.support import DEADLINE, DONE, REFUSED, WRONG, Outcome, content, flip, snapshot

SHAPE = ("-t", "1", "-k", "2", "-m", "2", "-b", "64")
RECORD = "shards/.gfsmith-shards.change"
BUSY = "another run is changing shards: run one after the other\n"
CLEANUP = 40  # the most calls of a program after it has failed
NEW, OLD = content(200), content(130, seed=2)


@dataclass(frozen=True, slots=True)
class Program:
    """The program and the library of native/fault.c, in a folder of their own."""

    path: Path
    library: Path
    folder: Path

    def run(self, *arguments: str, plan: str = "", count: Path | None = None) -> Outcome:
        variables = {"LD_PRELOAD": str(self.library)} if plan or count else {}
        if plan:
            variables["SHARDS_FAULT"] = plan
        if count:
            variables["SHARDS_COUNT"] = str(count)
        done = subprocess.run(
            [self.path, *arguments],
            capture_output=True,
            env={**os.environ, **variables},
            cwd=self.folder / "work",
            timeout=DEADLINE,
        )
        return Outcome(
            done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        )

    def ok(self, *arguments: str) -> str:
        outcome = self.run(*arguments)
        assert (outcome.status, outcome.stderr) == (DONE, ""), outcome
        return outcome.stdout


class Scene(ABC):
    """The folder `before`, and `work`, in which the commands run."""

    command: tuple[str, ...]

    def __init__(self, program: Program) -> None:
        self.program = program
        self.work = program.folder / "work"
        self.work.mkdir(parents=True)
        self.prepare()
        self.work.rename(program.folder / "before")
        self.reset()
        self.before = snapshot(self.work)
        self.program.ok(*self.command)
        self.after = self.visible()

    @abstractmethod
    def prepare(self) -> None:
        """Fill the folder `work`."""

    @abstractmethod
    def check(self, outcome: Outcome) -> None:
        """Check the folder and the output after a run with a fault."""

    def again(self) -> None:
        """Run the command without a fault, and check its result."""
        self.program.ok(*self.command)
        assert self.visible() == self.after

    def reset(self) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.program.folder / "before", self.work)

    def visible(self) -> dict[str, str]:
        """Return the files but temporary ones and an empty change record, which a killed program leaves."""
        files = snapshot(self.work)
        if (self.work / RECORD).exists() and (self.work / RECORD).stat().st_size == 0:
            del files[RECORD]
        return {name: digest for name, digest in files.items() if ".gfsmith-shards.tmp." not in name}

    def points(self, call: str, before: str = "") -> range:
        """Return the numbers of the calls of a run; with a fault `before`, only those after it."""
        self.reset()
        count = self.program.folder / "count"
        self.program.run(*self.command, plan=before, count=count)
        calls, allocations = map(int, count.read_text().split())
        total = allocations if call == "alloc" else calls
        # The plan of the second fault does not count the call that the first one has struck.
        return range(max(1, total - CLEANUP), total) if before else range(1, total + 1)

    def runs(self, mode: str) -> Iterator[str]:
        """Run the command with each fault of a mode, check, and yield the plan of the run."""
        *before, fault = mode.split(",")
        call, what = fault.split(":")
        onward = "+" if what.endswith("+") else ""
        for n in self.points(call, *before):
            plan = ",".join((*before, f"{call}:{n}{onward}:{what.rstrip('+')}"))
            self.reset()
            outcome = self.program.run(*self.command, plan=plan)
            try:
                self.check_status(outcome, what)
                self.check(outcome)
                if outcome.status == REFUSED and not onward and not before:
                    self.check_nothing_left(outcome)
                if what == "KILL" or onward:
                    self.again()
            except AssertionError as error:
                error.add_note(f"{self.command} with {plan}: {outcome}\n{sorted(snapshot(self.work))}")
                raise
            yield plan

    def check_status(self, outcome: Outcome, what: str) -> None:
        """Check the exit status, that a refusal has one line, and that it leaves no temporary file."""
        if what == "KILL":
            assert outcome.status == -signal.SIGKILL
            return
        if what == "SHORT":
            assert outcome.status == DONE
        assert outcome.status in (DONE, REFUSED)
        lines = outcome.stderr.splitlines()
        assert len(lines) == (outcome.status == REFUSED)
        assert all(line.startswith("gfsmith-shards: ") for line in lines)

    def check_nothing_left(self, outcome: Outcome) -> None:
        """Check that a refused run, which could clean up, has left no file of its own."""
        made = self.visible().keys() - self.before.keys()
        if RECORD in outcome.stderr:  # another run may own the record, so it and its folder stay
            made.discard("shards")
        assert not made or outcome.stdout != ""
        assert not any(".tmp." in name for name in snapshot(self.work).keys() - self.before.keys())


class Protect(Scene):
    """A new set, in an empty folder."""

    command = ("protect", *SHAPE, "file", "shards")
    length = len(NEW)

    def prepare(self) -> None:
        (self.work / "file").write_bytes(NEW)
        (self.work / "shards").mkdir()

    def generation(self) -> int:
        """Return the generation that `verify` finds intact, and 0 for none."""
        outcome = self.program.run("verify", "-t", "1", "--json", "shards")
        if outcome.status == REFUSED:
            assert "is incomplete" in outcome.stderr or "no shard files" in outcome.stderr, outcome
            return 0
        assert outcome.status == DONE, outcome
        state = json.loads(outcome.stdout)
        generation, length = state["generation"], state["length"]
        assert isinstance(generation, int)
        assert length == (len(OLD) if generation == self.old_generation() else self.length)
        return generation

    def newest(self, text: str) -> int:
        found = re.search(r" shards in shards, generation (\d+)\n", text)
        return int(found[1]) if found else 0

    def check(self, outcome: Outcome) -> None:
        files = snapshot(self.work)
        old, new = self.old_generation(), self.old_generation() + 1
        found = self.generation() if (self.work / "shards").exists() else 0
        assert found in (old, new)
        said = self.newest(outcome.stdout)
        if outcome.status == DONE:
            assert said == new
            assert self.visible().keys() == self.after.keys()
        if outcome.status >= 0:
            assert found == (said or old)
        if found == old:
            kept = {name for name in self.before if f".g{new}." not in name and name != RECORD}
            assert all(files[name] == self.before[name] for name in kept)
            if any(f".g{new}." in name for name in files):
                assert RECORD in self.visible()  # so these shards do not count

    def old_generation(self) -> int:
        return 0

    def again(self) -> None:
        # tar has a copy of the killed run's lock until Linux has ended the system call that starts it.
        command = ("protect", "--force", *self.command[1:])
        while (outcome := self.program.run(*command)).stderr.endswith(BUSY):
            time.sleep(0.01)
        assert (outcome.status, outcome.stderr) == (DONE, ""), outcome
        out = outcome.stdout
        assert self.generation() == self.newest(out)
        assert {path.name for path in (self.work / "shards").iterdir() if ".tmp." not in path.name} == {
            f"{self.name()}.g{self.newest(out)}.{i:03d}.gfs" for i in range(4)
        }

    def name(self) -> str:
        return "file"


class NewFolder(Protect):
    """A new set, in a folder that does not exist."""

    def prepare(self) -> None:
        (self.work / "file").write_bytes(NEW)


class Force(Protect):
    """The next generation."""

    command = ("protect", "--force", *SHAPE, "file", "shards")

    def prepare(self) -> None:
        super().prepare()
        (self.work / "file").write_bytes(OLD)
        self.program.ok("protect", *SHAPE, "file", "shards")
        (self.work / "file").write_bytes(NEW)

    def old_generation(self) -> int:
        return 1

    def again(self) -> None:
        out = self.program.ok(*self.command)
        assert self.generation() == self.newest(out)
        assert {path.name for path in (self.work / "shards").iterdir() if ".tmp." not in path.name} == {
            f"file.g{self.newest(out)}.{i:03d}.gfs" for i in range(4)
        }


class AfterKill(Force):
    """The next generation, after a run that was killed between two renames."""

    def prepare(self) -> None:
        super().prepare()
        assert self.program.run(*self.command, plan="rename:4:KILL").status == -signal.SIGKILL
        assert (self.work / RECORD).exists()


class Folder(Protect):
    """A new set of a folder."""

    command = ("protect", "-t", "1", "-k", "2", "-m", "2", "-b", "8192", "tree", "shards")
    length = 10240  # GNU tar fills its records of 20 blocks

    def prepare(self) -> None:
        (self.work / "tree").mkdir()
        (self.work / "tree" / "file").write_bytes(NEW)
        (self.work / "shards").mkdir()

    def name(self) -> str:
        return "tree"


class Repair(Scene):
    """A missing and a damaged shard."""

    command = ("repair", "-t", "1", "shards")

    def prepare(self) -> None:
        (self.work / "file").write_bytes(NEW)
        self.program.ok("protect", *SHAPE, "file", "shards")
        (self.work / "shards" / "file.g1.001.gfs").unlink()
        flip(self.work / "shards" / "file.g1.002.gfs", 600)

    def check(self, outcome: Outcome) -> None:
        files = snapshot(self.work)
        for name in self.after.keys() - {RECORD}:
            assert files.get(name) in (self.before.get(name), self.after[name])
        verified = self.program.run("verify", "-t", "1", "shards").status
        assert verified in (DONE, WRONG)
        if outcome.status == DONE:
            assert verified == DONE
            assert self.visible() == self.after
        if outcome.status >= 0:
            rebuilt = set(re.findall(r"^(\S+): rebuilt$", outcome.stdout, re.MULTILINE))
            changed = {
                name for name in files if name.endswith(".gfs") and files[name] != self.before.get(name)
            }
            assert changed <= rebuilt


class RepairAfterKill(Repair):
    """A damaged shard, and the rest of a `protect --force` that was killed."""

    def prepare(self) -> None:
        super().prepare()
        self.program.run("protect", "--force", *SHAPE, "file", "shards", plan="rename:4:KILL")
        assert (self.work / RECORD).exists()


class Restore(Scene):
    """A file that replaces an older one."""

    command = ("restore", "-t", "1", "--force", "shards", "-o", "out")

    def prepare(self) -> None:
        (self.work / "file").write_bytes(NEW)
        self.program.ok("protect", *SHAPE, "file", "shards")
        (self.work / "out").write_bytes(OLD)

    def check(self, outcome: Outcome) -> None:
        files = self.visible()
        assert files in (self.before, self.after)
        if outcome.status == DONE:
            assert files == self.after
        if outcome.status >= 0:
            assert (files == self.after) == ("out: " in outcome.stdout)


class RestoreFolder(Restore):
    """A folder at a new path."""

    command = ("restore", "-t", "1", "shards", "-o", "out")

    def prepare(self) -> None:
        (self.work / "tree").mkdir()
        (self.work / "tree" / "file").write_bytes(NEW)
        self.program.ok(*Folder.command)

    def again(self) -> None:
        if not (self.work / "out").exists():
            super().again()


#: `make test` runs the first four.
SCENES: tuple[type[Scene], ...] = (
    Force,
    AfterKill,
    Repair,
    Restore,
    Protect,
    NewFolder,
    Folder,
    RepairAfterKill,
    RestoreFolder,
)
#: CALL:ACTION of native/fault.c; "+": the n-th call and all later ones.
MODES = ("call:KILL", "call:EIO", "call:EIO+", "call:SHORT", "alloc:ENOMEM", "alloc:ENOMEM+")
#: A second fault while the program undoes its renames, after the fourth one or the end of the record failed.
UNDO = ("rename:4:EIO,call:KILL", "rename:4:EIO,call:EIO", "unlink:1:EIO,call:KILL", "unlink:1:EIO,call:EIO")
