"""The C reference of the public headers: python tools/reference.py FOLDER [HEADER...] writes FOLDER/html.

The program fails, with a line for each, if a public header, function, parameter, result, type, enumeration
value or macro has no description. Doxygen 1.9.4 reports most of them, but not files and enumeration values,
so this module checks those in its XML.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
#: The parts of the runtime whose public headers docs/Doxyfile lists.
PARTS = ("core", "adaptive", "compose", "shards")


def _described(element: ElementTree.Element) -> bool:
    parts = (element.find(tag) for tag in ("briefdescription", "detaileddescription"))
    return any("".join(part.itertext()).strip() for part in parts if part is not None)


def undescribed(xml: Path, headers: Sequence[Path]) -> list[str]:
    """Return a line for each header and enumeration value without a description."""
    known = {}
    for page in sorted(xml.glob("*_8h.xml")):
        compound = ElementTree.parse(page).getroot().find("compounddef")
        assert compound is not None
        known[compound.findtext("compoundname")] = compound
    found = []
    for header in headers:
        compound = known.get(header.name)
        if compound is None or not _described(compound):
            found.append(f"{header.name}: error: the file has no description (@file)")
            continue
        for value in compound.iter("enumvalue"):
            if not _described(value):
                found.append(
                    f"{header.name}: error: enumeration value {value.findtext('name')} is not documented"
                )
    return found


def build(folder: Path, headers: Sequence[Path]) -> list[str]:
    """Run Doxygen and return its complaints, a line each.

    headers: headers to describe; none: the public ones, with the page about all of them.
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
    public = (path for part in PARTS for path in sorted(ROOT.glob(f"runtime/{part}/include/*.h")))
    looked_at = headers or list(public)
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
