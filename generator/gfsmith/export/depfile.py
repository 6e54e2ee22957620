"""Dependency files of exports, in the format of compilers, for make, Ninja and CMake."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gfsmith.build.output import OutputError
from gfsmith.emit.files import replacing, share

_PACKAGE = Path(__file__).resolve().parents[1]
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


def _spelled(path: Path) -> str:
    return _SPECIAL.sub(r"\\\1", str(path)).replace("$", "$$")
