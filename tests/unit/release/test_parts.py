"""Single parts of a release: their names, the tests that belong to them, and the files of the sdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from release import parts, sdist
from tests.support.paths import ROOT


def test_parts_are_built_in_the_order_of_a_release() -> None:
    assert parts.chosen(["npm", "wheel-musllinux_1_2_aarch64", "npm", "sources"]) == [
        *("sources", "wheel-musllinux_1_2_aarch64", "npm"),
    ]
    assert parts.chosen([]) == []


def test_an_unknown_part_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").touch()
    command = (
        *(sys.executable, "-m", "release", ROOT, "--only", "crate", "wheels"),
        *("--out", tmp_path / "out", "--work", tmp_path / "work"),
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "packaging")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        f"release: unknown part wheels; allowed: {', '.join(parts.PARTS)}\n",
    )
    assert (tmp_path / "out" / "kept").exists()


def test_each_part_has_a_test_that_installs_it(tmp_path: Path) -> None:
    """A test without a mark needs the whole release, so it is left out with PARTS."""
    tests: dict[str, set[str]] = {name: _collected(name, tmp_path) for name in parts.PARTS}
    assert all(tests.values()), [name for name, found in tests.items() if not found]
    assert tests["crate"] == {"test_it_installs_and_runs[crate]"}
    whole = {"test_sums_are_complete_and_notice_a_changed_byte", "test_another_folder_gives_the_same_bytes"}
    assert _collected("", tmp_path) == whole.union(*tests.values())


def _collected(part: str, folder: Path) -> set[str]:
    """Return the names of the tests of `make test-release PARTS=...`."""
    command = (*(sys.executable, "-m", "pytest", "packaging/release/tests"), "--collect-only")
    environment = os.environ | {"RELEASE": str(folder), "PARTS": part}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return {line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line}


def test_the_sdist_has_every_header_that_its_sources_include() -> None:
    listed = subprocess.run(("git", "ls-files"), cwd=ROOT, check=True, capture_output=True, text=True)
    tracked = set(listed.stdout.splitlines())
    packed = {path for path in tracked if path.startswith(sdist.PARTS)}
    lost = set()
    for path in sorted(packed):
        if path.endswith((".c", ".h")):
            for name in re.findall(r'^#include "(.*)"', (ROOT / path).read_text(encoding="utf-8"), re.M):
                meant = os.path.normpath(Path(path).parent / name)
                if meant in tracked - packed:
                    lost.add(f"{path} includes {meant}")
    assert lost == set()
