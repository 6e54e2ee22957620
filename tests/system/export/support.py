"""Exports with kernels of the default set, and programs that use them, for the tests of `gfsmith export`."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gfsmith.build import config, output, request, stages
from gfsmith.cli.console import progress
from gfsmith.export.amalgamation import amalgamate
from gfsmith.export.names import Names
from gfsmith.export.tree import tree
from tests.support.paths import ROOT
from tests.support.progress import without_progress

NATIVE = Path(__file__).parent / "native"
CACHE = ROOT / ".gfsmith-cache"  #: the cache of `make gen`, so that no kernel is generated and proved again
STRICT = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror")

SETS = {
    "gfs": '"gfni_avx512", "gfni_avx2", "avx512", "avx2", "gfni_sse", "sse", "neon", "scalar"',
    "acme": '"avx2", "sse", "neon", "scalar"',
}
CONFIG = """
[generator]
prefix = "{prefix}"
isas = [{isas}]
[[kernels]]
operation = "dot"
shapes = ["nx1", "nx2", "nx4", "10x4"]
[[kernels]]
operation = "mad"
shapes = ["1x1", "1x4", "nx1"]
[[kernels]]
operation = "mul"
shapes = ["nx1"]
[[kernels]]
operation = "xor"
shapes = ["nx1"]
[[kernels]]
operation = "dot"
code = "cauchy"
shapes = ["10x4"]
"""


def text(prefix: str) -> str:
    """Return a configuration."""
    return CONFIG.format(prefix=prefix, isas=SETS[prefix])


@cache
def made(prefix: str) -> stages.Made:
    """Return the build of a configuration."""
    specs = config.specs(config.parse(text(prefix), "test"), "test")
    return stages.make(request.Build(specs, ()), 1, CACHE, progress)


@dataclass(frozen=True)
class Export:
    """An amalgamation in a folder."""

    folder: Path
    names: Names

    @property
    def source(self) -> Path:
        return self.folder / f"{self.names.library}.c"

    @property
    def made(self) -> stages.Made:
        return made(self.names.prefix)

    def program(self, name: str) -> Path:
        """Return a program of native/, written for gfsmith, with this library's names."""
        path = self.folder / name
        path.write_text(self.names.text((NATIVE / name).read_text()))
        return path


def amalgamation(prefix: str, folder: Path) -> Export:
    kernels, files = made(prefix)
    names = Names(prefix)
    write(folder, amalgamate(kernels, files, names))
    return Export(folder, names)


def write_tree(prefix: str, folder: Path) -> None:
    kernels = made(prefix).kernels
    files = tree(kernels, made(prefix).files, Names(prefix))
    write(folder, files | {output.MANIFEST: output.manifest(kernels, files)})


def write(folder: Path, files: Mapping[str, str]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Run a command that must succeed without output on stderr, and return its output."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment})
    assert done.returncode == 0, " ".join(words) + "\n" + done.stdout + done.stderr
    assert without_progress(done.stderr) == "", done.stderr
    return done.stdout


def compiled(export: Export, compiler: tuple[str, ...], *flags: str) -> Path:
    """Return the amalgamation's object file, compiled once for each compiler and set of flags."""
    words = (*compiler, *STRICT, *flags)
    target = export.folder / f"{hashlib.sha256(repr(words).encode()).hexdigest()[:16]}.o"
    if not target.exists():
        run(*words, "-c", export.source, "-o", target)
    return target
