"""The C reference of the public headers: python tools/reference.py FOLDER [HEADER...] writes FOLDER/html.

Fails, with a line each, if something public is not described: a header, function, parameter, result, type,
enumeration value or macro. Doxygen 1.9.4 finds most of it; that a file or a value of an enumeration has no
description it does not say, so that is read from its XML.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]


def _described(element: ElementTree.Element) -> bool:
    parts = (element.find(tag) for tag in ("briefdescription", "detaileddescription"))
    return any("".join(part.itertext()).strip() for part in parts if part is not None)


def undescribed(xml: Path, headers: Sequence[Path]) -> list[str]:
    """What lacks a description, of headers and enumeration values."""
    known = {}
    for page in sorted(xml.glob("*_8h.xml")):
        compound = ElementTree.parse(page).getroot().find("compounddef")
        assert compound is not None
        known[compound.findtext("compoundname")] = compound
    found = []
    for header in headers:
        compound = known.get(header.name)
        if compound is None or not _described(compound):
            found.append(f"{header.name}: error: nothing says what this file is (@file)")
            continue
        for value in compound.iter("enumvalue"):
            if not _described(value):
                found.append(
                    f"{header.name}: error: enumeration value {value.findtext('name')} is not documented"
                )
    return found


def build(folder: Path, headers: Sequence[Path]) -> list[str]:
    """Run Doxygen; every complaint, a line each.

    headers: what to describe; none: the public ones, with the page about them all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = (ROOT / "docs" / "Doxyfile").read_text(encoding="utf-8")
    settings += f'OUTPUT_DIRECTORY = "{folder.absolute()}"\n'
    if headers:
        settings += "INPUT = " + " ".join(f'"{path.absolute()}"' for path in headers) + "\n"
    done = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True, cwd=ROOT)
    complaints = done.stderr.splitlines()
    if done.returncode != 0 and not complaints:
        complaints = [f"doxygen: exit status {done.returncode}"]
    looked_at = headers or sorted((ROOT / "runtime" / "include").glob("*.h"))
    return complaints + undescribed(folder / "xml", looked_at)


def main(words: Sequence[str]) -> int:
    if not words:
        print("usage: reference.py FOLDER [HEADER...]", file=sys.stderr)
        return 2
    complaints = build(Path(words[0]), [Path(word) for word in words[1:]])
    for line in complaints:
        print(line, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
