"""The programs of others that are in an artifact or that an artifact requires, and the tools of a release."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

from release.places import Places, ReleaseError, run

#: Library -> the header with its version: xxHash's functions are compiled into gfsmith-shards and the codec,
#: and the gfsmith-shards of the Debian package for amd64 loads Nettle.
HEADERS = {"xxhash": Path("/usr/include/xxhash.h"), "nettle": Path("/usr/include/nettle/version.h")}
_VERSION = re.compile(r"#\s*define \w+_VERSION_(?:MAJOR|MINOR|RELEASE)\s+(\d+)")
_MODULES = re.compile(r"^\t?(?:require )?(\S+/\S+) v(\S+)$", re.MULTILINE)
_CRATES = re.compile(r'^(\w+) = (?:"=|\{ version = "=)([\d.]+)', re.MULTILINE)
#: Packages of .venv that shape an artifact.
PACKAGES = ("abi3audit", "auditwheel", "setuptools", "ziglang")


def contained(places: Places) -> dict[str, str]:
    """Return name -> version of foreign code: copied headers, Go modules, crates."""
    found = {
        name: stated_version(header.read_text(encoding="utf-8"), name) for name, header in HEADERS.items()
    }
    bindings = places.source / "bindings"
    found |= dict(_MODULES.findall((bindings / "go" / "go.mod").read_text(encoding="utf-8")))
    crate = (bindings / "rust" / "gfsmith" / "Cargo.toml").read_text(encoding="utf-8")
    return found | dict(_CRATES.findall(crate.split("[dev-dependencies]")[0]))


def stated_version(header: str, name: str) -> str:
    """Return the version that the macros of a header state, from the major number on."""
    numbers = _VERSION.findall(header)
    if len(numbers) < 2:
        raise ReleaseError(f"{name}: its header states no version")
    return ".".join(numbers)


def tools(places: Places) -> dict[str, str]:
    """Return name -> version of the programs that built the artifacts."""
    found = {name: metadata.version(name) for name in PACKAGES}
    found["python"] = ".".join(map(str, sys.version_info[:3]))
    for compiler in ("gcc", "aarch64-linux-gnu-gcc"):
        found[compiler] = run(compiler, "-dumpfullversion", cwd=places.work).strip()
    found["javac"] = run("javac", "--version", cwd=places.work).split()[-1]
    return found
