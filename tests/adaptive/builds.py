"""Exported sources with a coordinator and without, and what makes programs of them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ..shared import fewest_kernels, once

ROOT = Path(__file__).resolve().parents[2]
GFSMITH = ROOT / ".venv" / "bin" / "gfsmith"
CACHE = ROOT / ".gfsmith-cache"  #: what `make gen` made and proved need not be done again
NATIVE = Path(__file__).parent / "native"

STRICT = ("-std=c11", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror")

#: As few kernels as a codec needs, and one for a coordinator: [adaptive] would make ten for each shape.
WITH = (
    fewest_kernels(["avx2", "scalar"])
    + """
[[kernels]]
operation = "dot"
shapes = ["nx2"]
isas = ["avx2"]
walk = "rows"
unroll = 2
pipelined = true
"""
)
WITHOUT = fewest_kernels(["scalar"])


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """What a command prints; it must succeed. gfsmith's own words on stderr are no matter."""
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
    """The folder of a libgfsmith.a with a coordinator, made from a tree, which is its parent."""

    def make(folder: Path) -> None:
        export(folder / "tree", WITH, "--form", "tree")
        run("make", "-j2", cwd=folder / "tree")

    return once(factory, "adaptive", make) / "tree" / "build"
