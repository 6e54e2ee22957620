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
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gfsmith.build import sources
from gfsmith.build.places import output_folder, user_folder

#: Greatest number of records of a file: three times the default set.
LIMIT = 4000
_SECRET_BYTES = 32


def key(modules: tuple[str, ...], *parts: object) -> str:
    """Return the key of a result computed by some modules, with all their imports (sources.py). The texts of
    the parts are all other inputs."""
    read = _read_modules()
    digest = hashlib.sha256(sources.digest(modules, reader=read.module).encode())
    read.save()
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


class _Records(Mapping[str, dict[str, Any]]):
    """The records of a cache file whose codes are right. A code is compared when its record is used.

    sealed: name -> code and text of the record."""

    def __init__(self, sealed: dict[str, Any], code: Callable[[str, str], bytes]) -> None:
        self.sealed = sealed
        self._code = code
        self._opened: dict[str, dict[str, Any]] = {}

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name not in self._opened:
            self._opened[name] = self._open(name)
        return self._opened[name]

    def _open(self, name: str) -> dict[str, Any]:
        match self.sealed[name]:
            case [str(code), str(text)]:
                with contextlib.suppress(ValueError, RecursionError):  # no text in UTF-8, no JSON
                    if hmac.compare_digest(code.encode(), self._code(name, text)):
                        record: dict[str, Any] = json.loads(text)
                        return record
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.sealed if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Cache:
    """A JSON file of key -> record, which several processes may use at once. An unreadable file counts as
    empty, and an unwritable one stays unchanged."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._secret = secret() if path is not None else None
        self._state = _state(path)
        self._known = self._read()

    def _read(self) -> _Records:
        return _Records(self._content(), self._code)

    def _content(self) -> dict[str, Any]:
        if self._path is None or self._secret is None:
            return {}
        try:
            if not self._path.is_file():  # reading a FIFO would not end
                return {}
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return data if isinstance(data, dict) else {}

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
        least recently used ones are dropped. Other records keep their codes, right or wrong."""
        if self._path is None or self._secret is None:
            return
        present = self._known if _state(self._path) == self._state else self._read()
        if all(present.get(name) == record for name, record in used.items()):
            return
        texts = {name: json.dumps(record) for name, record in used.items()}
        sealed = {name: [self._code(name, text).decode(), text] for name, text in texts.items()}
        older = [(name, each) for name, each in present.sealed.items() if name not in used]
        kept = dict([*older, *sealed.items()][-max(LIMIT, len(used)) :])
        with (
            contextlib.suppress(OSError),
            output_folder(self._path.parent),
            tempfile.TemporaryDirectory(dir=self._path.parent, prefix=f".{self._path.stem}-") as folder,
        ):
            temporary = Path(folder) / self._path.name
            temporary.write_text(json.dumps(kept, indent=0), encoding="utf-8")
            temporary.replace(self._path)


def _state(path: Path | None) -> tuple[int, int] | None:
    """Return inode and time of the file. They change with its content, since the file is only ever
    replaced."""
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns) if found is not None else None


class _ReadModules:
    """Digests, imports and templates of modules (sources.py). Those that earlier processes have read are in
    the user's cache, since reading the modules of the prover and the generator takes 0.7 seconds of CPU time
    (AMD EPYC, Zen 4)."""

    def __init__(self, path: Path | None) -> None:
        self._store = Cache(path)
        reader = Path(sources.__file__).read_bytes()
        self._version = f"{sources.version()} {hashlib.sha256(reader).hexdigest()}"
        self._used: dict[str, dict[str, Any]] = {}
        self._saved = 0

    def module(self, content: bytes, file: str, package: str) -> sources.Module:
        parts = (self._version, file, package, hashlib.sha256(content).hexdigest())
        name = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        record = self._store.known().get(name)
        if record is None:
            digest, names, templates = sources.read(content, file, package)
            record = {"digest": digest, "names": sorted(names), "templates": sorted(templates)}
        self._used[name] = record
        return sources.Module(record["digest"], frozenset(record["names"]), frozenset(record["templates"]))

    def save(self) -> None:
        """Add the modules that were read since the last call."""
        if len(self._used) > self._saved:
            self._store.save(self._used)
            self._saved = len(self._used)


@cache
def _read_modules() -> _ReadModules:
    """Those of this process."""
    try:
        return _ReadModules(user_folder() / "modules.json")
    except RuntimeError:  # the user has no home
        return _ReadModules(None)
