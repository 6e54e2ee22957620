"""Debian packages with errors or warnings of lintian are refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from release.debian import check
from release.places import ReleaseError

CONTROL = """\
Package: incomplete
Version: 1.0
Architecture: all
Maintainer: Some One <some@one.invalid>
Description: a package without copyright and changelog
"""


def test_a_package_that_lintian_refuses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root" / "DEBIAN").mkdir(parents=True)
    (tmp_path / "root" / "DEBIAN" / "control").write_text(CONTROL)
    package = tmp_path / "incomplete_1.0_all.deb"
    subprocess.run(("dpkg-deb", "--build", tmp_path / "root", package), check=True, capture_output=True)
    with pytest.raises(ReleaseError, match=r"lintian: [EW]: incomplete: .*\(\d+ in all\)"):
        check([package], tmp_path)
