"""Programs that execute a refuted kernel and show the fault.

A program is linked with the object of its kernel. KERNEL is the kernel's name, ARGUMENTS the names of its
arguments. A program prints one line and returns 0 if it shows the fault, SKIPPED if the CPU lacks the
instructions, otherwise 1.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from gfsmith.verify.contracts import Task
from gfsmith.verify.functions import Description

HERE = Path(__file__).resolve().parent
SKIPPED = 77
_FLAGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wl,-z,noexecstack")
_SECONDS = 60


def reproduce(task: Task, report: Report) -> str:
    """Return the output of the program of a refuted function; "" if there is none, or it shows nothing."""
    name = task.entry.more.get("reproduction")
    if name is None or report.status is not Status.REFUTED:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        if not _link(HERE / str(name), task, program):
            return ""
        done = subprocess.run([program], capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode == SKIPPED:
        return "not on this CPU, which lacks the instructions"
    return done.stdout.strip() if done.returncode == 0 else ""


def _macros(words: Description) -> Iterator[str]:
    yield f"-DKERNEL={words.symbol}"
    yield f"-DARGUMENTS={words.arguments.replace(':int', '')}"


def _link(source: Path, task: Task, program: Path) -> bool:
    """Compile a program and link it with the kernel's object, which may be COFF. Return True on success."""
    kernel = program.with_suffix(".o")
    commands: tuple[list[str | Path], ...] = (
        ["objcopy", "-O", "elf64-x86-64", task.path, kernel],
        ["gcc", *_FLAGS, *_macros(task.entry.words), source, kernel, "-o", program],
    )
    return all(subprocess.run(command, capture_output=True).returncode == 0 for command in commands)
