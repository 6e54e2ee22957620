"""Exported sources with and without a coordinator, and commands that build programs from them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.configurations import fewest_kernels
from tests.support.folders import once
from tests.support.paths import ROOT

GFSMITH = ROOT / ".venv" / "bin" / "gfsmith"
CACHE = ROOT / ".gfsmith-cache"  #: the cache of `make gen`, so that no kernel is generated and proved again
NATIVE = Path(__file__).parent / "native"

STRICT = ("-std=c11", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror")

#: The fewest kernels that a codec needs, one for a known matrix, and three for a coordinator, in two orders;
#: [adaptive] would generate ten for each shape.
WITH = (
    fewest_kernels(["avx2", "scalar"])
    + """
[[kernels]]
operation = "dot"
shapes = ["nx1"]
isas = ["avx2"]
walk = "rows"
unroll = 2
pipelined = true
[[kernels]]
operation = "dot"
shapes = ["nx1"]
isas = ["avx2"]
walk = "rows"
unroll = 8
pipelined = true
[[kernels]]
operation = "dot"
code = "cauchy"
shapes = ["5x2"]
isas = ["avx2"]
[[kernels]]
operation = "dot"
code = "cauchy"
shapes = ["5x2"]
isas = ["avx2"]
walk = "rows"
unroll = 2
pipelined = true
"""
)
WITHOUT = fewest_kernels(["scalar"])


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Run a command that must succeed and return its output, without stderr."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**inherited, "LC_ALL": "C", "CFLAGS": "-O0", "GFSMITH_CACHE": str(CACHE), **environment},
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def export(folder: Path, config: str, *flags: str) -> None:
    file = folder.with_suffix(".toml")
    file.write_text(config)
    run(GFSMITH, "export", "-c", file, "-o", folder, *flags)


def library(factory: pytest.TempPathFactory) -> Path:
    """Build a libgfsmith.a with a coordinator from a tree and return its folder, a subfolder of the tree."""

    def make(folder: Path) -> None:
        export(folder / "tree", WITH, "--form", "tree")
        run("make", "-j2", cwd=folder / "tree")

    return once(factory, "adaptive", make) / "tree" / "build"
