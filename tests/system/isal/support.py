"""Paths, headers and clients' sources for the tests of the drop-in for ISA-L."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.build_lock import locked
from tests.support.paths import ROOT

NATIVE = Path(__file__).resolve().parent / "native"
CLIENTS = Path(__file__).resolve().parent / "clients"
SHIM = ROOT / "runtime" / "isal"
SOURCES = SHIM / "src"
HEADERS = SHIM / "include"
REAL = Path("/usr/lib/x86_64-linux-gnu/libisal.so.2")
REAL_HEADERS = Path("/usr/include")

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-cast-function-type")

#: SHA-256 of PyECLib's source packages on the Python package index. The package of 1.0.7 contains
#: liberasurecode 1.0.7 with its test program.
PYECLIB = {
    "1.0.7": "f2136f187900fe3b84c75fea671c9bcb3d4d4a6307e44d9f960ed8296ce52dc3",
    "1.6.0": "8011e31ee89ae7fb99ca6916660c87e0108466a9962bd497a3001020974e3bb1",
}


def run(command: Sequence[str], **options: object) -> str:
    """Run a command that must succeed, and return its output."""
    done = subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return str(done.stdout)


def with_library(folder: Path | None, **more: str) -> dict[str, str]:
    """Return an environment in which the loader searches a folder first, or none."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    return kept | more | ({"LD_LIBRARY_PATH": str(folder)} if folder is not None else {})


def pyeclib(version: str) -> Path:
    """Return the unpacked source package; pip fetches it if it is missing."""
    folder = ROOT / "build" / "foreign" / "pyeclib"
    with locked(folder / "lock"):
        target = folder / version
        if not target.exists():
            _unpack(_fetch(version, folder), target)
    return target


def _fetch(version: str, folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
    run([*pip, "--no-binary", ":all:", "--dest", str(folder), f"pyeclib=={version}"])
    archive = next(path for path in folder.glob("*.tar.gz") if version in path.name)
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == PYECLIB[version], archive.name
    return archive


def _unpack(archive: Path, target: Path) -> None:
    unpacking = target.with_suffix(".new")
    unpacking.mkdir(exist_ok=True)
    run(["tar", "-xzf", str(archive), "-C", str(unpacking), "--strip-components=1"])
    unpacking.rename(target)


def prototypes(header: Path) -> dict[str, tuple[str, ...]]:
    """Return result and parameter types of every function that a header of ISA-L declares, by name."""
    text = run(["gcc", "-E", "-P", str(header)])
    text = re.sub(r"__attribute__\s*\(\([^;{}]*?\)\)\)?(?=\s*(?:void|int))", "", text)
    found = {}
    for result, name, parameters in re.findall(
        r"\b(void|int|unsigned char)\s+((?:ec|gf|xor|pq)_\w+)\s*\(([^)]*)\)\s*;", text
    ):
        types = [re.sub(r"\bconst\b|\w+$", "", p.strip()) for p in parameters.split(",")]
        found[name] = (result, *("".join(t.split()) for t in types))
    return found
