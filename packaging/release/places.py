"""Folders and constants of one release, and the commands that its steps run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: The time of every file in the artifacts: 1980-01-01, the first that a zip archive can record.
EPOCH = 315_532_800


class ReleaseError(Exception):
    """A release that cannot be built; the text is one line."""


@dataclass(frozen=True, slots=True)
class Places:
    """root: the checkout. work: temporary files. out: the artifacts. version: that of gfsmith."""

    root: Path
    work: Path
    out: Path
    version: str

    @property
    def source(self) -> Path:
        """The clean clone."""
        return self.work / "source"

    def folder(self, name: str) -> Path:
        """Return a new empty folder for a step."""
        made = self.work / name
        made.mkdir(parents=True)
        return made


def run(
    *command: str | Path, cwd: Path, path: str | None = None, variables: Mapping[str, str] | None = None
) -> str:
    """Return the standard output of a command. path: PYTHONPATH. Raises ReleaseError with its last line."""
    own = Path(sys.executable).parent
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    environment |= {
        "SOURCE_DATE_EPOCH": str(EPOCH),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PATH": f"{own}{os.pathsep}{os.environ['PATH']}",
        **({"PYTHONPATH": path} if path else {}),
        **(variables or {}),
    }
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        log = cwd / "failed.log"
        log.write_text("\n".join(lines) + "\n", encoding="utf-8")
        reason = lines[-1] if lines else f"exit status {done.returncode}"
        raise ReleaseError(f"{Path(str(command[0])).name}: {reason}; all lines: {log}")
    return done.stdout
