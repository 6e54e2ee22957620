"""The driver, linked with the library that `make adaptive` builds, ISA-L, and the memory load."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.build import BUILD, ROOT, WARNINGS, BuildError, compile_program, peer
from bench.packets.build import shared

HERE = Path(__file__).resolve().parent
LIBRARY = ROOT / "build" / "adaptive" / "libgfsmith.a"


@dataclass(frozen=True, slots=True)
class Built:
    """Programs, and the shared objects of ISA-L and of gfsmith with XOR-based codes; digest: of the measured
    library."""

    driver: Path
    load: Path
    isal: Path
    packets: Path
    digest: str


def _program(name: str, sources: list[Path], link: list[str]) -> Path:
    output = BUILD / f"adaptive-{name}"
    include = [f"-I{ROOT / 'runtime' / part / 'include'}" for part in ("core", "adaptive")]
    fresh = output.with_suffix(".new")
    compile_program(fresh, sources, (*WARNINGS, *include), link)
    return fresh.replace(output)


def build(library: Path, say: Callable[[str], None]) -> Built:
    """Build the driver, the load and ISA-L. Raises BuildError."""
    if not library.exists():
        raise BuildError(f"{library.name} is missing: run make adaptive")
    BUILD.mkdir(parents=True, exist_ok=True)
    say("building the driver")
    core = [path for path in sorted((HERE.parent / "driver").glob("*.c")) if path.name != "main.c"]
    own = [HERE / "driver" / name for name in ("main.c", "adaptive.c")]
    driver = _program("driver", [*own, *core, library], ["-ldl", "-lpthread"])
    load = _program("load", [HERE / "driver" / "load.c"], [])
    say("building the kernels of XOR-based codes")
    digest = hashlib.sha256(library.read_bytes()).hexdigest()[:16]
    return Built(driver, load, peer("isal", say), shared(), digest)
