"""Verdicts of machine-code proofs, kept by content.

The key is a digest of everything that a verdict depends on: the code, the contract, and the prover's own
source. So a verdict is reused only if a new proof could not differ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parents[1]
_SOURCES = ("prove", "field.py", "isa.py", "ir.py", "spec.py")


@lru_cache(maxsize=1)
def prover_digest() -> str:
    """SHA-256 of the prover's source files."""
    digest = hashlib.sha256()
    for name in _SOURCES:
        root = _PACKAGE / name
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            digest.update(path.relative_to(_PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def key(contract: object, code: bytes, exhaustive: bool) -> str:
    """What identifies a proof. The contract is a dataclass: its text names every field."""
    text = f"{prover_digest()}\n{contract!r}\n{exhaustive}\n".encode()
    return hashlib.sha256(text + code).hexdigest()


class Cache:
    """A JSON file of key -> report. A file that cannot be read counts as empty."""

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
        """Replace the file's content by `used`, through a temporary file."""
        if self._path is None or used == self._known:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps(used, indent=0, sort_keys=True), encoding="utf-8")
        temporary.replace(self._path)
