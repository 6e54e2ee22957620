"""Files that gfsmith needs and that are no Python: where they are.

In a checkout they are folders at its top; a wheel carries them as gfsmith/share (setup.py lists which)."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def share(name: str, package: Path = _PACKAGE) -> Path:
    """The folder or file `name`, "templates" or "runtime/src" for example, of the gfsmith installed at
    `package`."""
    carried = package / "share"
    return (carried if carried.is_dir() else package.parents[1]) / name
