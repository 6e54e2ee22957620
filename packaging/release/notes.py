"""NOTES.md: the part of CHANGELOG.md about one version."""

from __future__ import annotations

import re

from release.places import ReleaseError

_HEADING = re.compile(r"^## (?P<version>\S+)(?: \(unreleased\))?$", re.MULTILINE)


def notes(changelog: str, version: str) -> str:
    """Return the notes of a version. Raises ReleaseError if the changelog has none."""
    headings = list(_HEADING.finditer(changelog))
    ends = [heading.start() for heading in headings[1:]] + [len(changelog)]
    for heading, end in zip(headings, ends, strict=True):
        body = changelog[heading.end() : end].strip()
        if heading["version"] == version and body:
            return f"# gfsmith {version}\n\n{body}\n"
    found = ", ".join(heading["version"] for heading in headings) or "none"
    raise ReleaseError(f"CHANGELOG.md has no entries for version {version}; its versions: {found}")
