"""Programs that a prediction needs: LLVM's compiler, disassembler and machine code analyser."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gfsmith.build.requirements import Level, remedy, requirements

MCA = "llvm-mca-19"
COMPILER = "clang-19"
DISASSEMBLER = "llvm-objdump-19"


class ModelError(ValueError):
    """An invalid request for a prediction. The message gives the reason and the allowed values."""


class Unavailable(ModelError):
    """No prediction can be made for a kernel on this machine. The message gives the reason."""


class ToolMissing(Unavailable):
    """A program is not installed. The message contains the command that installs it."""


def available(name: str = MCA) -> bool:
    """Return whether a program is installed."""
    return shutil.which(name) is not None


def run(
    name: str, arguments: Sequence[str | Path], text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program with `text` as its input. Raises ToolMissing."""
    if not available(name):
        needed = next(r for r in requirements(Level.TEST_ALL) if r.name == name)
        raise ToolMissing(f"{name} is missing ({needed.purpose}); get it with: {remedy(needed)}")
    return subprocess.run(
        [name, *map(str, arguments)], input=text, cwd=folder, capture_output=True, text=True, check=False
    )
