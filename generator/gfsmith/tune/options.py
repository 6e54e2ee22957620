"""The flags of `gfsmith tune`, checked, and files written whole or not at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gfsmith.console import fail
from gfsmith.files import replacing

LENGTHS = "1k,4k,16k,64k,1m"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}
_LONGEST = 16 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of one call."""

    path: Path
    lengths: str
    regimes: tuple[str, ...]
    budget: int
    trials: int
    final: int
    seed: int
    jobs: int
    target: Path | None
    study: Path | None
    report: Path | None
    journal: Path | None
    fresh: bool
    as_json: bool
    models: str | None

    @property
    def cache(self) -> Path:
        """The folder where proofs and predictions are kept: beside the configuration file."""
        return self.path.parent / ".gfsmith-cache"

    def tuned_file(self, name: str) -> Path:
        """Where what was found for a microarchitecture is written."""
        return self.target or self.path.parent / "tuned" / f"{name}.toml"


def parse_lengths(text: str) -> tuple[int, ...]:
    """`1k,64k,1m` -> bytes, in ascending order. Ends with one line for what is none."""
    found = set()
    for word in text.split(","):
        match = re.fullmatch(r"([1-9]\d{0,8})([km]?)", word.strip().lower())
        length = int(match[1]) * _UNITS[match[2]] if match else 0
        if not 64 <= length <= _LONGEST:
            fail(f"--lengths: '{word}' is not a block length; allowed: 64 .. 16m bytes, such as {LENGTHS}")
        found.add(length)
    return tuple(sorted(found))


def write(path: Path, text: str) -> None:
    """Through a temporary file, so that there is all of it or nothing."""
    try:
        with replacing(path) as stage:
            stage.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{error.filename or path}: {error.strerror}", 1)
