"""The examined libraries: their contracts, and the objects that registries' clients and compilers make.

contracts/NAME.toml describes the functions of a library, BUILDERS has the function that makes its objects.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
#: The versions of Debian's source packages.
SNAPRAID, GF_COMPLETE = "12.2-1", "1.0.2+2017.04.10.git.ea75cdf-9"
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
    """Return the folder with Go's programs, one for each architecture, which contain the module's assembly
    functions."""
    folder = BUILD / "klauspost"
    shutil.copytree(PEERS / "klauspost_arm64", folder, dirs_exist_ok=True)
    for machine in ("amd64", "arm64", "ppc64le"):
        setting = ("env", "GOOS=linux", f"GOARCH={machine}", "CGO_ENABLED=0")
        command = (*setting, "go", "build", "-trimpath", "-o", machine, ".")
        run_client(command, folder, "Go 1.24 or newer builds klauspost/reedsolomon")
    return folder


def _gf_complete() -> Path:
    """Return the folder with x86.o and neon.o: the functions for w = 8 and those that they call."""
    root = debian.unpacked("gf-complete", GF_COMPLETE)
    source, folder, options = root / "src", BUILD / "gf-complete", ("-O3", f"-I{root / 'include'}")
    sets = ("SSE2", "SSSE3", "SSE4", "SSE4_PCLMUL")
    flags = ("-msse4.1", "-mpclmul", *(f"-DINTEL_{name}" for name in sets))
    compile_object(folder / "x86.o", [source / "gf_w8.c", source / "gf.c"], (*options, *flags))
    neon = (*options, "-DARCH_AARCH64", "-DARM_NEON")
    compile_object(folder / "neon.o", [source / "neon" / "gf_w8_neon.c"], neon, "aarch64-linux-gnu-gcc")
    return folder


def _crate_with_c_file(crate: str) -> Path:
    """Return the folder with the C file of a crate, compiled for three instruction sets, and with rust.o: the
    crate's module galois_8."""
    source = crates.sources() / crate / "simd_c" / "reedsolomon.c"
    folder = BUILD / crate
    for name, machine in (
        ("ssse3", "-mssse3"),
        ("avx2", "-march=haswell"),
        ("avx512", "-march=skylake-avx512"),
    ):
        compile_object(folder / f"{name}.o", [source], ("-O3", "-std=c11", machine))
    crates.compiled(crate, folder / "rust.o", "galois_8")
    return folder


def _rusty_erasure() -> Path:
    """Return the folder with accel.o, the crate's kernels for this architecture."""
    folder = BUILD / "rusty_erasure"
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
    "gf-complete": _gf_complete,
    "reed-solomon-erasure": partial(_crate_with_c_file, "reed-solomon-erasure"),
    "rustfs-erasure-codec": partial(_crate_with_c_file, "rustfs-erasure-codec"),
    "rusty_erasure": _rusty_erasure,
    "snapraid": _snapraid,
}


def compile_object(
    target: Path, sources: Sequence[Path], flags: Sequence[str], compiler: str = "gcc"
) -> None:
    """Compile C files and join their objects in one. Raises Unavailable."""
    target.parent.mkdir(parents=True, exist_ok=True)
    options = (*flags, "-w", "-r", "-nostdlib")
    run_client(
        [compiler, *options, "-o", target, *sources], target.parent, f"{compiler} compiles the library"
    )


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
