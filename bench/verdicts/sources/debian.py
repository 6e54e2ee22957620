"""Debian's source packages, fetched by apt-get into a folder of the build, without a change of the system."""

from __future__ import annotations

import platform
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


def upstream(package: str) -> Path:
    """Return the folder of the upstream sources of a package of the system's release, without Debian's own
    files, which the archive need not have any more. Raises Unavailable."""
    folder = HERE / "upstream" / package
    with locked(HERE / "lock"):
        if not folder.exists():
            fetching, unpacking = folder.with_suffix(".fetched"), folder.with_suffix(".new")
            for path in (fetching, unpacking):
                path.mkdir(parents=True, exist_ok=True)
            _fetch(package, None, fetching, "--tar-only")
            (archive,) = fetching.glob("*.orig.tar.*")
            options = ["-xf", str(archive), "-C", str(unpacking), "--strip-components=1"]
            run_client(["tar", *options], fetching, _ADVICE)
            unpacking.rename(folder)
    return folder


def unpacked(package: str, version: str | None = None) -> Path:
    """Return the folder of a source package. version: None is that of the system's release, without security
    updates, which the archive replaces now and then. Raises Unavailable."""
    pattern = f"{package}-{version.rpartition('-')[0] if version else '[0-9]*'}"
    with locked(HERE / "lock"):
        if not _folder(pattern):
            _fetch(package, version, HERE)
    if found := _folder(pattern):
        return found
    raise Unavailable(f"apt-get source {package} did not unpack {pattern}")


def _fetch(package: str, version: str | None, folder: Path, *options: str) -> None:
    """Run apt-get source in a folder. version: None is that of the system's release."""
    _update()
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    wanted = f"{package}={version}" if version else f"{package}/{release}"
    run_client(["apt-get", *_options(), "-qq", "source", *options, wanted], folder, _ADVICE)


def _folder(pattern: str) -> Path | None:
    return next((path for path in HERE.glob(pattern) if path.is_dir()), None)


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
