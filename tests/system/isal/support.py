"""Paths, headers and clients' sources for the tests of the drop-in for ISA-L. The tests of the drop-in for
Jerasure share the functions.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

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

#: The instruction sets with which a drop-in is compared with the original.
ISAS = ("gfni_avx512", "avx2", "scalar", "sse", "avx512", "gfni_sse", "gfni_avx2")

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


def skip_without(isa: str, done: subprocess.CompletedProcess[str]) -> None:
    """Skip the test if the CPU lacks the set with which a comparison ran."""
    if "is not supported by this CPU" in done.stderr:
        pytest.skip(f"this CPU lacks {isa}")


def require_agreement(done: subprocess.CompletedProcess[str], isa: str, least: int) -> None:
    """Require that a comparison made more than `least` calls and found no difference."""
    skip_without(isa, done)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert int(done.stdout.split()[0]) > least


def link_changed(build: Path, part: Path, changed: Path, original: Path, library: Path) -> None:
    """Link the drop-in of a part of the runtime with one changed source."""
    objects = build / "obj" / part.relative_to(ROOT) / "src"
    others = [objects / f"{path.stem}.o" for path in (part / "src").glob("*.c")]
    folders = [part / "src", part / "include"]
    folders += [ROOT / name for name in ("runtime/core/include", "runtime/core/src", "gen_out")]
    names = part / library.name.replace(".so.2", ".map")
    run(
        ["gcc", "-std=c11", "-O1", "-fPIC", "-shared", *(f"-I{folder}" for folder in folders)]
        + [f"-Wl,--version-script={names}", "-o", str(library), str(changed)]
        + [str(path) for path in others if path.stem != original.stem]
        + [str(build / "libgfsmith.a")]
    )


def pyeclibs_own_tests(library: Path, types: str, selected: str, folder: Path) -> int:
    """Run the selected of PyECLib's tests with Debian's PyECLib and liberasurecode, and return how many pass.

    types: those that the tests may use, of which liberasurecode must load `library`; "" leaves the choice to
    PyECLib.
    """
    shutil.copytree(pyeclib("1.6.0") / "test", folder / "test", ignore=shutil.ignore_patterns("*.pdf"))
    if types:
        shutil.copy(CLIENTS / "pyeclib_conftest.py", folder / "conftest.py")
    loaded, name = folder / "loaded", library.name.removesuffix(".so.2")
    environment = with_library(library.parent, LOADED=str(loaded), TYPES=types, LIBRARY=name)
    options = ["-W", "ignore", "-p", "no:cacheprovider", "-k", selected, "test"]
    printed = run([sys.executable, "-m", "pytest", *options], cwd=folder, env=environment)
    passed = re.search(r"(\d+) passed", printed)
    assert passed is not None and "failed" not in printed
    if types:
        assert loaded.read_text() == str(library)
    return int(passed[1])


def exchange_stripes(library: Path, real: Path, ec_type: str, fragments: int, folder: Path) -> None:
    """Require that PyECLib writes equal fragments with both libraries, and that each library reads the
    fragments of the other. fragments: their number over all shapes in clients/stripes.py."""

    def stripes(action: str, used: Path, written: Path) -> None:
        name = library.name.removesuffix(".so.2")
        script = [sys.executable, str(CLIENTS / "stripes.py"), action, str(written), ec_type, name]
        loaded = run(script, env=with_library(used.parent)).strip()
        assert Path(loaded).resolve() == used.resolve()

    ours, theirs = folder / "ours", folder / "real"
    for used, written in ((library, ours), (real, theirs)):
        written.mkdir()
        stripes("write", used, written)
    names = sorted(path.name for path in theirs.iterdir())
    assert len(names) == 4 * fragments
    for name in names:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
    stripes("read", library, theirs)
    stripes("read", real, ours)


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
        r"\b(void|int|unsigned char|unsigned int|uint\d+_t)\s+((?:ec|gf|xor|pq|crc\d+)_\w+)\s*"
        r"\(([^)]*)\)\s*;",
        text,
    ):
        types = [re.sub(r"\bconst\b|\w+$", "", p.strip()) for p in parameters.split(",")]
        found[name] = (result, *("".join(t.split()) for t in types))
    return found
