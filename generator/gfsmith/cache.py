"""What was made or proved before, kept by content.

A key is a digest of everything that a result depends on, gfsmith's own source included. So a result is
used again only if making it anew could not come out otherwise.
"""

from __future__ import annotations

import hashlib
import json
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


class Cache:
    """A JSON file of key -> record. A file that cannot be read counts as empty."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, dict[str, Any]] = {}
        if path is not None:
            try:
                data = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                data = {}
            if isinstance(data, dict):
                self._known = {k: v for k, v in data.items() if isinstance(v, dict)}

    def known(self) -> Mapping[str, dict[str, Any]]:
        return self._known

    def save(self, used: Mapping[str, dict[str, Any]]) -> None:
        """Add what was used to the file, through a temporary file; what was not used for longest goes when
        there are more than LIMIT records."""
        older = {name: record for name, record in self._known.items() if name not in used}
        kept = dict([*older.items(), *used.items()][-max(LIMIT, len(used)) :])
        if self._path is None or kept == self._known:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps(kept, indent=0), encoding="utf-8")
        temporary.replace(self._path)
