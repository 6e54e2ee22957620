"""Paths of the configuration and of the caches of a build, and the creation of folders."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

#: The default configuration file of all commands.
CONFIGURATION = Path("gfsmith.toml")


def cache_of(path: Path) -> Path:
    """Return the folder of cached kernels and proofs, next to the configuration file."""
    return path.parent / ".gfsmith-cache"


def user_folder() -> Path:
    """Return gfsmith's folder among the user's caches, as in the XDG base directory specification."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".cache") / "gfsmith"


def shared_cache(path: Path) -> Path:
    """Return the cache folder of a build inside another project: that of `gfsmith gen` if it exists, else the
    user's, so that no folder is added to the sources of another project."""
    local = cache_of(path)
    return local if local.is_dir() else user_folder()


@contextlib.contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """Create a folder if it does not exist. If writing its files fails, remove a new and empty one."""
    exists = folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if not exists:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
