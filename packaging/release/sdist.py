"""The sdist: sources of the Python package with generated kernels; a build needs a C compiler only."""

from __future__ import annotations

import shutil
from pathlib import Path

from release.archives import pack
from release.checkout import tracked
from release.places import Places

#: Tracked folders and files of the sdist: those that setup.py and the Makefile read.
PARTS = (
    *("generator/", "bindings/python/", "runtime/", "templates/", "docs/", "packaging/", "tuned/"),
    *("apps/common/", "apps/shards/", "setup.py", "pyproject.toml", "Makefile", "CMakeLists.txt"),
    *("gfsmith.toml", "LICENSE", "README.md", "SOUNDNESS.md"),
)
METADATA = """\
Metadata-Version: 2.4
Name: gfsmith
Version: {version}
Summary: Erasure coding over GF(2^8) with proven kernels, and their generator
License-Expression: BSD-2-Clause
License-File: LICENSE
Requires-Python: >=3.11
"""


def sdist(places: Places) -> None:
    name = f"gfsmith-{places.version}"
    folder = places.folder("sdist") / name
    fill(places, folder)
    pack(folder, places.out / f"{name}.tar.gz")


def fill(places: Places, folder: Path) -> None:
    """Write the sdist's files into a folder. PKG-INFO tells setup.py that the folder is an unpacked sdist."""
    for path in tracked(places, "."):
        if path.startswith(PARTS):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(places.source / path, folder / path)
    shutil.copytree(
        places.source / "gen_out", folder / "gen_out", ignore=shutil.ignore_patterns("PROOFS.json")
    )
    (folder / "PKG-INFO").write_text(METADATA.format(version=places.version), encoding="utf-8")
