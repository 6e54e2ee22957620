"""Files that gfsmith needs and that are no Python: where they are. And files written whole or not at all.

In a checkout they are folders at its top; a wheel carries them as gfsmith/share (setup.py lists which)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def share(name: str, package: Path = _PACKAGE) -> Path:
    """The folder or file `name`, "templates" or "runtime/src" for example, of the gfsmith installed at
    `package`."""
    carried = package / "share"
    return (carried if carried.is_dir() else package.parents[1]) / name


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A place to write to, of the same name as `path`, which it replaces in the end. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as staging:
        stage = Path(staging) / path.name
        yield stage
        stage.replace(path)
