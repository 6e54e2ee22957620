"""`python -m release ROOT --out FOLDER --work FOLDER`: all steps of a release, in order."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from release import checkout, contents, notes, parts, sbom, sums
from release.places import Places, ReleaseError

_VERSION = re.compile(r'^__version__ = "([\d.]+)"$', re.MULTILINE)


def release(places: Places) -> None:
    """Write all artifacts, their sums, the SBOM and the notes. Raises ReleaseError."""
    text = notes.notes((places.root / "CHANGELOG.md").read_text(encoding="utf-8"), places.version)
    build(places, list(parts.PARTS))
    (places.out / "NOTES.md").write_text(text, encoding="utf-8")
    listed = sbom.sbom(
        places.version, sums.digests(places.out), contents.contained(places), contents.tools(places)
    )
    (places.out / sbom.NAME).write_text(listed, encoding="utf-8")
    sums.write(places.out)


def build(places: Places, names: Sequence[str]) -> None:
    """Write the artifacts of some parts from a new clone, and print the time of each step."""
    steps = {"clone": checkout.clone, "generate": checkout.generate} | {
        name: parts.PARTS[name] for name in names
    }
    for name, step in steps.items():
        print(f"release: {name}", end="", flush=True)
        start = time.monotonic()
        try:
            step(places)
        finally:
            print(f", {time.monotonic() - start:.0f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="release", description=__doc__)
    parser.add_argument("root", type=Path, help="the checkout")
    parser.add_argument("--out", type=Path, required=True, help="folder of the artifacts, which is replaced")
    parser.add_argument(
        "--work", type=Path, required=True, help="folder of temporary files, which is replaced"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="PART",
        help=f"build single artifacts, without sums, SBOM and notes: {', '.join(parts.PARTS)}",
    )
    given = parser.parse_args()
    root, out, work = given.root.resolve(), given.out.resolve(), given.work.resolve()
    try:
        found = _VERSION.search((root / "generator" / "gfsmith" / "__init__.py").read_text(encoding="utf-8"))
        if found is None:
            raise ReleaseError("generator/gfsmith/__init__.py has no __version__")
        names = parts.chosen(given.only or ())
        shutil.rmtree(work, ignore_errors=True)
        staging = work / "out"
        staging.mkdir(parents=True)
        places = Places(root, work, staging, found[1])
        if names:
            build(places, names)
        else:
            release(places)
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
