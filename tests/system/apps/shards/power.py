"""A model of a disk that loses power: changes that fsync has not made permanent may be lost.

The program stops before each system call. A name in the folder is permanent after an fsync of the folder, the
contents of a file after an fsync of the file. Of all other changes since then the disk may have any subset.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from tests.system.apps.shards.faults import Program, Scene
from tests.system.apps.shards.support import DONE

#: The contents of the named files.
State = Mapping[str, bytes]


class Disk:
    """The names (with the numbers of their files) and contents that are permanent, and those that are not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.contents: dict[int, bytes] = {}
        self.look()
        self.names = dict(self.now)
        self.safe = dict(self.contents)

    def look(self) -> None:
        """Read the folder; temporary files have contents, but no name that matters."""
        self.now: dict[str, int] = {}
        for path in self.folder.iterdir():
            number = path.stat().st_ino
            self.contents[number] = path.read_bytes()
            if ".gfsmith-shards.tmp." not in path.name:
                self.now[path.name] = number

    def flush(self, number: int) -> None:
        if number == self.folder.stat().st_ino:
            self.names = dict(self.now)
        else:
            self.safe[number] = self.contents[number]

    def states(self) -> Iterator[State]:
        """Yield all that the disk may have after a loss of power."""
        names = sorted({*self.names, *self.now})
        choices = [{self.names.get(name), self.now.get(name)} for name in names]
        for chosen in product(*choices):
            files = [(name, number) for name, number in zip(names, chosen, strict=True) if number is not None]
            contents = [{self.contents[number], self.safe.get(number, b"")} for _, number in files]
            for each in product(*contents):
                yield {name: data for (name, _), data in zip(files, each, strict=True)}


def steps(program: Program, command: tuple[str, ...], disk: Disk) -> Iterator[int | None]:
    """Run the command call by call, and yield None before each call and the status at the end."""
    log = program.folder / "flushed"
    variables = {
        "LD_PRELOAD": str(program.library),
        "SHARDS_FAULT": "call:1+:STOP",
        "SHARDS_FLUSHED": str(log),
    }
    log.write_text("")
    seen = 0
    process = subprocess.Popen(
        [program.path, *command],
        env={**os.environ, **variables},
        cwd=program.folder / "work",
        stdout=subprocess.DEVNULL,
    )
    try:
        while process.returncode is None:
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            disk.look()
            flushed = log.read_text().split()
            for number in flushed[seen:]:
                disk.flush(int(number))
            seen = len(flushed)
            if not os.WIFSTOPPED(status):
                process.returncode = os.waitstatus_to_exitcode(status)
            yield process.returncode
            process.send_signal(signal.SIGCONT)
    finally:
        process.kill()
        process.wait()


def check_every_loss(scene: Scene, old: int, new: int) -> int:
    """Check that each state of the disk has one generation intact, after the end of the program the new one.
    Without a shard of the old one, no record names the new one: the next run would remove that if it had lost
    a shard, too.

    Returns the number of states."""
    scene.reset()
    work = scene.work / "shards"
    disk, done = Disk(work), set[tuple[tuple[str, bytes], ...]]()
    cut = Program(scene.program.path, scene.program.library, scene.program.folder / "cut")
    shards = cut.folder / "work" / "shards"
    for status in steps(scene.program, scene.command, disk):
        for state in disk.states():
            key = tuple(sorted(state.items()))
            if key in done and status is None:
                continue
            done.add(key)
            shutil.rmtree(shards, ignore_errors=True)
            shards.mkdir(parents=True)
            for name, data in state.items():
                (shards / name).write_bytes(data)
            outcome = cut.run("verify", "-t", "1", "--json", "shards")
            assert outcome.status == DONE, (outcome, sorted(state))
            kept = all(path.removeprefix("shards/") in state for path in scene.before if f".g{old}." in path)
            assert kept or not state.get(".gfsmith-shards.change"), sorted(state)
            found = f'"generation": {new},' in outcome.stdout
            assert found or (status is None and f'"generation": {old},' in outcome.stdout), outcome
        assert status in (None, DONE)
    return len(done)
