"""C programs of tests/system/runtime/native, compiled with the flags of the library."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.support.library import NATIVE
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT


class Compiler:
    """Compiler of the C programs in tests/system/runtime/native, with the flags of the library."""

    INCLUDES = ("-Iruntime/core/include", "-Igen_out", "-Iruntime/core/src")
    FLAGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wshadow")

    def __init__(self, build: Path, output: Path) -> None:
        self.build, self.output = build, output

    def run(self, *command: str) -> None:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, " ".join(command) + "\n" + done.stderr
        assert done.stderr == "", done.stderr

    def link(self, name: str, *flags: str) -> Path:
        """Compile native/<name>.c, and sources among the flags, and link the static library."""
        target = self.output / name
        self.run(
            *("gcc", *self.FLAGS, "-O1", "-g", *self.INCLUDES, str(NATIVE / f"{name}.c"), *flags),
            *("-o", str(target), str(self.build / "libgfsmith.a"), "-pthread"),
        )
        return target

    def compile(self, name: str) -> Path:
        """Compile native/<name>.c without linking."""
        target = self.output / f"{name}.o"
        self.run("gcc", "-O1", *self.INCLUDES, "-c", str(NATIVE / f"{name}.c"), "-o", str(target))
        return target

    def link_error(self, program: Path, mutant: Mutant, sources: Sequence[Path]) -> Path:
        """Link a compiled program with the error in one of the library's sources.

        The linker prefers the wrong source's functions to those of the library.
        """
        _, wrong = plant(mutant, sources, self.output)
        target = self.output / program.stem
        library = str(self.build / "libgfsmith.a")
        files = (str(program), str(wrong), library)
        self.run("gcc", "-O1", *self.INCLUDES, *files, "-pthread", "-o", str(target))
        return target

    def library_with_error(self, mutant: Mutant, sources: Sequence[Path]) -> Path:
        """Link the shared library with the error in one of its sources."""
        _, wrong = plant(mutant, sources, self.output)
        target = self.output / "libwrong.so"
        whole = ("-Wl,--allow-multiple-definition", str(wrong), "-Wl,--whole-archive")
        files = (*whole, str(self.build / "libgfsmith.a"))
        self.run("gcc", "-O1", "-fPIC", "-shared", *self.INCLUDES, *files, "-pthread", "-o", str(target))
        return target


def run_program(program: Path, seconds: float, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program. Raises TimeoutExpired after so many seconds."""
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=seconds)


def detects(program: Path, seconds: float, cpu: int) -> bool:
    """Return whether a test program with an error in the library ends with a failure, or does not end: with
    the argument "brief", or else without it. A signal ends a program that waits busily after `cpu` seconds of
    CPU time, which do not depend on other processes.
    """
    command = ("prlimit", f"--cpu={cpu}", program)
    try:
        return any(
            subprocess.run([*command, *arguments], capture_output=True, timeout=seconds).returncode != 0
            for arguments in (["brief"], [])
        )
    except subprocess.TimeoutExpired:
        return True
