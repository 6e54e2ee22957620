"""The driver as an object that takes commands and returns answers."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from bench.adaptive.build import Built
from bench.adaptive.plan import CODE, Cell, Setting, plan_line
from bench.run import RunError


class Measures(Protocol):
    """Driver functions that a measurement needs; tests use a fake without a clock."""

    def cell(self, slot: int, cell: Cell, who: Sequence[str], code: str = CODE) -> dict[str, str]: ...
    def add(self, slot: int, name: str) -> None: ...
    def calibrate(self, slot: int, name: str, threads: int, microseconds: int) -> int: ...
    def sample(self, slot: int, name: str, threads: int, lead: int, count: int) -> float: ...
    def policy(self, slot: int, name: str) -> str: ...
    def close(self, slot: int) -> None: ...


class Driver:
    """A running driver. All methods raise RunError if it stops, for example because of wrong bytes."""

    def __init__(self, built: Built, setting: Setting, trace: Path | None = None) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        command = [str(built.driver), str(setting.pool), str(setting.stagger), setting.pages]
        command += ["-" if trace is None else str(trace), f"isal={built.isal}", f"packets={built.packets}"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._errors, text=True)

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _ask(self, *words: object) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(" ".join(map(str, words)) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            answer: dict[str, Any] = json.loads(line) if line else {}
        except BrokenPipeError:
            line, answer = "", {}
        if not line or self._process.poll() is not None:
            status = self._process.wait()
            self._errors.seek(0)
            text = self._errors.read().strip().splitlines()
            raise RunError(text[-1] if text else f"the driver ended with status {status}")
        return answer

    def cell(self, slot: int, cell: Cell, who: Sequence[str], code: str = CODE) -> dict[str, str]:
        """Open a cell with its contenders; return the missing contenders with the reasons."""
        missing: dict[str, str] = self._ask("cell", slot, plan_line(cell, who, code))["unavailable"]
        return missing

    def add(self, slot: int, name: str) -> None:
        self._ask("add", slot, name)

    def calibrate(self, slot: int, name: str, threads: int, microseconds: int) -> int:
        return int(self._ask("calibrate", slot, name, threads, microseconds)["count"])

    def sample(self, slot: int, name: str, threads: int, lead: int, count: int) -> float:
        """Return nanoseconds per stripe, over all threads."""
        return float(self._ask("sample", slot, name, threads, lead, count)["ns"])

    def policy(self, slot: int, name: str) -> str:
        return str(self._ask("policy", slot, name)["policy"])

    def close(self, slot: int) -> None:
        self._ask("close", slot)
