"""Requirements of gfsmith on a machine, the check that they are met, and the commands that install them.

Needs only Python's standard library, because the set-up runs it before any package is installed:
`PYTHONPATH=generator python3 -m gfsmith.build.requirements LEVEL` prints the missing Debian packages of a
level.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from gfsmith.build.packages import System, install_command, this_system
from gfsmith.kernel.architecture import ARCHITECTURES

PYTHON = "/usr/bin/python3"  #: the interpreter that has Debian's PeachPy
UNPACKED = Path(__file__).parents[3] / ".venv" / "bin"  #: where tools/setup.sh unpacks single programs


#: The compiler and the C library of another architecture, by its triple.
CROSS = ("{}-gcc", "/usr/{}/lib/libc.a")


class Level(Enum):
    """The purpose of a requirement, named after a target of make. PACKAGES: kernels for Go and Rust.

    PEERS, YCSB and FOREIGN: further programs for the benchmarks and for `make verdicts`. Their absence is no
    error: these list the peers and libraries that they could not build."""

    GEN = "gen"
    LIB = "lib"
    PACKAGES = "packages"
    COMPOSE = "compose"
    PYTHON = "python"
    JAVA = "java"
    WASM = "wasm"
    DOCS = "docs"
    CHECK = "check"
    ANALYZE = "analyze"
    TEST = "test"
    TEST_ALL = "test-all"
    TUNE = "tune"
    SITE = "site"
    BENCH = "bench"
    BENCH_COMPOSE = "bench-compose"
    RELEASE = "release"
    VERDICTS = "verdicts"
    PEERS = "peers"
    YCSB = "ycsb"
    FOREIGN = "foreign"


#: The levels whose requirements each level includes.
_UPON: dict[Level, tuple[Level, ...]] = {
    Level.GEN: (),
    Level.LIB: (Level.GEN,),
    Level.PACKAGES: (Level.GEN,),
    Level.COMPOSE: (Level.LIB,),
    Level.PYTHON: (Level.LIB,),
    Level.JAVA: (Level.LIB,),
    Level.WASM: (Level.LIB,),
    Level.DOCS: (Level.GEN,),
    Level.CHECK: (Level.LIB,),
    Level.ANALYZE: (Level.GEN,),
    Level.TEST: (Level.COMPOSE, Level.PYTHON),
    Level.TEST_ALL: (Level.TEST, Level.RELEASE, Level.DOCS, Level.CHECK, Level.ANALYZE),
    Level.TUNE: (Level.LIB,),
    Level.SITE: (Level.DOCS,),
    Level.BENCH: (Level.LIB,),
    Level.BENCH_COMPOSE: (Level.COMPOSE,),
    Level.RELEASE: (Level.PYTHON, Level.JAVA, Level.WASM),
    Level.VERDICTS: (Level.LIB,),
    Level.PEERS: (),
    Level.YCSB: (),
    Level.FOREIGN: (),
}


class Probe(Enum):
    """The kind of check for a requirement."""

    COMMAND = "command"
    MODULE = "module"
    FILE = "file"
    UNPACKED = "unpacked"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement. name: a command, a Python module or a file. package: Debian's name for it; packages.py
    has the names elsewhere. also: other levels that need it.

    UNPACKED: one program of a package of another suite, which is not installed, so that the system's version
    stays; package is then PACKAGE/SUITE."""

    level: Level
    probe: Probe
    name: str
    package: str
    purpose: str
    also: tuple[Level, ...] = ()


