"""What was made or proved before, kept by content.

A key is a digest of everything that a result depends on, gfsmith's own source included. So a result is
used again only if making it anew could not come out otherwise.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

#: Records of one file: three times the default set.
LIMIT = 4000

PACKAGE = Path(__file__).resolve().parent


@lru_cache(maxsize=4)
def source_digest(roots: tuple[Path, ...]) -> str:
    """SHA-256 of source files and of all files in folders."""
    digest = hashlib.sha256()
    for root in roots:
        files = (p for p in root.rglob("*") if p.suffix in (".py", ".j2")) if root.is_dir() else [root]
        for path in sorted(files):
            digest.update(f"{path.relative_to(PACKAGE.parents[1]).as_posix()}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def key(roots: tuple[Path, ...], *parts: object) -> str:
    """What identifies a result of these sources; the parts' texts say all that it depends on besides."""
    digest = hashlib.sha256(source_digest(roots).encode())
    for part in parts:
        digest.update(b"\n" + (part if isinstance(part, bytes) else repr(part).encode()))
    return digest.hexdigest()


def user_folder() -> Path:
    """Where a user's programs keep what they can make again: the XDG base directories."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".cache") / "gfsmith"


class Cache:
    """A JSON file of key -> record, which several processes may use at once. A file that cannot be read
    counts as empty, and one that cannot be written stays as it is."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._state = _state(path)
        self._known = _read(path)

    def known(self) -> Mapping[str, dict[str, Any]]:
        return self._known

    def save(self, used: Mapping[str, dict[str, Any]]) -> None:
        """Add what was used to the file as it is now, through a temporary file; what was not used for longest
        goes when there are more than LIMIT records."""
        if self._path is None:
            return
        present = self._known if _state(self._path) == self._state else _read(self._path)
        older = {name: record for name, record in present.items() if name not in used}
        kept = dict([*older.items(), *used.items()][-max(LIMIT, len(used)) :])
        if kept == present:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._path.parent, prefix=f".{self._path.stem}-") as folder:
                temporary = Path(folder) / self._path.name
                temporary.write_text(json.dumps(kept, indent=0), encoding="utf-8")
                temporary.replace(self._path)


def _state(path: Path | None) -> tuple[int, int] | None:
    """What changes when the file does: it is only ever replaced."""
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns) if found is not None else None


def _read(path: Path | None) -> dict[str, dict[str, Any]]:
    if path is None:
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in data.items() if isinstance(v, dict)} if isinstance(data, dict) else {}
