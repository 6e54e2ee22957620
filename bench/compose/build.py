"""The driver, linked with the libraries that `make compose` builds."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.build import BUILD, LIBRARY, ROOT, WARNINGS, BuildError, compile_program

HERE = Path(__file__).resolve().parent
COMPOSE = ROOT / "build" / "libgfsmith-compose.a"
#: Requirements of libgfsmith-compose by their names in pkg-config.
NEEDS = ("libfabric", "libsodium", "libcrypto", "libxxhash")


@dataclass(frozen=True, slots=True)
class Built:
    """digest: of the measured libraries."""

    driver: Path
    digest: str


def flags(option: str) -> list[str]:
    """Return pkg-config's flags for the library's requirements. Raises BuildError."""
    if shutil.which("pkg-config") is None:
        raise BuildError("pkg-config is missing: apt-get install pkg-config")
    done = subprocess.run(["pkg-config", option, *NEEDS], capture_output=True, text=True)
    if done.returncode != 0:
        raise BuildError(f"{' or '.join(NEEDS)} is missing: tools/setup.sh compose installs them")
    return done.stdout.split()


def link(output: Path, more: Sequence[Path], options: Sequence[str]) -> None:
    """Link the driver, with further sources and linker flags if given. Raises BuildError."""
    include = [f"-I{ROOT / 'runtime' / part / 'include'}" for part in ("core", "compose")]
    sources = sorted((HERE / "driver").glob("*.c"))
    compile_program(
        output,
        [*sources, *more, COMPOSE, LIBRARY],
        (*WARNINGS, "-D_GNU_SOURCE", *include, *flags("--cflags")),
        [*flags("--libs"), "-lpthread", *options],
    )


def build() -> Built:
    """Raises BuildError."""
    for library, target in ((LIBRARY, "lib"), (COMPOSE, "compose")):
        if not library.exists():
            raise BuildError(f"{library.name} is missing: run make {target}")
    BUILD.mkdir(parents=True, exist_ok=True)
    output = BUILD / "compose-driver"
    fresh = output.with_suffix(".new")
    link(fresh, [], [])
    found = hashlib.sha256(COMPOSE.read_bytes() + LIBRARY.read_bytes())
    return Built(fresh.replace(output), found.hexdigest()[:16])