_DEBIAN: tuple[Requirement, ...] = (
    Requirement(Level.GEN, Probe.COMMAND, PYTHON, "python3", "runs the generator"),
    Requirement(Level.GEN, Probe.MODULE, "ensurepip", "python3-venv", "virtual environment"),
    Requirement(Level.GEN, Probe.MODULE, "peachpy", "python3-peachpy", "encodes x86 instructions"),
    Requirement(Level.LIB, Probe.COMMAND, "make", "make", "builds"),
    Requirement(Level.LIB, Probe.COMMAND, "gcc", "gcc", "compiles and assembles the library"),
    Requirement(Level.LIB, Probe.FILE, "/usr/include/stdio.h", "libc6-dev", "C headers"),
    Requirement(Level.LIB, Probe.COMMAND, "pkg-config", "pkg-config", "finds libraries"),
    Requirement(Level.LIB, Probe.FILE, "/usr/include/xxhash.h", "libxxhash-dev", "shard checksums"),
    Requirement(Level.COMPOSE, Probe.FILE, "/usr/include/rdma/fabric.h", "libfabric-dev", "make compose"),
    Requirement(Level.COMPOSE, Probe.FILE, "/usr/include/sodium.h", "libsodium-dev", "make compose"),
    Requirement(Level.COMPOSE, Probe.FILE, "/usr/include/openssl/ssl.h", "libssl-dev", "make compose"),
    Requirement(Level.COMPOSE, Probe.COMMAND, "openssl", "openssl", "makes certificates"),
    Requirement(Level.COMPOSE, Probe.FILE, "/usr/include/uthash.h", "uthash-dev", "make compose"),
    Requirement(Level.COMPOSE, Probe.FILE, "/usr/include/event.h", "libevent-dev", "apps/stripe-store"),
    Requirement(
        Level.COMPOSE,
        Probe.FILE,
        "/usr/include/libmemcached/memcached.h",
        "libmemcached-dev",
        "apps/stripe-store",
    ),
    Requirement(Level.COMPOSE, Probe.COMMAND, "memcached", "memcached", "apps/stripe-store"),
    Requirement(Level.COMPOSE, Probe.FILE, "/usr/include/sqlite3.h", "libsqlite3-dev", "apps/stripe-store"),
    Requirement(Level.PYTHON, Probe.COMMAND, "python3-config", "python3-dev", "compiles for Python"),
    Requirement(
        Level.WASM,
        Probe.COMMAND,
        "clang-19",
        "clang-19",
        "second compiler, assembler",
        (Level.PACKAGES, Level.FOREIGN),
    ),
    Requirement(Level.WASM, Probe.COMMAND, "ld.lld-19", "lld-19", "links for other machines"),
    Requirement(Level.WASM, Probe.FILE, "/usr/include/wasm32-wasi/stdlib.h", "wasi-libc", "bindings/wasm"),
    Requirement(Level.WASM, Probe.COMMAND, "wasm-objdump", "wabt", "decodes modules for their proof"),
    Requirement(
        Level.WASM,
        Probe.FILE,
        "/usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a",
        "libclang-rt-19-dev-wasm32",
        "bindings/wasm",
    ),
    Requirement(Level.TEST, Probe.COMMAND, "git", "git", "checks the tree", (Level.RELEASE,)),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "memccp", "libmemcached-tools", "tests of apps/stripe-store"),
    Requirement(Level.TEST, Probe.COMMAND, "g++", "g++", "checks the header as C++"),
    Requirement(Level.DOCS, Probe.COMMAND, "doxygen", "doxygen", "C reference: make docs"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "mandoc", "mandoc", "reads the man pages"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "dot", "graphviz", "draws graphs: graph --dot"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "zsh", "zsh", "completes command lines"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "fish", "fish", "completes command lines"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "llvm-mc-19", "llvm-19", "second assembler"),
    Requirement(
        Level.TEST_ALL, Probe.COMMAND, "llvm-mca-19", "llvm-19", "predicts cycles: explain, tune --model"
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.COMMAND,
        "riscv64-linux-gnu-objdump",
        "binutils-riscv64-linux-gnu",
        "decodes RISC-V: verify",
    ),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "llvm-objdump-19", "llvm-19", "predicts cycles of C: explain"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "clang-14", "clang-14", "Debian 12's own clang"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "valgrind", "valgrind", "counts the instructions of a call"),
    Requirement(Level.CHECK, Probe.COMMAND, "clang-format-19", "clang-format-19", "C layout"),
    Requirement(
        Level.TEST_ALL,
        Probe.COMMAND,
        "x86_64-w64-mingw32-gcc",
        "gcc-mingw-w64-x86-64-win32",
        "COFF objects",
    ),
    Requirement(Level.TEST_ALL, Probe.FILE, "/usr/lib/wine/wine64", "wine64", "runs Windows programs"),
    Requirement(
        Level.TEST_ALL,
        Probe.COMMAND,
        "qemu-x86_64-static",
        "qemu-user-static",
        "emulates other CPUs",
        (Level.RELEASE,),
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.UNPACKED,
        "qemu-loongarch64",
        "qemu-user/bookworm-backports",
        "emulates LoongArch with LSX and LASX, which Debian 12's qemu lacks",
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.UNPACKED,
        "qemu-riscv64",
        "qemu-user/bookworm-backports",
        "emulates riscv_hwprobe, which Debian 12's qemu lacks",
    ),
    *(
        Requirement(
            Level.TEST_ALL,
            probe,
            name.format(triple),
            package,
            f"compiles for {triple}",
            (Level.JAVA,) if debian == "arm64" else (),
        )
        for triple, debian in ((each.triple, each.debian) for each in ARCHITECTURES if each.debian)
        for probe, name, package in (
            (Probe.COMMAND, CROSS[0], f"gcc-{triple}"),
            (Probe.FILE, CROSS[1], f"libc6-dev-{debian}-cross"),
        )
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.FILE,
        "/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a",
        "libclang-rt-19-dev",
        "sanitizers and libFuzzer",
    ),
    Requirement(Level.ANALYZE, Probe.COMMAND, "frama-c", "frama-c-base", "make analyze"),
    Requirement(Level.CHECK, Probe.COMMAND, "abidiff", "abigail-tools", "compares the binary interface"),
    Requirement(Level.TEST, Probe.COMMAND, "readelf", "binutils", "reads the flags of objects"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "tsc", "node-typescript", "types of bindings/wasm"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "chromium", "chromium", "the page of bindings/wasm"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "chromedriver", "chromium-driver", "drives Chromium"),
    Requirement(Level.TEST_ALL, Probe.MODULE, "selenium", "python3-selenium", "drives Chromium"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "cmake", "cmake", "builds the library with CMake"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "ninja", "ninja-build", "CMake and Meson build with it"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "meson", "meson", "examples/meson, examples/wrap"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "bazel", "bazel-bootstrap", "examples/bazel"),
    Requirement(
        Level.TEST_ALL,
        Probe.FILE,
        "/usr/share/bazel/rules/java/WORKSPACE",
        "bazel-rules-java",
        "Bazel itself",
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.FILE,
        "/usr/share/bazel/rules/proto/WORKSPACE",
        "bazel-rules-proto",
        "Bazel itself",
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.COMMAND,
        "nasm",
        "nasm",
        "assembles ISA-L for the prover",
        (Level.PEERS, Level.FOREIGN),
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.COMMAND,
        "cargo",
        "cargo-web",
        "fetches ISA-L 2.32, bindings/rust",
        (Level.PEERS, Level.FOREIGN, Level.RELEASE),
    ),
    Requirement(
        Level.FOREIGN,
        Probe.COMMAND,
        "dpkg-source",
        "dpkg-dev",
        "unpacks source packages",
        (Level.RELEASE,),
    ),
    Requirement(Level.RELEASE, Probe.COMMAND, "dh", "debhelper", "builds Debian packages"),
    Requirement(Level.RELEASE, Probe.COMMAND, "dh_python3", "dh-python", "builds Debian packages"),
    Requirement(Level.RELEASE, Probe.COMMAND, "lintian", "lintian", "checks Debian packages"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "bindgen", "bindgen", "reads the header for bindings/rust"),
    Requirement(Level.TEST_ALL, Probe.FILE, "/usr/lib/llvm-14/lib/libclang.so.1", "libclang1-14", "bindgen"),
    Requirement(
        Level.TEST_ALL,
        Probe.COMMAND,
        "go",
        "golang-go",
        "bindings/go, and builds klauspost/reedsolomon",
        (Level.FOREIGN, Level.RELEASE),
    ),
    Requirement(
        Level.JAVA, Probe.COMMAND, "javac", "openjdk-17-jdk-headless", "compiles bindings/java", (Level.YCSB,)
    ),
    Requirement(Level.JAVA, Probe.COMMAND, "mvn", "maven", "fetches Hadoop's classes", (Level.YCSB,)),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "snapraid", "snapraid", "reference"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "par2", "par2", "reference"),
    Requirement(
        Level.TEST_ALL,
        Probe.FILE,
        "/usr/include/nettle/md5.h",
        "nettle-dev",
        "gfsmith-shards par2",
        (Level.RELEASE,),
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.FILE,
        "/usr/arm-linux-gnueabihf/include/string.h",
        "libc6-dev-armhf-cross",
        "compiles for a machine of 32 bits",
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.COMMAND,
        "powerpc64-linux-gnu-gcc",
        "gcc-powerpc64-linux-gnu",
        "compiles for big-endian POWER",
    ),
    Requirement(
        Level.TEST_ALL,
        Probe.FILE,
        "/usr/powerpc64-linux-gnu/include/string.h",
        "libc6-dev-ppc64-cross",
        "compiles for big-endian POWER",
    ),
    Requirement(Level.TEST_ALL, Probe.MODULE, "zfec", "python3-zfec", "reference"),
    Requirement(Level.TEST, Probe.FILE, "/usr/include/isa-l.h", "libisal-dev", "reference"),
    Requirement(
        Level.TEST_ALL,
        Probe.FILE,
        "/usr/include/liberasurecode/erasurecode_backend.h",
        "liberasurecode-dev",
        "a program that uses ISA-L; examples/liberasurecode",
    ),
    Requirement(Level.TEST_ALL, Probe.FILE, "/usr/include/rados/buffer.h", "libradospp-dev", "examples/ceph"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "ceph-mon", "ceph-mon", "examples/ceph on a cluster"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "ceph-mgr", "ceph-mgr", "examples/ceph on a cluster"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "ceph-osd", "ceph-osd", "examples/ceph on a cluster"),
    Requirement(Level.TEST_ALL, Probe.COMMAND, "ceph", "ceph-common", "examples/ceph on a cluster"),
    Requirement(
        Level.TEST_ALL, Probe.MODULE, "pyeclib", "python3-pyeclib", "a program that uses ISA-L and Jerasure"
    ),
    Requirement(
        Level.TEST_ALL, Probe.COMMAND, "gf_methods", "gf-complete-tools", "the own tests of Jerasure use it"
    ),
    Requirement(Level.TEST_ALL, Probe.FILE, "/usr/include/zlib.h", "zlib1g-dev", "a program that uses ISA-L"),
    Requirement(
        Level.TEST, Probe.FILE, "/usr/include/jerasure.h", "libjerasure-dev", "reference", (Level.PEERS,)
    ),
    Requirement(
        Level.TEST,
        Probe.FILE,
        "/usr/include/gf_complete.h",
        "libgf-complete-dev",
        "reference",
        (Level.PEERS,),
    ),
)


