"""The tests of runtime/core execute the promised share of its lines and branches."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT


def test_the_targets_are_reached(build: Path) -> None:
    """The lists of a tuned build are empty here, so that a table without gaps would be wrong."""
    command = [sys.executable, "tools/coverage.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^(\S+) +lines +([0-9.]+) % +branches +([0-9.]+) %$", done.stdout, re.MULTILINE)
    shares = {name: (float(lines), float(branches)) for name, lines, branches in rows}
    lines, branches = shares["all"]
    assert lines >= 95.0 and branches >= 90.0
    assert max(shares["runtime/core/src/tuned.c"]) < 50.0
    assert len(shares) > 40
