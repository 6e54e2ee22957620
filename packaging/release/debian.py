"""Debian packages for amd64 and arm64, by dpkg-buildpackage in an unpacked sdist, checked by lintian."""

from __future__ import annotations

import os
import shutil
import sys
from email.utils import formatdate
from pathlib import Path

from release import sdist
from release.places import EPOCH, Places, ReleaseError, run

CHANGELOG = """\
gfsmith ({version}) unstable; urgency=medium

  * Release {version}.

 -- {maintainer}  {date}
"""

#: Debian's name of an architecture -> the flags of its build. Python's codec is for this machine only.
ARCHITECTURES: dict[str, tuple[str, ...]] = {
    "amd64": (),
    "arm64": ("--host-arch=arm64", "--build-profiles=cross,nopython", "--no-check-builddeps"),
}


def debian(places: Places, architecture: str) -> None:
    """Build and check the packages for an architecture."""
    folder = places.folder(f"debian-{architecture}")
    packages = _build(places, folder, ARCHITECTURES[architecture])
    check(packages, folder)
    for package in packages:
        shutil.copy(package, places.out)


def _build(places: Places, work: Path, flags: tuple[str, ...]) -> list[Path]:
    """Build packages in a folder, and return their files."""
    tree = work / f"gfsmith-{places.version}"
    sdist.fill(places, tree)
    shutil.copytree(places.source / "packaging" / "debian", tree / "debian")
    control = (tree / "debian" / "control").read_text(encoding="utf-8")
    maintainer = control.split("Maintainer: ", 1)[1].split("\n", 1)[0]
    entry = CHANGELOG.format(version=places.version, maintainer=maintainer, date=formatdate(EPOCH))
    (tree / "debian" / "changelog").write_text(entry, encoding="utf-8")
    variables = {
        "PYTHON": sys.executable,
        "DEB_BUILD_OPTIONS": f"nocheck noautodbgsym parallel={os.cpu_count()}",
    }
    run("dpkg-buildpackage", "--build=binary", "--no-sign", *flags, cwd=tree, variables=variables)
    return sorted(work.glob("*.deb"))


def check(packages: list[Path], work: Path) -> None:
    """Raises ReleaseError if lintian reports an error or a warning."""
    found = run("lintian", "--allow-root", "--fail-on", "none", *packages, cwd=work).splitlines()
    if wrong := [line for line in found if line.startswith(("E:", "W:"))]:
        raise ReleaseError(f"lintian: {wrong[0]} ({len(wrong)} in all)")