def _system_module(name: str) -> bool:
    """Return True if the system's Python, whose packages the virtual environment uses, has the module."""
    if Path(sys.prefix) == Path("/usr") or importlib.util.find_spec(name) is not None:
        return importlib.util.find_spec(name) is not None
    if not Path(PYTHON).exists():
        return False
    return subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True).returncode == 0


def present(requirement: Requirement) -> bool:
    """Return True if a requirement is met."""
    match requirement.probe:
        case Probe.COMMAND:
            return shutil.which(requirement.name) is not None
        case Probe.MODULE:
            return _system_module(requirement.name)
        case Probe.FILE:
            return Path(requirement.name).exists()
        case Probe.UNPACKED:
            return (UNPACKED / requirement.name).exists()


def _with_those_below(level: Level) -> set[Level]:
    return {level}.union(*map(_with_those_below, _UPON[level]))


def requirements(level: Level) -> tuple[Requirement, ...]:
    """Return all requirements of `level` and of the levels that it includes."""
    levels = _with_those_below(level)
    return tuple(r for r in _DEBIAN if not levels.isdisjoint((r.level, *r.also)))


def remedy(requirement: Requirement) -> str:
    """Return the command that installs a requirement on this system, or how else to get it."""
    if requirement.probe is Probe.UNPACKED and this_system() is System.DEBIAN:
        return f"tools/setup.sh {requirement.level.value}, as root"
    return install_command(requirement.package, this_system())


def missing(level: Level) -> list[Requirement]:
    return [r for r in requirements(level) if not present(r)]


def main(arguments: list[str]) -> int:
    """Print the missing packages of a level, one per line; of one that is unpacked, PACKAGE/SUITE:PROGRAM."""
    allowed = ", ".join(level.value for level in Level)
    if len(arguments) != 1 or arguments[0] not in {level.value for level in Level}:
        said = ", ".join(map(repr, arguments)) or "missing"
        print(f"setup: LEVEL: {said}; allowed: one of {allowed}", file=sys.stderr)
        return 2
    lacking = missing(Level(arguments[0]))
    if this_system() is System.DEBIAN and os.geteuid() == 0:
        found = (f"{r.package}:{r.name}" if r.probe is Probe.UNPACKED else r.package for r in lacking)
        print("\n".join(found))
        return 0
    for requirement in lacking:
        print(
            f"missing: {requirement.name} ({requirement.purpose}); get it with: {remedy(requirement)}",
            file=sys.stderr,
        )
    return 1 if lacking else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
