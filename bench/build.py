"""The driver and the peers: fetched with ordinary package clients, built under build/bench.

ISA-L's sources are in a crate; bench/peers/isal_sources.py fetches and assembles them.
A peer that cannot be built is reported by name with the reason; it is never left out silently.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.peers import isal_sources
from bench.peers.clients import Unavailable

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "bench"
#: Tables and pictures of the measurements in the repository.
RESULTS = HERE / "results"
LIBRARY = ROOT / "build" / "libgfsmith.a"
DROP_IN = ROOT / "build" / "libisal_ec.a"

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
_OPTIMISED = ("-O2", "-std=gnu11")

VERSIONS = {
    "isal": "ISA-L 2.32.0 (crate erasure-isa-l-sys 1.1.0)",
    "dropin": "gfsmith's replacement for ISA-L",
    "klauspost": "klauspost/reedsolomon 1.14.2",
    "rust": "reed-solomon-erasure 6.0.0 with simd-accel, reed-solomon-simd 3.1.0",
    "wide": "leopard-codec 0.2.0, reed-solomon-novelpoly 2.0.0 with avx",
    "checksums": "crc-fast 1.10.0, crc32fast 1.5.5, zlib-ng 2.3.3 (crate libz-ng-sys 1.1.33)",
    "jerasure": "Jerasure 2.0 with gf-complete 1.0.2 (Debian)",
}

#: SHA-256 of the crates, as recorded by cargo.
CRATES = {
    "crc-fast": "e75b2483e97a5a7da73ac68a05b629f9c53cff58d8ed1c77866079e18b00dba5",
    "crc32fast": "2b929dd2a135771f40afabd1073f85eed59c800b7c61901e5c254270497dad64",
    "leopard-codec": "3b397c7217467c5e5582fe413bc2f0e9f804367af8bc0f0374dc966f99d00f9c",
    "libz-ng-sys": "922f69da893772fd14ea9118138d1111f89830a9753438ddf69987f24600cb63",
    "reed-solomon-erasure": "7263373d500d4d4f505d43a2a662d475a894aa94503a1ee28e9188b5f3960d4f",
    "reed-solomon-novelpoly": "87413ebb313323d431e85d0afc5a68222aaed972843537cbfe5f061cf1b4bcab",
    "reed-solomon-simd": "cffef0520d30fbd4151fb20e262947ae47fb0ab276a744a19b6398438105a072",
}


class BuildError(Exception):
    """A program could not be built. The message names it and the remedy."""


@dataclass(slots=True)
class Built:
    """The driver, the shared objects of the peers by name, and the reasons why others are missing."""

    driver: Path
    libraries: dict[str, Path] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def run_command(command: Sequence[str | Path], advice: str, cwd: Path = ROOT) -> None:
    """Run a program. Raises BuildError, with the advice, if it is missing or fails."""
    name = str(command[0])
    if shutil.which(name) is None:
        raise BuildError(f"{name} is missing: {advice}")
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        errors = [line for line in lines if "error" in line.lower()]
        raise BuildError(f"{name} failed: {(errors or lines)[0].replace(str(ROOT) + '/', '')} ({advice})")


def _newer(target: Path, sources: Sequence[Path]) -> bool:
    """Return whether the target exists and no source is newer."""
    return target.exists() and all(s.stat().st_mtime <= target.stat().st_mtime for s in sources)


def compile_program(output: Path, sources: Sequence[Path], flags: Sequence[str], link: Sequence[str]) -> None:
    """Compile and link a program or shared object by gcc. Raises BuildError."""
    advice = "gcc and the headers are Debian's gcc, libc6-dev"
    run_command(["gcc", *_OPTIMISED, *flags, "-o", output, *sources, *link], advice)


def shared_object(
    output: Path, sources: Sequence[Path], headers: Sequence[Path], folders: Sequence[Path] = ()
) -> Path:
    """Build a shared object from portable C11 if it is missing or out of date. folders: include folders.
    Raises BuildError."""
    if not _newer(output, [*sources, *headers]):
        output.parent.mkdir(parents=True, exist_ok=True)
        fresh = output.with_name(f"{output.name}.{os.getpid()}")  # other processes may build it too
        flags = ("-std=c11", "-O3", *WARNINGS, "-shared", "-fPIC", *(f"-I{folder}" for folder in folders))
        run_command(["cc", *flags, "-o", fresh, *sources], "a C compiler is Debian's gcc or clang")
        fresh.replace(output)
    return output


def _isal(output: Path) -> None:
    try:
        kernels = isal_sources.objects("sysv")
    except Unavailable as error:
        raise BuildError(str(error).splitlines()[0]) from error
    isal = isal_sources.BUILD / "crate" / "vendor" / isal_sources.CRATE / "vendor" / "isa-l"
    own = [isal / "erasure_code" / name for name in ("ec_highlevel_func.c", "ec_base.c")]
    sources = [HERE / "peers" / "isal.c", *own, *sorted(kernels.glob("*.o"))]
    flags = ("-fPIC", "-shared", "-w", f"-I{isal / 'include'}")
    compile_program(output, sources, flags, ["-Wl,-z,noexecstack,--no-undefined"])


def _dropin(output: Path) -> None:
    if not DROP_IN.exists():
        raise BuildError(f"{DROP_IN.name} is missing: run make isal")
    flags = ("-fPIC", "-shared", *WARNINGS, "-DBENCH_DROPIN")
    compile_program(output, [HERE / "peers" / "isal.c", DROP_IN], flags, [])


def _jerasure(output: Path) -> None:
    headers = ("/usr/include/jerasure.h", "/usr/include/jerasure/galois.h")
    if not all(Path(header).exists() for header in headers):
        raise BuildError("its headers are missing: apt-get install libjerasure-dev libgf-complete-dev")
    flags = ("-fPIC", "-shared", *WARNINGS, "-isystem", "/usr/include/jerasure")
    compile_program(output, [HERE / "peers" / "jerasure.c"], flags, ["-lJerasure"])


def _klauspost(output: Path) -> None:
    command = ("go", "build", "-buildmode=c-shared", "-trimpath", "-o", output, ".")
    run_command(command, "Go 1.24 or newer builds klauspost/reedsolomon", HERE / "peers" / "klauspost")


def _crates(output: Path, name: str, *options: str) -> None:
    """Build from a copy: the lock that cargo writes names its registry and stays out of the sources."""
    project, target = BUILD / name, BUILD / f"cargo-{name}"
    shutil.copytree(HERE / "peers" / "rust", project, dirs_exist_ok=True)
    command: tuple[str | Path, ...] = ("cargo", "build", "--release", "--quiet", *options)
    command += ("--target-dir", target)
    run_command(command, "cargo 1.82 or newer builds the Rust peers", project)
    lock = (project / "Cargo.lock").read_text()
    for crate, checksum in CRATES.items():
        entry = re.search(rf'name = "{crate}"[^\[]*checksum = "(\w+)"', lock)
        if entry is None or entry[1] != checksum:
            raise BuildError(f"the crate {crate} has an unexpected SHA-256: {checksum}")
    shutil.copyfile(target / "release" / "librust.so", output)


def _rust(output: Path) -> None:
    _crates(output, "rust")


def _checksums(output: Path) -> None:
    _crates(output, "checksums", "--features", "checksums")


def _wide(output: Path) -> None:
    """Build for this CPU, because reed-solomon-novelpoly chooses its instructions when it is compiled."""
    native = 'build.rustflags=["-C", "target-cpu=native"]'
    _crates(output, "wide", "--features", "wide", "--config", native)


PEERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "isal": (_isal, "isal.c"),
    "dropin": (_dropin, "isal.c"),
    "klauspost": (_klauspost, "klauspost"),
    "rust": (_rust, "rust"),
    "wide": (_wide, "rust"),
    "checksums": (_checksums, "rust"),
    "jerasure": (_jerasure, "jerasure.c"),
}
#: Peers that the driver does not run.
OTHER_BENCHES = frozenset({"wide", "checksums"})


def _sources(name: str) -> list[Path]:
    at = HERE / "peers" / PEERS[name][1]
    files = [at] if at.is_file() else [path for path in at.rglob("*") if path.is_file()]
    library = [DROP_IN] if name == "dropin" and DROP_IN.exists() else []
    return [*files, *library, HERE / "driver" / "peer.h"]


def _driver(library: Path) -> Path:
    if not library.exists():
        raise BuildError(f"{library.name} is missing: run make lib")
    output = BUILD / "driver"
    sources = sorted((HERE / "driver").glob("*.c"))
    include = f"-I{ROOT / 'runtime/core/include'}"
    fresh = output.with_suffix(".new")
    compile_program(fresh, [*sources, library], (*WARNINGS, include), ["-ldl", "-lpthread"])
    return fresh.replace(output)


def peer(name: str, say: Callable[[str], None]) -> Path:
    """Return the shared object of a peer, built if it is missing or out of date. Raises BuildError."""
    BUILD.mkdir(parents=True, exist_ok=True)
    target = BUILD / f"{name}.so"
    if not _newer(target, _sources(name)):
        say(f"building {VERSIONS[name]}")
        fresh = target.with_suffix(".new.so")  # a concurrent run keeps its file
        PEERS[name][0](fresh)
        fresh.replace(target)
    return target


def build(library: Path, only_present: frozenset[str], say: Callable[[str], None]) -> Built:
    """Build the programs that are missing or out of date. Peers in `only_present` are used only if they
    exist.

    Raises BuildError if the driver cannot be built.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    say("building the driver")
    built = Built(_driver(library))
    for name in PEERS:
        if name in OTHER_BENCHES:
            continue
        if name in only_present and not _newer(BUILD / f"{name}.so", _sources(name)):
            built.missing[name] = "not built yet; make bench builds it"
            continue
        try:
            built.libraries[name] = peer(name, say)
        except BuildError as error:
            built.missing[name] = str(error)
    return built
