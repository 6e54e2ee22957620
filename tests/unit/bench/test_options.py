"""The programs that measure refuse wrong arguments in one line, before they measure or write."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.paths import ROOT

#: Every program of bench/ that runs by `python -m`: those with a main.
PROGRAMS = sorted(
    str(path.relative_to(ROOT)).removesuffix(".py").removesuffix("/__main__").replace("/", ".")
    for path in (ROOT / "bench").rglob("*.py")
    if 'if __name__ == "__main__"' in path.read_text(encoding="utf-8") and path.parent.name != "python"
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_wrong_option_is_one_line(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", program, "--nosuch"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{program}: unrecognized arguments: --nosuch (see --help)\n"


def test_programs_are_found() -> None:
    assert {"bench", "bench.limits", "bench.stores", "bench.wide"} <= set(PROGRAMS)
