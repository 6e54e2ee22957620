"""The programs of others that are in an artifact or that an artifact requires, and the tools of a release."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

from release.places import Places, ReleaseError, run

#: Header and pattern of its version: xxHash's functions are compiled into gfsmith-shards and the codec.
XXHASH = Path("/usr/include/xxhash.h")
_VERSION = re.compile(r"#\s*define XXH_VERSION_(MAJOR|MINOR|RELEASE)\s+(\d+)")
_MODULES = re.compile(r"^\t?(?:require )?(\S+/\S+) v(\S+)$", re.MULTILINE)
_CRATES = re.compile(r'^(\w+) = (?:"=|\{ version = "=)([\d.]+)', re.MULTILINE)
#: Packages of .venv that shape an artifact.
PACKAGES = ("abi3audit", "auditwheel", "setuptools", "ziglang")


def contained(places: Places) -> dict[str, str]:
    """Return name -> version of foreign code: copied headers, Go modules, crates."""
    parts = dict(_VERSION.findall(XXHASH.read_text(encoding="utf-8")))
    if len(parts) != 3:
        raise ReleaseError(f"{XXHASH}: its version is not found")
    found = {"xxhash": ".".join(parts[part] for part in ("MAJOR", "MINOR", "RELEASE"))}
    bindings = places.source / "bindings"
    found |= dict(_MODULES.findall((bindings / "go" / "go.mod").read_text(encoding="utf-8")))
    crate = (bindings / "rust" / "gfsmith" / "Cargo.toml").read_text(encoding="utf-8")
    return found | dict(_CRATES.findall(crate.split("[dev-dependencies]")[0]))


def tools(places: Places) -> dict[str, str]:
    """Return name -> version of the programs that built the artifacts."""
    found = {name: metadata.version(name) for name in PACKAGES}
    found["python"] = ".".join(map(str, sys.version_info[:3]))
    for compiler in ("gcc", "aarch64-linux-gnu-gcc"):
        found[compiler] = run(compiler, "-dumpfullversion", cwd=places.work).strip()
    found["javac"] = run("javac", "--version", cwd=places.work).split()[-1]
    return found
