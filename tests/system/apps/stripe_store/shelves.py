"""Runs of native/shelf.c, which changes the folder of a chunk server, and the contents that may result."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.system.apps.stripe_store.support import DEADLINE

ROOM = "100"


@dataclass(frozen=True, slots=True)
class Run:
    status: int
    lines: tuple[str, ...]
    errors: str

    def done(self) -> list[tuple[str, int]]:
        """Return the changes that are done, with their statuses."""
        words = [line.split() for line in self.lines if line.startswith("done ")]
        return [(word, int(status)) for _, word, status in words]

    def content(self) -> frozenset[str]:
        """Return the stored items."""
        assert self.status == 0, self
        assert not any(line.startswith("damaged") for line in self.lines), self
        have = frozenset(line.split()[1] for line in self.lines if line.startswith("have "))
        (listed,) = (int(line.split()[1]) for line in self.lines if line.startswith("listed "))
        assert listed == sum(word[0] != "n" for word in have), self
        return have


@dataclass(frozen=True, slots=True)
class Shelf:
    program: Path
    folder: Path
    libraries: tuple[Path, ...] = ()

    def run(self, *words: str, room: str = ROOM, variables: Mapping[str, str] | None = None) -> Run:
        preload = {"LD_PRELOAD": ":".join(map(str, self.libraries))} if variables is not None else {}
        done = subprocess.run(
            [self.program, self.folder, room, *words],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            env={**os.environ, **preload, **(variables or {})},
        )
        return Run(done.returncode, tuple(done.stdout.splitlines()), done.stderr)

    def content(self) -> frozenset[str]:
        return self.run("l").content()


def changes(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in (".", "l")]


def after(words: Iterable[str]) -> frozenset[str]:
    """Return the stored items after changes."""
    have: set[str] = set()
    for word in words:
        number = word[1:]
        if word[0] == "w":
            have = {"n0"}
        elif word[0] == "n":
            have = {each for each in have if each[0] != "n"} | {word}
        elif word[0] in "fu":
            have.discard(f"r{number}")
            have = {each for each in have if word[0] == "u" or not each.startswith(f"c{number}:")}
        else:
            have.add(word)
    return frozenset(have)


def prefixes(words: Iterable[str], done: int) -> set[frozenset[str]]:
    """Return the contents after the changes that are done, and after some of the following ones."""
    every = changes(words)
    return {after(every[:count]) for count in range(done, len(every) + 1)}
