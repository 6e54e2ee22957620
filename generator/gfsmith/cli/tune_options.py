"""The options of `gfsmith tune` with their checks, and atomic writes of its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gfsmith.build.places import cache_of
from gfsmith.cli import sizes
from gfsmith.cli.console import fail
from gfsmith.emit.files import replacing

LENGTHS = "1k,4k,16k,64k,1m"
#: The defaults of --all, by the options' names.
SURVEY = {"lengths": "1k,16k", "budget": 10, "trials": 7, "final": 31}
_LONGEST = 16 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one call of `gfsmith tune`."""

    path: Path
    lengths: tuple[int, ...]
    regimes: tuple[str, ...]
    budget: int
    trials: int
    final: int
    seed: int
    jobs: int
    target: Path | None
    study: Path | None
    report: Path | None
    recorded: tuple[Path, ...]
    journal: Path | None
    fresh: bool
    as_json: bool
    models: str | None

    @property
    def cache(self) -> Path:
        """The folder of the cached proofs and predictions, next to the configuration file."""
        return cache_of(self.path)

    def tuned_file(self, name: str) -> Path:
        """Return the path of the tuned file of a microarchitecture."""
        return self.target or self.path.parent / "tuned" / f"{name}.toml"


def parse_lengths(text: str) -> tuple[int, ...]:
    """Return the lengths in bytes of a text such as `1k,64k,1m`, ascending. Exits with a one-line message if
    invalid."""
    found = set()
    for word in text.split(","):
        length = sizes.parse(word.strip())
        if length is None or not 64 <= length <= _LONGEST:
            fail(f"--lengths: '{word}' is not a shard length; allowed: 64 .. 16m bytes, such as {LENGTHS}")
        found.add(length)
    return tuple(sorted(found))


def write(path: Path, text: str) -> None:
    """Write a file atomically, through a temporary file. Exits with a one-line message if that fails."""
    try:
        with replacing(path) as stage:
            stage.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror}")
