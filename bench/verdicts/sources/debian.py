"""Debian's source packages, fetched by apt-get into a folder of the build, without a change of the system."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from bench.build import BUILD
from bench.build_lock import locked
from bench.peers.clients import Unavailable, run_client

HERE = BUILD / "debian"
#: Debian's folder with lists of repositories, in the new format and in the old one.
_SYSTEM = Path("/etc/apt")
_ADVICE = "apt-get of a Debian 12 system and dpkg-dev fetch source packages"


def unpacked(package: str, version: str) -> Path:
    """Return the folder of a source package. Raises Unavailable."""
    upstream = version.rpartition("-")[0]
    found = HERE / f"{package}-{upstream}"
    with locked(HERE / "lock"):
        if not found.exists():
            _update()
            run_client(["apt-get", *_options(), "-qq", "source", f"{package}={version}"], HERE, _ADVICE)
    if not found.exists():
        raise Unavailable(f"apt-get source {package}={version} did not unpack {found.name}")
    return found


def _options() -> list[str]:
    """Return options that keep lists of repositories and of packages below the build's folder."""
    places = {
        "Etc::sourcelist": "/dev/null",
        "Etc::sourceparts": HERE / "parts",
        "State::lists": HERE / "lists",
    }
    return [word for key, value in places.items() for word in ("-o", f"Dir::{key}={value}")]


def _update() -> None:
    """Fetch the lists of source packages of the repositories that the system uses for binary packages."""
    parts = HERE / "parts"
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    (HERE / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    for path in (_SYSTEM / "sources.list", *(_SYSTEM / "sources.list.d").glob("debian.*")):
        if path.exists():
            (parts / path.name).write_text(source_lists(path.read_text()))
    run_client(["apt-get", *_options(), "-qq", "update"], HERE, _ADVICE)


def source_lists(text: str) -> str:
    """Return a list of repositories with their source packages instead of the binary ones."""
    return re.sub(
        r"^(Types:\s*)deb\b.*$|^deb(?=\s)", lambda m: f"{m[1] or ''}deb-src", text, flags=re.MULTILINE
    )
