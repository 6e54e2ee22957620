"""The library gfsmith-compose for tests, with fault injection, and programs linked with it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.build_lock import locked
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT

NATIVE = Path(__file__).resolve().parent / "native"
SOURCES = sorted((ROOT / "runtime/compose/src").glob("*.c"))
#: A clock that a test can stop: a further source, and options of the linker.
CLOCK = NATIVE / "clock.c"
CLOCK_OPTIONS = ("-Wl,--wrap=clock_gettime",)
STRICT = (
    "-std=c11",
    "-D_GNU_SOURCE",
    "-DGFSMITH_COMPOSE_FAULTS",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
)
INCLUDES = tuple(
    f"-I{ROOT / folder}"
    for folder in ("runtime/core/include", "runtime/compose/include", "runtime/compose/src")
)
LIBRARIES = ("-lfabric", "-lsodium", "-lcrypto", "-lxxhash", "-pthread")


def compile_c(*words: str | Path) -> None:
    command = [str(word) for word in ("gcc", *STRICT, "-g", *INCLUDES, *words)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", " ".join(command) + "\n" + done.stderr


def archive(folder: Path, *flags: str) -> None:
    """Compile libgfsmith-compose.a in a folder with these flags."""
    objects = [folder / f"{source.stem}.o" for source in SOURCES]
    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(
                lambda pair: compile_c(*flags, "-c", pair[0], "-o", pair[1]),
                zip(SOURCES, objects, strict=True),
            )
        )
    subprocess.run(["ar", "rcs", folder / "libgfsmith-compose.a", *objects], check=True)


@dataclass(frozen=True, slots=True)
class Library:
    """The library in `folder`, compiled with `flags`, and the core library in `build`."""

    folder: Path
    build: Path
    flags: tuple[str, ...]

    def objects(self, *sources: Path) -> list[Path]:
        """Compile these sources in the library's folder, each once for all programs,
        and return the objects.
        """
        made = [self.folder / f"{source.parent.name}-{source.stem}.o" for source in sources]
        for source, path in zip(sources, made, strict=True):
            with locked(path.with_suffix(".lock")):
                if not path.exists():
                    fresh = path.with_suffix(".new")
                    compile_c(*self.flags, "-c", source, "-o", fresh)
                    fresh.rename(path)
        return made

    def link(self, program: Path, *objects: Path, options: Sequence[str] = ()) -> None:
        """Link a program. options: the linker's."""
        archives = (self.folder / "libgfsmith-compose.a", self.build / "libgfsmith.a")
        compile_c(*self.flags, *objects, *options, *archives, *LIBRARIES, "-o", program)

    def program(self, name: str, *sources: Path, options: Sequence[str] = ()) -> Path:
        """Return a program of these sources in the library's folder, built once."""
        path = self.folder / name
        with locked(path.with_suffix(".lock")):
            if not path.exists():
                made = path.with_suffix(".new")
                self.link(made, *self.objects(*sources), options=options)
                made.rename(path)
        return path


def with_error(
    library: Library,
    mutant: Mutant,
    folder: Path,
    name: str,
    *sources: Path,
    options: Sequence[str] = (),
) -> Path:
    """Build a program of these sources in `folder`, with this error in the library."""
    _, changed = plant(mutant, SOURCES, folder)
    wrong = folder / "changed.o"
    compile_c(*library.flags, "-w", "-c", changed, "-o", wrong)
    library.link(folder / name, *library.objects(*sources), wrong, options=options)
    return folder / name
