"""Runs clients of package registries and build tools, which fetch the work of other projects."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path


class Unavailable(Exception):
    """A program or package of another project is not available on this machine; the text states why."""


def run_client(command: Sequence[str | Path], cwd: Path, advice: str = "") -> None:
    """Run a client in a folder. Raises Unavailable, with `advice`, if the client is missing or fails."""
    words = [str(word) for word in command]
    if shutil.which(words[0]) is None:
        raise Unavailable(f"{words[0]} is missing: {advice or '`gfsmith doctor` shows how to install it'}")
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-500:]
        raise Unavailable("\n".join(line for line in (f"{' '.join(words)} failed", advice, said) if line))
