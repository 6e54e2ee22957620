"""The examined libraries: their contracts, and the objects that registries' clients and compilers make.

contracts/NAME.toml describes the functions of a library, BUILDERS has the function that makes its objects.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.build import BUILD as BENCH
from bench.peers import isal_sources
from bench.peers.clients import run_client
from bench.verdicts.sources import crates, debian
from gfsmith.verify import contracts
from gfsmith.verify.contracts import Entry
from gfsmith.verify.functions import ForeignError

PEERS = Path(isal_sources.__file__).resolve().parent
BUILD = BENCH / "verdicts"
SNAPRAID = "12.2-1"  #: the version of Debian's source package
CONTRACTS = Path(__file__).resolve().parent / "contracts"

#: Keys of [library], and those of a function beyond the options of gfsmith verify. object: the file below the
#: library's folder; reproduction: a program below reproductions/ that shows a refutation.
_LIBRARY = ("name", "version", "origin")
_MORE = ("object", "reproduction")


@dataclass(frozen=True, slots=True)
class Library:
    """A library: its name and version, the origin of its objects, and its functions."""

    key: str
    name: str
    version: str
    origin: str
    entries: tuple[Entry, ...]


#: ISA-L's sources for other processors: their folder, the pattern of their files, and clang's options.
#: Without the version of GCC, ISA-L's header selects a branch that inverts every index.
_ISAL_OTHER = {
    "aarch64": ("aarch64", "*_neon.S", ("--target=aarch64-linux-gnu",)),
    "power": (
        "ppc64le",
        "gf_*.c",
        ("--target=powerpc64le-linux-gnu", "-mcpu=power8", "-O2", "-fgnuc-version=8.0.0"),
    ),
}


def _isal() -> Path:
    """Return the folder with the objects: sysv and ms of nasm, aarch64 and power of clang."""
    isal_sources.objects("ms")
    folder, root = isal_sources.objects("sysv").parent, isal_sources.sources()
    for machine, (sources, pattern, options) in _ISAL_OTHER.items():
        includes = (f"-I{root / 'include'}", f"-I{root / 'erasure_code'}")
        (folder / machine).mkdir(exist_ok=True)
        for source in sorted((root / "erasure_code" / sources).glob(pattern)):
            target = folder / machine / f"{source.stem}.o"
            command: list[str | Path] = ["clang-19", *options, *includes, "-w", "-c", source, "-o", target]
            run_client(command, root, "clang-19 assembles and compiles ISA-L for other processors")
    return folder


def _klauspost() -> Path:
    """Return the folder with Go's programs amd64 and arm64, which contain the module's assembly functions."""
    folder = BUILD / "klauspost"
    shutil.copytree(PEERS / "klauspost_arm64", folder, dirs_exist_ok=True)
    for machine in ("amd64", "arm64"):
        setting = ("env", "GOOS=linux", f"GOARCH={machine}", "CGO_ENABLED=0")
        command = (*setting, "go", "build", "-trimpath", "-o", machine, ".")
        run_client(command, folder, "Go 1.24 or newer builds klauspost/reedsolomon")
    return folder


def _reed_solomon_erasure() -> Path:
    """Return the folder with the C file of the crate, compiled for three instruction sets."""
    source = crates.sources() / "reed-solomon-erasure" / "simd_c" / "reedsolomon.c"
    folder = BUILD / "reed-solomon-erasure"
    for name, machine in (
        ("ssse3", "-mssse3"),
        ("avx2", "-march=haswell"),
        ("avx512", "-march=skylake-avx512"),
    ):
        compile_object(folder / f"{name}.o", [source], ("-O3", "-std=c11", machine))
    return folder


def _rusty_erasure() -> Path:
    """Return the folder with accel.o, the crate's kernels for this architecture."""
    folder = BUILD / "rusty_erasure"
    folder.mkdir(parents=True, exist_ok=True)
    crates.compiled("rusty_erasure-accel", folder / "accel.o")
    return folder


def _snapraid() -> Path:
    """Return the folder with snapraid.o: raid/x86.c and the tables that it reads."""
    source = debian.unpacked("snapraid", SNAPRAID)
    files = [source / "raid" / name for name in ("x86.c", "tables.c")]
    folder = BUILD / "snapraid"
    compile_object(folder / "snapraid.o", files, ("-O2", "-std=gnu99", f"-I{source}"))
    return folder


#: Library -> the function that returns the folder of its objects. It raises Unavailable.
BUILDERS: Mapping[str, Callable[[], Path]] = {
    "isal": _isal,
    "klauspost": _klauspost,
    "reed-solomon-erasure": _reed_solomon_erasure,
    "rusty_erasure": _rusty_erasure,
    "snapraid": _snapraid,
}


def compile_object(target: Path, sources: Sequence[Path], flags: Sequence[str]) -> None:
    """Compile C files and join their objects in one. Raises Unavailable."""
    target.parent.mkdir(parents=True, exist_ok=True)
    options = (*flags, "-w", "-r", "-nostdlib")
    run_client(["gcc", *options, "-o", target, *sources], target.parent, "gcc compiles the library")


def read(key: str, folder: Path = CONTRACTS) -> Library:
    """Return the description of a library. Raises ForeignError."""
    path = folder / f"{key}.toml"
    content = contracts.parse(path)
    about = content.pop("library", {})
    if sorted(about) != sorted(_LIBRARY):
        raise ForeignError(f"{path}: [library] needs {', '.join(_LIBRARY)}, and no other key")
    return Library(key, **about, entries=tuple(contracts.entries(path, content, _MORE)))


def object_of(folder: Path, entry: Entry) -> Path:
    """Return the object file of a function. Raises ForeignError if the entry names none."""
    if "object" not in entry.more:
        raise ForeignError(f"{entry.words.symbol}: no key 'object'")
    return folder / str(entry.more["object"]).format(symbol=entry.words.symbol)
