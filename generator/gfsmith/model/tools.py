"""The programs that a prediction needs: LLVM's compiler, disassembler and machine code analyser."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gfsmith import doctor

MCA = "llvm-mca-19"
COMPILER = "clang-19"
DISASSEMBLER = "llvm-objdump-19"


class ModelError(ValueError):
    """A prediction that cannot be asked for; the message says why and what is allowed."""


class Unavailable(ModelError):
    """No prediction can be made of a kernel here; the message says why."""


class ToolMissing(Unavailable):
    """A program is not installed; the message names the command that gets it."""


def available(name: str = MCA) -> bool:
    """Whether a program is installed."""
    return shutil.which(name) is not None


def run(
    name: str, arguments: Sequence[str | Path], text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A program with `text` as its input. Raises ToolMissing."""
    if not available(name):
        needed = next(r for r in doctor.requirements(doctor.Level.TEST) if r.name == name)
        raise ToolMissing(f"{name} is missing ({needed.purpose}); get it with: {doctor.remedy(needed)}")
    return subprocess.run(
        [name, *map(str, arguments)], input=text, cwd=folder, capture_output=True, text=True, check=False
    )
