"""gfsmith with the kernels of kernels.toml: the driver with them, and a shared object for other drivers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.build import ROOT, BuildError, compile_program
from gfsmith.codes import parity_matrix

HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "bench" / "packets"
DRIVER = ROOT / "bench" / "driver"
_INCLUDE = f"-I{ROOT / 'runtime/core/include'}"


def elements(code: str, k: int, m: int) -> str:
    """Return the parity matrix of a code in the form that the driver reads (bench/driver/plan.c)."""
    return b"".join(bytes(row) for row in parity_matrix(code, k, m)).hex()


def _library() -> Path:
    """Return the library; some minutes at first. Raises BuildError."""
    gfsmith = ROOT / ".venv" / "bin" / "gfsmith"
    made = ("make", "lib", f"GFSMITH_GENERATED={BUILD}/gen", f"BUILD={BUILD}")
    for command in ((gfsmith, "gen", "-c", HERE / "kernels.toml"), made):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        if done.returncode:
            raise BuildError(f"{Path(command[0]).name} failed with status {done.returncode}")
    return BUILD / "libgfsmith.a"


def driver() -> Path:
    """Build the driver, linked with the library. Raises BuildError."""
    sources = [*sorted(DRIVER.glob("*.c")), _library()]
    compile_program(BUILD / "driver", sources, (_INCLUDE,), ["-ldl", "-lpthread"])
    return BUILD / "driver"


def shared() -> Path:
    """Build the library as a contender for drivers that are linked with another one. Raises BuildError."""
    return link(_library(), BUILD / "packets.so")


def link(library: Path, output: Path) -> Path:
    """Link a library and the contender; the symbols of both stay within the shared object."""
    sources = [HERE / "contender.c", DRIVER / "gfsmith.c", library]
    flags = ("-shared", "-fPIC", "-fvisibility=hidden", _INCLUDE)
    compile_program(output, sources, flags, ["-Wl,--exclude-libs,ALL", "-lpthread"])
    return output
