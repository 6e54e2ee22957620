"""A Python for musl: neither Debian nor PyPI has one, so it is compiled from Debian's source package.

Debian's musl and musl-dev contain the C library, its headers and a file of specs, with which gcc links for
musl. Only the interpreter is built, with the extension modules that gfsmith.codec imports.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.verdicts.sources.debian import unpacked
from release.tests import archive

#: Lines of CPython's Modules/Setup: the modules in C behind struct, random, tempfile and secrets.
MODULES = """\
*static*
_bisect _bisectmodule.c
_blake2 _blake2/blake2module.c _blake2/blake2b_impl.c _blake2/blake2s_impl.c
_md5 md5module.c
_random _randommodule.c
_sha1 sha1module.c
_sha256 sha256module.c
_sha3 _sha3/sha3module.c
_sha512 sha512module.c
_struct _struct.c
binascii binascii.c
math mathmodule.c
"""
#: Answers that configure cannot find when it compiles for another machine.
ANSWERS = ("ac_cv_file__dev_ptmx=yes", "ac_cv_file__dev_ptc=no", "ac_cv_buggy_getaddrinfo=no")

#: configure finds zlib of this machine, not of the other C library; binascii has a CRC of its own.
WITHOUT_ZLIB = ("MODULE_BINASCII_CFLAGS=", "MODULE_BINASCII_LDFLAGS=")


@dataclass(frozen=True, slots=True)
class Machine:
    """name: the kernel's. debian: Debian's. compiler: a gcc. emulator: words before a program."""

    name: str
    debian: str
    compiler: str
    emulator: tuple[str, ...] = ()


MACHINES = (
    Machine("x86_64", "amd64", "gcc"),
    Machine("aarch64", "arm64", "aarch64-linux-gnu-gcc", ("qemu-aarch64-static",)),
)


def python(machine: Machine, folder: Path) -> tuple[str, ...]:
    """Build a Python in a folder, and return the words that start it. Takes a minute of CPU time."""
    root = archive.unpack(machine.debian, ("musl", "musl-dev"), folder)
    (root / "lib").rename(root / "loader")
    specs = _specs(machine, root)
    version = f"python3.{sys.version_info.minor}"
    build = folder / "build"
    (build / "Modules").mkdir(parents=True)
    (build / "Modules" / "Setup.local").write_text(MODULES, encoding="ascii")
    settings = (
        *("--quiet", "--build=x86_64-pc-linux-gnu", f"--host={machine.name}-linux-musl"),
        *(f"--with-build-python=/usr/bin/{version}", "--without-ensurepip", "--disable-test-modules"),
        *(f"CC={machine.compiler} -specs={specs}", "CFLAGS=-O0 -g0", "AR=ar", "READELF=/usr/bin/readelf"),
    )
    _call(str(unpacked(version) / "configure"), *settings, *ANSWERS, cwd=build)
    _call("make", f"-j{os.cpu_count()}", "python", *WITHOUT_ZLIB, cwd=build)
    return (*machine.emulator, str(build / "python"))


def _specs(machine: Machine, root: Path) -> Path:
    """Return the specs of musl-gcc with the paths of the unpacked packages, loader included."""
    library = root / "usr" / "lib" / f"{machine.name}-linux-musl"
    (library / "libc.so").symlink_to(root / "loader" / library.name / "libc.so")
    text = (library / "musl-gcc.specs").read_text(encoding="ascii")
    text = re.sub(r"(?<=[ L])/usr/", f"{root}/usr/", text)
    text = text.replace("-dynamic-linker /lib/", f"-dynamic-linker {root}/loader/")
    path = root / "specs"
    path.write_text(text, encoding="ascii")
    return path


def _call(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{command[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
