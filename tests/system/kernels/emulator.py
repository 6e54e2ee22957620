"""Processes of qemu-user that execute kernels. Each request is one line; harness/program/main.c has the
format.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Generic, TypeVar

from tests.system.kernels.emulated import POLYNOMIALS, Emulation, Machine

NM = "llvm-nm-19"

#: Addresses of blocks of instructions in the order of execution.
Trace = list[int]


class Emulator:
    """A process that executes kernels on one CPU."""

    def __init__(
        self, program: Path, emulation: Emulation, tables: Path, options: Sequence[str | Path] = ()
    ) -> None:
        self.emulation = emulation
        self._process = subprocess.Popen(
            [emulation.machine.emulator, "-cpu", emulation.cpu, *options, program, tables],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, request: str) -> tuple[int, str]:
        """Return the number of the answer and its text; -1 if the process has ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        if not self.alive:
            return -1, "the emulated program has ended"
        with suppress(BrokenPipeError):
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        number, _, text = answer.rstrip("\n").partition(" ")
        if re.fullmatch(r"-?\d+", number):
            return int(number), text
        self._process.kill()  # usually it has already ended
        said = self._process.communicate()[1]
        return -1, f"the emulated program ended with status {self._process.returncode}: {answer}{said}"

    def run(self, symbol: str, sweep: str, polynomial: int) -> tuple[int, str]:
        """Return (calls made, ""), or (-1, the failure). Sweeps: see harness/sweeps.c."""
        return self.ask(f"run {symbol} {sweep} {POLYNOMIALS.index(polynomial)}")

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        if self.alive:
            self._process.communicate()


class Tracer(Emulator):
    """A process in which qemu logs the address of every block of instructions that the kernels execute. A
    block has no branch before its end, so equal blocks are equal instructions.

    Functions that a kernel calls, at most memcpy, are not logged.
    """

    def __init__(self, program: Path, emulation: Emulation, tables: Path, symbols: Iterable[str]) -> None:
        first, size = extent(program, symbols)
        log = program.with_name(f"{os.getpid()}.trace")
        options = ("-d", "exec,nochain", "-dfilter", f"{first:#x}+{size:#x}", "-D", log)
        super().__init__(program, emulation, tables, options)
        self._log = log
        self._read = 0

    def traces(self) -> list[Trace]:
        """Return the blocks executed since the last call, one trace for each call of the same kernel."""
        with self._log.open() as file:
            file.seek(self._read)
            text = file.read()
            self._read = file.tell()
        addresses = [int(found, 16) for found in re.findall(r"^Trace .*?\[\w+/(\w+)/", text, re.MULTILINE)]
        starts = [n for n, address in enumerate(addresses) if address == addresses[0]]
        return [addresses[a:b] for a, b in zip(starts, [*starts[1:], len(addresses)], strict=True)]

    def close(self) -> None:
        super().close()
        self._log.unlink(missing_ok=True)


def extent(program: Path, symbols: Iterable[str]) -> tuple[int, int]:
    """Return the first address of some functions of a program, and the bytes from there to the end of the
    last function.
    """
    command = [NM, "-S", str(program)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^(\w+) (\w+) T (\S+)$", listing, re.MULTILINE)
    places = {name: (int(at, 16), int(size, 16)) for at, size, name in found}
    ranges = [(places[symbol][0], sum(places[symbol])) for symbol in symbols]
    first = min(begin for begin, _ in ranges)
    return first, max(end for _, end in ranges) - first


P = TypeVar("P", bound=Emulator)


class Emulators(Generic[P]):
    """The processes for all emulations, one at a time, because each maps many regions of memory."""

    def __init__(self, build: Callable[[Machine], Path], start: Callable[[Path, Emulation], P]) -> None:
        self._build = lru_cache(maxsize=None)(build)
        self._start = start
        self._current: P | None = None

    def process(self, emulation: Emulation) -> P:
        """Return the process for an emulation, a new one if the last one has ended."""
        if self._current is None or self._current.emulation != emulation or not self._current.alive:
            self.close()
            self._current = self._start(self._build(emulation.machine), emulation)
        return self._current

    def close(self) -> None:
        if self._current is not None:
            self._current.close()
            self._current = None
