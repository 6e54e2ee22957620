"""Dependency files of exports, in the format of compilers, for make, Ninja and CMake."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gfsmith.build.output import OutputError
from gfsmith.emit.files import replacing, share

_PACKAGE = Path(__file__).resolve().parents[1]
_ALWAYS = f"/{_PACKAGE.name}/__init__.py"  #: the end of a dependency of every rule
_LINE = 1 << 16  #: the longest first line that is read
_SPECIAL = re.compile(r"([ #])")


def depfile(path: Path, target: Path, inputs: Sequence[Path]) -> None:
    """Write `path`: a rule by which `target` depends on `inputs` and on all of the generator.

    Each dependency is also a target without a rule, so a deleted file is not an error. Raises OutputError.
    """
    sources = [*_PACKAGE.rglob("*.py"), *share("templates").iterdir(), *share("runtime").glob("*/*/*.[hc]")]
    needed = [_spelled(source) for source in (*inputs, *sorted(sources))]
    rule = " \\\n  ".join([f"{_spelled(target)}:", *needed]) + "\n"
    text = rule + "".join(f"\n{source}:\n" for source in needed)
    try:
        with replacing(path) as stage:
            stage.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from None


def is_depfile(path: Path) -> bool:
    """Return whether a file is a rule of this module: its first line is a target, and gfsmith is among the
    dependencies."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline(_LINE).endswith(": \\\n") and any(_ALWAYS in line for line in file)


def _spelled(path: Path) -> str:
    return _SPECIAL.sub(r"\\\1", str(path)).replace("$", "$$")
