"""Copies of the examples and the contents of libraries, for the tests of build systems."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

from gfsmith import __version__
from tests.support.configurations import fewest_kernels
from tests.support.paths import ROOT

EXAMPLES = ROOT / "examples"
BIN = ROOT / ".venv" / "bin"

#: The output of the examples on a CPU with AVX2, and on one without.
OUTPUT = r"(avx2|scalar): shards 2 and 7 are back\n"
BOTH = r"gfsmith: (avx2|scalar), archive: avx2\n"
TREE = f"gfsmith-{__version__}"

SMALL = fewest_kernels(["scalar"])


class Place:
    """Runs commands with gfsmith in PATH, a separate cache of proofs, English messages, and compilers without
    optimisation, which are faster.
    """

    def __init__(self, cache: Path) -> None:
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        ours = {"PATH": path, "GFSMITH_CACHE": str(cache), "LC_ALL": "C", "CFLAGS": "-O0"}
        # These variables would connect a make that runs the tests with the makes of the examples.
        inherited = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        self.environment = inherited | ours

    def run(
        self, *command: str | Path, cwd: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command],
            cwd=cwd,
            env=self.environment | environment,
            capture_output=True,
            text=True,
        )

    def call(self, *command: str | Path, cwd: Path | None = None, **environment: str) -> str:
        """Run a command that must succeed and return its output."""
        done = self.run(*command, cwd=cwd, **environment)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def copied(example: str, folder: Path) -> Path:
    """Copy an example into a folder, without the rest of the checkout."""
    return Path(shutil.copytree(EXAMPLES / example, folder / "project"))


def unpacked(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as found:
        found.extractall(folder)
    return folder / archive.name.removesuffix(".tar.xz")


def compiled_with_blanks(place: Place, described: Path, folder: Path) -> None:
    """Compile and run a program with the output of pkg-config, as a shell and make read it."""
    found = f"$(pkg-config --cflags --libs 'gfsmith = {__version__}')"
    command = f"gcc {EXAMPLES}/cmake/main.c {found} -o program"
    place.call("sh", "-c", f'eval "{command}"', cwd=folder, PKG_CONFIG_PATH=str(described))
    assert re.fullmatch(OUTPUT, place.call(folder / "program", LD_LIBRARY_PATH=str(described.parent)))


def kernels(place: Place, library: Path) -> set[str]:
    """Return the kernels in an archive: prefix_operation_shape[_code]__set, without tuning parameters."""
    symbols = place.call("nm", "--defined-only", library)
    found = re.findall(r" [tT] (\w+__[a-z0-9_]+?)_u\d\w*$", symbols, re.MULTILINE)
    assert found, symbols
    return set(found)


def check_kernels(place: Place, shards: Path, archive: Path) -> None:
    """Check that the two libraries of the examples have the requested kernels and no others."""
    one, other = kernels(place, shards), kernels(place, archive)
    assert {name.split("__")[1] for name in one} == {"avx2", "scalar"}
    assert {name for name in one if "cauchy" in name} == {"gfs_dot_10x4_cauchy__avx2"}
    assert other == {
        f"archive_{name}__avx2"
        for name in ("dot_6x3_vandermonde", "dot_nx1", "dot_nx2", "mad_1x1", "mad_nx1", "xor_nx1")
    }


def widen(config: Path) -> None:
    """Add one kernel to a configuration: dot_nx3."""
    text = config.read_text()
    assert '"nx2"' in text
    config.write_text(text.replace('"nx2"', '"nx2", "nx3"'))


def times(files: Sequence[Path]) -> list[int]:
    return [file.stat().st_mtime_ns for file in files]
