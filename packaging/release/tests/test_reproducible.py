"""A second release of the same commit, in another folder, has the same sums."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from release import sums

RELEASE = Path(os.environ["RELEASE"]).resolve()
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.timeout(3600)
def test_another_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    """The second release uses the proofs of the first one."""
    clone = tmp_path / "clone"
    subprocess.run(("git", "clone", "--quiet", ROOT, clone), check=True)
    (clone / ".gfsmith-cache").symlink_to(ROOT / ".gfsmith-cache")
    command = (sys.executable, "-m", "release", clone, "--out", tmp_path / "out", "--work", tmp_path / "work")
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(clone / "packaging")}, text=True
    )
    assert done.returncode == 0
    assert sums.digests(tmp_path / "out") == sums.digests(RELEASE)
