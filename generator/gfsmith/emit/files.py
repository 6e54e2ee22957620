"""Paths of gfsmith's files other than Python modules, and atomic replacement of files.

In a checkout they are folders at its top. A wheel contains them as gfsmith/share (setup.py lists them)."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def installed(package: Path = _PACKAGE) -> bool:
    """Return True if the gfsmith at `package` comes from a wheel, not from a checkout."""
    return (package / "share").is_dir()


def share(name: str, package: Path = _PACKAGE) -> Path:
    """Return the folder or file `name`, for example "templates" or "runtime/core/src", of the gfsmith at
    `package`."""
    return (package / "share" if installed(package) else package.parents[1]) / name


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path with the name of `path`; its file replaces `path` at the end. If that is a
    symbolic link, such as /dev/stdout, the file replaces the link's target.

    Raises OSError, also for a device or pipe, which the file would replace."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FileExistsError(errno.EEXIST, "a device or pipe; allowed: a file or a new path", str(path))
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{path.name}-") as staging:
        stage = Path(staging) / path.name
        yield stage
        stage.replace(target)
