"""What the tests of the drop-in for ISA-L share: paths, headers, sources of clients."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..shared import locked

REPO = Path(__file__).resolve().parents[2]
NATIVE = Path(__file__).resolve().parent / "native"
CLIENTS = Path(__file__).resolve().parent / "clients"
SOURCES = REPO / "runtime" / "isal"
HEADERS = SOURCES / "include"
REAL = Path("/usr/lib/x86_64-linux-gnu/libisal.so.2")
REAL_HEADERS = Path("/usr/include")

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-cast-function-type")

#: SHA-256 of the source packages of PyECLib on the Python package index. The one of 1.0.7 has
#: liberasurecode 1.0.7 in it, with its test program.
PYECLIB = {
    "1.0.7": "f2136f187900fe3b84c75fea671c9bcb3d4d4a6307e44d9f960ed8296ce52dc3",
    "1.6.0": "8011e31ee89ae7fb99ca6916660c87e0108466a9962bd497a3001020974e3bb1",
}


def run(command: Sequence[str], **options: object) -> str:
    """What a command that must succeed prints."""
    done = subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return str(done.stdout)


def with_library(folder: Path | None, **more: str) -> dict[str, str]:
    """The environment in which the loader looks into a folder first, or into none."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    return kept | more | ({"LD_LIBRARY_PATH": str(folder)} if folder is not None else {})


def pyeclib(version: str) -> Path:
    """The unpacked source package, fetched with pip if it is not there yet."""
    folder = REPO / "build" / "foreign" / "pyeclib"
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


def isal_sources() -> Path:
    """ISA-L 2.32's source folder, as the proofs of its kernels fetch it."""
    path = REPO / "tests" / "prove" / "foreign" / "isal.py"
    spec = importlib.util.spec_from_file_location("gfsmith_foreign_isal", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found: Path = module.sources()
    return found


def prototypes(header: Path) -> dict[str, tuple[str, ...]]:
    """Name to result and parameter types of every function that a header of ISA-L declares."""
    text = run(["gcc", "-E", "-P", str(header)])
    text = re.sub(r"__attribute__\s*\(\([^;{}]*?\)\)\)?(?=\s*(?:void|int))", "", text)
    found = {}
    for result, name, parameters in re.findall(
        r"\b(void|int|unsigned char)\s+((?:ec|gf|xor|pq)_\w+)\s*\(([^)]*)\)\s*;", text
    ):
        types = [re.sub(r"\bconst\b|\w+$", "", p.strip()) for p in parameters.split(",")]
        found[name] = (result, *("".join(t.split()) for t in types))
    return found
