"""The tests of runtime/ execute the promised share of its lines and branches.

`make test-all` measures the core, `make test-long` the two small parts. `make coverage` also measures the
parts whose tests take longer.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.levels import sample
from tests.support.paths import ROOT
from tools.coverage.parts import PARTS, TARGETS


def measured(part: str) -> dict[str, tuple[float, float]]:
    """File, or runtime/`part` for all files -> percent of its lines and of its branches."""
    command = [sys.executable, "-m", "tools.coverage", part]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^(\S+) +lines +([0-9.]+) % +branches +([0-9.]+) %$", done.stdout, re.MULTILINE)
    return {name: (float(lines), float(branches)) for name, lines, branches in rows}


@pytest.mark.parametrize("part", sample(["core", "isal", "shards"], "core"))
def test_the_shares_are_reached(build: Path, part: str) -> None:
    shares = measured(part)
    lines, branches = shares.pop(f"runtime/{part}")
    assert lines >= TARGETS[0] and branches >= TARGETS[1]
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "runtime" / part / "src").glob("*.c")}
    assert len(shares.keys() & sources) >= len(sources) - len(PARTS[part].elsewhere)
    if part == "core":
        # GFSMITH_CPU is not set here, so that a table without gaps would be wrong.
        assert max(shares["runtime/core/src/tuned.c"]) < 90.0
