"""Debian packages, by dpkg-buildpackage in an unpacked sdist, checked by lintian."""

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


def debian(places: Places) -> None:
    work = places.folder("debian")
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
    run("dpkg-buildpackage", "--build=binary", "--no-sign", cwd=tree, variables=variables)
    packages = sorted(work.glob("*.deb"))
    check(packages, work)
    for package in packages:
        shutil.copy(package, places.out)


def check(packages: list[Path], work: Path) -> None:
    """Raises ReleaseError if lintian reports an error or a warning."""
    found = run("lintian", "--allow-root", "--fail-on", "none", *packages, cwd=work).splitlines()
    if wrong := [line for line in found if line.startswith(("E:", "W:"))]:
        raise ReleaseError(f"lintian: {wrong[0]} ({len(wrong)} in all)")
