"""SHA256SUMS, in the format of sha256sum."""

from __future__ import annotations

import hashlib
from pathlib import Path

NAME = "SHA256SUMS"


def digests(folder: Path) -> dict[str, str]:
    """Return name -> SHA-256 of every file in a folder except the sums."""
    files = sorted(path for path in folder.iterdir() if path.name != NAME)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def write(folder: Path) -> None:
    lines = (f"{digest}  {name}\n" for name, digest in digests(folder).items())
    (folder / NAME).write_text("".join(lines), encoding="ascii")


def differences(folder: Path) -> list[str]:
    """Return a line for each file that is changed, missing or not listed."""
    lines = (folder / NAME).read_text(encoding="ascii").splitlines()
    stated = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    found = digests(folder)
    changed = (
        f"{name}: the SHA-256 differs" for name in stated if found.get(name, stated[name]) != stated[name]
    )
    lost = (f"{name}: the file is missing" for name in stated if name not in found)
    extra = (f"{name}: the file is not listed" for name in found if name not in stated)
    return [*changed, *lost, *extra]
