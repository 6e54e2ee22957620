"""AArch64 objects for tests: the generated C and hand-written assembly, compiled by clang."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from tests.support.paths import ROOT

GEN_OUT = ROOT / "gen_out"
CLANG = ("clang-19", "--target=aarch64-linux-gnu", "-O2", "-std=c11", "-fPIC", "-Wall", "-Werror")
ASSEMBLER = ("clang-19", "--target=aarch64-linux-gnu", "-march=armv8.2-a+sha3")
NAME = "kernel"

_CHUNK = 13  #: kernels compiled together, because arm_neon.h is long


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def assemble(text: str, folder: Path, assembler: Sequence[str] = ASSEMBLER) -> Image:
    """Assemble a function `kernel` and return its image."""
    source, found = folder / "kernel.s", folder / "kernel.o"
    source.write_text(text)
    _run(*assembler, "-c", "-o", found, source)
    return load(found)


def kernels(symbols: Sequence[tuple[str, str]], folder: Path, compiler: Sequence[str] = CLANG) -> list[Path]:
    """Compile generated kernels, given as (instruction set, symbol), and return the objects."""

    def compile_some(start: int) -> Path:
        source = folder / f"part{start}.c"
        chosen = symbols[start : start + _CHUNK]
        source.write_text("".join(f'#include "{GEN_OUT / isa / symbol}.c"\n' for isa, symbol in chosen))
        _run(*compiler, f"-I{GEN_OUT}", "-c", "-o", source.with_suffix(".o"), source)
        return source.with_suffix(".o")

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(compile_some, range(0, len(symbols), _CHUNK)))
