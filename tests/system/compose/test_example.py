"""The commands of docs/compose/guide.md that build and run examples/nodes."""

from __future__ import annotations

import subprocess

from tests.support.folders import built
from tests.support.paths import ROOT
from tests.system.docs.pages import code

GUIDE = ROOT / "docs" / "compose" / "guide.md"


def test_the_processes_of_the_guide_rebuild_a_shard() -> None:
    built("lib", "compose")
    (commands,) = (text for text in code(GUIDE.read_text(encoding="utf-8")) if "nodes/repair.c" in text)
    strict = commands.replace("cc -O2 ", "cc -O2 -std=c11 -Wall -Wextra -Wpedantic -Werror ")
    done = subprocess.run(["sh", "-ec", strict], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "shard 2 is back", done.stderr
    assert (done.returncode, done.stderr) == (0, "")
    for rank in ("x", "6", "65536", ""):
        refused = subprocess.run(
            [ROOT / "build" / "repair", rank], capture_output=True, text=True, timeout=60
        )
        assert refused.stderr == "usage: repair RANK: invalid argument: ranks are 0 to 5\n"
