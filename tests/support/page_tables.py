"""The tables of docs/architecture.md that list modules."""

from __future__ import annotations

import re

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "architecture.md"


def section(heading: str) -> str:
    """Return the text below a heading, up to the next heading of any level."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


def listed(heading: str) -> list[str]:
    """Return the modules in the first column of a section's table, in the order of the page."""
    columns = (line.split("|")[1] for line in section(heading).splitlines() if line.startswith("| `"))
    return [name for column in columns for name in re.findall(r"`([^`]+)`", column)]
