"""A cache of generated kernels and proofs, keyed by content.

A key is a digest of everything that a result depends on: its inputs, the parts of gfsmith's own code that
take part, and the versions of imported packages. So a cached result always equals a recomputed one, and other
changes invalidate nothing.

A cache file is in a folder that others may write to: a checkout, a CI cache. So each record has a code (HMAC,
RFC 2104) that only the user's secret gives, and a record with another code is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gfsmith.build import sources
from gfsmith.build.places import output_folder

#: Greatest number of records of a file: three times the default set.
LIMIT = 4000
_SECRET_BYTES = 32


def key(modules: tuple[str, ...], *parts: object) -> str:
    """Return the key of a result computed by some modules, with all their imports (sources.py). The texts of
    the parts are all other inputs."""
    digest = hashlib.sha256(sources.digest(modules).encode())
    for part in parts:
        digest.update(b"\n" + (part if isinstance(part, bytes) else repr(part).encode()))
    return digest.hexdigest()


def secret() -> bytes | None:
    """Return the secret of the user, made on first use; None if others can read it."""
    try:
        named = Path(os.environ.get("XDG_STATE_HOME", ""))
        folder = (named if named.is_absolute() else Path.home() / ".local" / "state") / "gfsmith"
        path = folder / "cache.key"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.NamedTemporaryFile(dir=folder) as made:  # readable for the user alone
                made.write(os.urandom(_SECRET_BYTES))
                made.flush()
                with contextlib.suppress(FileExistsError):
                    os.link(made.name, path)
        found = path.stat()
        private = os.name == "nt" or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)
        content = path.read_bytes()
    except (OSError, RuntimeError):
        return None
    return content if private and len(content) == _SECRET_BYTES else None


class Cache:
    """A JSON file of key -> record, which several processes may use at once. An unreadable file counts as
    empty, and an unwritable one stays unchanged."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._secret = secret() if path is not None else None
        self._state = _state(path)
        self._known = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        """The records whose codes are right."""
        if self._path is None or self._secret is None:
            return {}
        try:
            if not self._path.is_file():  # reading a FIFO would not end
                return {}
            data = json.loads(self._path.read_text(encoding="utf-8"))
            return dict(self._opened(data if isinstance(data, dict) else {}))
        except (OSError, ValueError, RecursionError):
            return {}

    def _opened(self, data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, sealed in data.items():
            match sealed:
                case [str(code), str(text)] if hmac.compare_digest(code.encode(), self._code(name, text)):
                    yield name, json.loads(text)

    def _code(self, name: str, text: str) -> bytes:
        """The code of a record of this file."""
        assert self._path is not None and self._secret is not None
        parts = (self._path.name, name, text)
        message = b"".join(len(part.encode()).to_bytes(8, "little") + part.encode() for part in parts)
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest().encode()

    def known(self) -> Mapping[str, dict[str, Any]]:
        return self._known

    def save(self, used: Mapping[str, dict[str, Any]]) -> None:
        """Add the records `used` to the current file, through a temporary file. Beyond LIMIT records the
        least recently used ones are dropped."""
        if self._path is None or self._secret is None:
            return
        present = self._known if _state(self._path) == self._state else self._read()
        older = {name: record for name, record in present.items() if name not in used}
        kept = dict([*older.items(), *used.items()][-max(LIMIT, len(used)) :])
        if kept == present:
            return
        texts = {name: json.dumps(record) for name, record in kept.items()}
        sealed = {name: [self._code(name, text).decode(), text] for name, text in texts.items()}
        with (
            contextlib.suppress(OSError),
            output_folder(self._path.parent),
            tempfile.TemporaryDirectory(dir=self._path.parent, prefix=f".{self._path.stem}-") as folder,
        ):
            temporary = Path(folder) / self._path.name
            temporary.write_text(json.dumps(sealed, indent=0), encoding="utf-8")
            temporary.replace(self._path)


def _state(path: Path | None) -> tuple[int, int] | None:
    """Return inode and time of the file. They change with its content, since the file is only ever
    replaced."""
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns) if found is not None else None
