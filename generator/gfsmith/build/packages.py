"""Names of packages by system: Debian's, their equivalents elsewhere, and the system of this machine.

Needs only Python's standard library, like `gfsmith.build.requirements`, which names packages as Debian does.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from gfsmith.kernel.architecture import ARCHITECTURES

OS_RELEASES = (Path("/etc/os-release"), Path("/usr/lib/os-release"))


class System(Enum):
    """A family of systems with the same package names. The value is its ID in os-release."""

    DEBIAN = "debian"
    FEDORA = "fedora"
    ALPINE = "alpine"
    ARCH = "arch"
    MACOS = "macos"


#: ID or ID_LIKE in os-release -> system. Ubuntu and RHEL have relatives that list them alone.
_FAMILIES: Mapping[str, System] = {
    **{system.value: system for system in System if system is not System.MACOS},
    "ubuntu": System.DEBIAN,
    "rhel": System.FEDORA,
    "centos": System.FEDORA,
}

#: The program that gives a user the rights to install, and the command that installs a package.
_INSTALL = {
    System.DEBIAN: ("sudo ", "apt-get install -y --no-install-recommends"),
    System.FEDORA: ("sudo ", "dnf install -y"),
    System.ALPINE: ("doas ", "apk add"),
    System.ARCH: ("sudo ", "pacman -S --needed"),
    System.MACOS: ("", "brew install"),
}


@dataclass(frozen=True, slots=True)
class Unpackaged:
    """A system does not package a requirement. advice: how else to get it."""

    advice: str


Package = str | Unpackaged

_APPLE = Unpackaged("xcode-select --install (Apple's command line tools contain it)")
_LINUX_ONLY = Unpackaged("not available on macOS: use Linux")
_DEBIAN_ONLY = Unpackaged("only Debian 12 has it: run `make test-all` there")
_DEBIAN_TOOL = Unpackaged("not packaged: run `make release` on Debian")
_CROSS = Unpackaged("not packaged with its C library: run `make test-all` on Debian")
_SOURCE = Unpackaged("not packaged: build it from its source repository")
_OPAM = Unpackaged("not packaged: opam install frama-c")
#: PeachPy's released version does not work; this is the revision of Debian's package. docs/python.md
PEACHPY = "git+https://github.com/Maratyszcza/PeachPy@257881e"


def _pip(what: str) -> Unpackaged:
    return Unpackaged(f"not packaged: /usr/bin/python3 -m pip install --user --break-system-packages {what}")


def _everywhere(package: Package, macos: Package | None = None) -> tuple[Package, ...]:
    return package, package, package, package if macos is None else macos


#: Debian's name -> the names in Fedora, Alpine, Arch and Homebrew.
_NAMES: dict[str, tuple[Package, ...]] = {
    "python3": ("python3", "python3", "python", "python"),
    "python3-venv": ("python3", "python3", "python", "python"),
    "python3-dev": ("python3-devel", "python3-dev", "python", "python"),
    "python3-peachpy": _everywhere(_pip(PEACHPY)),
    "python3-selenium": ("python3-selenium", _pip("selenium"), "python-selenium", _pip("selenium")),
    "python3-zfec": _everywhere(_pip("zfec")),
    "python3-pyeclib": ("python3-pyeclib", _pip("pyeclib"), _pip("pyeclib"), _pip("pyeclib")),
    "make": _everywhere("make", _APPLE),
    "gcc": _everywhere("gcc", _APPLE),
    "g++": ("gcc-c++", "g++", "gcc", _APPLE),
    "binutils": _everywhere("binutils"),
    "git": _everywhere("git", _APPLE),
    "libc6-dev": ("glibc-devel", "musl-dev", "glibc", _APPLE),
    "pkg-config": ("pkgconf-pkg-config", "pkgconf", "pkgconf", "pkgconf"),
    "libxxhash-dev": ("xxhash-devel", "xxhash-dev", "xxhash", "xxhash"),
    "nettle-dev": ("nettle-devel", "nettle-dev", "nettle", "nettle"),
    "par2": ("par2cmdline", "par2cmdline", "par2cmdline", "par2"),
    "libfabric-dev": ("libfabric-devel", _SOURCE, "libfabric", "libfabric"),
    "libsodium-dev": ("libsodium-devel", "libsodium-dev", "libsodium", "libsodium"),
    "libssl-dev": ("openssl-devel", "openssl-dev", "openssl", "openssl"),
    "openssl": _everywhere("openssl"),
    "uthash-dev": ("uthash-devel", "uthash-dev", "uthash", "uthash"),
    "libevent-dev": ("libevent-devel", "libevent-dev", "libevent", "libevent"),
    "libmemcached-dev": (
        "libmemcached-awesome-devel",
        "libmemcached-dev",
        "libmemcached-awesome",
        "libmemcached",
    ),
    "libmemcached-tools": (
        "libmemcached-awesome-tools",
        "libmemcached",
        "libmemcached-awesome",
        "libmemcached",
    ),
    "memcached": _everywhere("memcached"),
    "libsqlite3-dev": ("sqlite-devel", "sqlite-dev", "sqlite", "sqlite"),
    "clang-19": ("clang19", "clang19", "clang19", "llvm@19"),
    "lld-19": ("lld19", "lld19", "lld", "lld@19"),
    "llvm-19": ("llvm19", "llvm19", "llvm19", "llvm@19"),
    "clang-format-19": ("clang19-tools-extra", "clang19-extra-tools", "clang19", "llvm@19"),
    "libclang-rt-19-dev": ("compiler-rt19", "compiler-rt", "compiler-rt19", "llvm@19"),
    "libclang-rt-19-dev-wasm32": (_SOURCE, "wasi-compiler-rt", "wasi-compiler-rt", "wasi-runtimes"),
    "clang-14": _everywhere(_DEBIAN_ONLY),
    "libclang1-14": _everywhere(_DEBIAN_ONLY),
    "wasi-libc": ("wasi-libc-devel", "wasi-libc", "wasi-libc", "wasi-libc"),
    "wabt": _everywhere("wabt"),
    "node-typescript": (
        Unpackaged("not packaged: npm install --global typescript"),
        Unpackaged("not packaged: npm install --global typescript"),
        "typescript",
        "typescript",
    ),
    "chromium": _everywhere("chromium"),
    "chromium-driver": ("chromedriver", "chromium-chromedriver", "chromium", "chromedriver"),
    "doxygen": _everywhere("doxygen"),
    "mandoc": _everywhere("mandoc"),
    "graphviz": _everywhere("graphviz"),
    "zsh": _everywhere("zsh"),
    "fish": _everywhere("fish"),
    "valgrind": _everywhere("valgrind", _LINUX_ONLY),
    "frama-c-base": _everywhere(_OPAM),
    "abigail-tools": ("libabigail", _SOURCE, _SOURCE, _LINUX_ONLY),
    "gcc-mingw-w64-x86-64-win32": ("mingw64-gcc", "mingw-w64-gcc", "mingw-w64-gcc", "mingw-w64"),
    "wine64": _everywhere("wine", "wine-stable"),
    "qemu-user-static": ("qemu-user-static", _CROSS, "qemu-user-static", _LINUX_ONLY),
    "qemu-user/bookworm-backports": _everywhere(_DEBIAN_ONLY),
    "binutils-riscv64-linux-gnu": (
        "binutils-riscv64-linux-gnu",
        _CROSS,
        "riscv64-linux-gnu-binutils",
        _LINUX_ONLY,
    ),
    "libc6-dev-armhf-cross": (_CROSS, _CROSS, _CROSS, _LINUX_ONLY),
    "gcc-powerpc64-linux-gnu": (_CROSS, _CROSS, _CROSS, _LINUX_ONLY),
    "libc6-dev-ppc64-cross": (_CROSS, _CROSS, _CROSS, _LINUX_ONLY),
    "cmake": _everywhere("cmake"),
    "ninja-build": ("ninja-build", "samurai", "ninja", "ninja"),
    "meson": _everywhere("meson"),
    "bazel-bootstrap": (_SOURCE, _SOURCE, "bazel", "bazel"),
    "bazel-rules-java": _everywhere(_DEBIAN_ONLY),
    "bazel-rules-proto": _everywhere(_DEBIAN_ONLY),
    "nasm": _everywhere("nasm"),
    "cargo-web": ("cargo", "cargo", "rust", "rust"),
    "bindgen": ("bindgen-cli", "rust-bindgen", "rust-bindgen", "bindgen"),
    "dpkg-dev": ("dpkg-dev", "dpkg-dev", "dpkg", "dpkg"),
    "debhelper": ("debhelper", "debhelper", _DEBIAN_TOOL, _DEBIAN_TOOL),
    "dh-python": _everywhere(_DEBIAN_TOOL),
    "lintian": ("lintian", _DEBIAN_TOOL, _DEBIAN_TOOL, _DEBIAN_TOOL),
    "golang-go": ("golang", "go", "go", "go"),
    "openjdk-17-jdk-headless": ("java-21-openjdk-devel", "openjdk17-jdk", "jdk17-openjdk", "openjdk@17"),
    "maven": _everywhere("maven"),
    "snapraid": (_SOURCE, _SOURCE, _SOURCE, "snapraid"),
    "zlib1g-dev": ("zlib-ng-compat-devel", "zlib-dev", "zlib", "zlib"),
    "libisal-dev": ("isa-l-devel", "isa-l-dev", _SOURCE, "isa-l"),
    "libjerasure-dev": ("jerasure-devel", _SOURCE, _SOURCE, _SOURCE),
    "libgf-complete-dev": ("gf-complete-devel", _SOURCE, _SOURCE, _SOURCE),
    "gf-complete-tools": ("gf-complete-tools", _SOURCE, _SOURCE, _SOURCE),
    "liberasurecode-dev": ("liberasurecode-devel", _SOURCE, _SOURCE, _SOURCE),
    "libradospp-dev": ("libradospp-devel", _SOURCE, _SOURCE, _LINUX_ONLY),
    **{
        name: (name, _SOURCE, _SOURCE, _LINUX_ONLY)
        for name in ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-common")
    },
} | {
    package: (_CROSS, _CROSS, _CROSS, _LINUX_ONLY)
    for each in ARCHITECTURES
    if each.debian
    for package in (f"gcc-{each.triple}", f"libc6-dev-{each.debian}-cross")
}


def in_system(package: str, system: System) -> Package:
    """Return a system's name of a package of Debian, or how else to get it."""
    if system is System.DEBIAN:
        return package
    fedora, alpine, arch, macos = _NAMES[package]
    return {System.FEDORA: fedora, System.ALPINE: alpine, System.ARCH: arch, System.MACOS: macos}[system]


def detect(platform: str, os_release: str) -> System | None:
    """Return the system of a `sys.platform` and the text of an os-release file, None if it is unknown.

    The file's ID has precedence over its ID_LIKE, which lists related systems, the nearest first."""
    if platform == "darwin":
        return System.MACOS
    fields = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    for key in ("ID", "ID_LIKE"):
        for identity in " ".join(shlex.split(fields.get(key, ""))).split():
            if identity in _FAMILIES:
                return _FAMILIES[identity]
    return None


def this_system() -> System | None:
    """Return the system of this machine, None if it is unknown."""
    text = next((path.read_text(encoding="utf-8") for path in OS_RELEASES if path.exists()), "")
    return detect(sys.platform, text)


def install_command(package: str, system: System | None) -> str:
    """Return the command that installs a package of Debian on a system, or how else to get it."""
    if system is None:
        return f"install {package} (Debian's name; this system's names are unknown) with its package manager"
    name = in_system(package, system)
    if isinstance(name, Unpackaged):
        return name.advice
    rights, command = _INSTALL[system]
    return f"{'' if os.geteuid() == 0 else rights}{command} {name}"
