"""`python -m release ROOT --out FOLDER --work FOLDER`: all steps of a release, in order."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from release import (
    archives,
    checkout,
    contents,
    crate,
    debian,
    gomodule,
    jar,
    notes,
    npm,
    sbom,
    sdist,
    sums,
    wheels,
)
from release.places import Places, ReleaseError

#: The steps that write artifacts.
STEPS: tuple[Callable[[Places], None], ...] = (
    archives.sources,
    sdist.sdist,
    wheels.wheels,
    crate.crate,
    gomodule.gomodule,
    npm.npm,
    jar.jar,
    debian.debian,
)
_VERSION = re.compile(r'^__version__ = "([\d.]+)"$', re.MULTILINE)


def release(places: Places) -> None:
    """Write all artifacts, their sums, the SBOM and the notes. Raises ReleaseError."""
    text = notes.notes((places.root / "CHANGELOG.md").read_text(encoding="utf-8"), places.version)
    for step in (checkout.clone, checkout.generate, *STEPS):
        print(f"release: {step.__name__}", flush=True)
        step(places)
    (places.out / "NOTES.md").write_text(text, encoding="utf-8")
    listed = sbom.sbom(
        places.version, sums.digests(places.out), contents.contained(places), contents.tools(places)
    )
    (places.out / sbom.NAME).write_text(listed, encoding="utf-8")
    sums.write(places.out)


def main() -> int:
    parser = argparse.ArgumentParser(prog="release", description=__doc__)
    parser.add_argument("root", type=Path, help="the checkout")
    parser.add_argument("--out", type=Path, required=True, help="folder of the artifacts, which is replaced")
    parser.add_argument(
        "--work", type=Path, required=True, help="folder of temporary files, which is replaced"
    )
    given = parser.parse_args()
    root, out, work = given.root.resolve(), given.out.resolve(), given.work.resolve()
    try:
        found = _VERSION.search((root / "generator" / "gfsmith" / "__init__.py").read_text(encoding="utf-8"))
        if found is None:
            raise ReleaseError("generator/gfsmith/__init__.py has no __version__")
        shutil.rmtree(work, ignore_errors=True)
        staging = work / "out"
        staging.mkdir(parents=True)
        release(Places(root, work, staging, found[1]))
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        staging.replace(out)
    except (ReleaseError, OSError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print(f"built {len(sums.digests(out))} files in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
