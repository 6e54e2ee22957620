"""Wheels for x86-64 and AArch64, glibc from 2.17 on (manylinux) and musl (musllinux), compiled by Zig."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from release.checkout import gfsmith, modules
from release.places import Places, ReleaseError, run

ZIG = (sys.executable, "-m", "ziglang")
FLAGS = ("-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-std=c11")
#: Flags of the C code around the kernels. Without -O2 Zig would add a sanitizer and the paths of sources.
HARDEN = "-D_FORTIFY_SOURCE=2 -fstack-protector-strong"
EXTENSION = "gfsmith/codec/_native.abi3.so"
TOOL = "gfsmith/codec/gfsmith-shards"


@dataclass(frozen=True, slots=True)
class Target:
    """machine and libc: Zig's names. tag: the platform tag that auditwheel must confirm."""

    machine: str
    libc: str
    tag: str

    @property
    def name(self) -> str:
        return f"{self.machine}-linux-{self.libc}"

    def compiler(self, libc: str | None = None) -> tuple[str, ...]:
        return (*ZIG, "cc", "-target", f"{self.machine}-linux-{libc or self.libc}")


TARGETS = tuple(
    Target(machine, libc, f"{tag}_{machine}")
    for machine in ("x86_64", "aarch64")
    for libc, tag in (("gnu.2.17", "manylinux_2_17"), ("musl", "musllinux_1_2"))
)


def wheel(places: Places, target: Target) -> None:
    work = places.work / "wheels"
    if not work.exists():  # the first wheel writes the files that all wheels share
        gfsmith(places, "export", "--form", "amalgamation", "-o", places.folder("wheels") / "library")
        _headers(work / "headers")
    folder = work / target.name
    (folder / "static").mkdir(parents=True)
    _library(places, target, folder)
    _tool(places, target, folder)
    _pack(places, target, folder)


def _headers(folder: Path) -> None:
    """Copy headers that Zig does not find: xxHash's, and Python's configuration, of which the limited API
    reads only sizes that are equal on these machines."""
    folder.mkdir()
    shutil.copy("/usr/include/xxhash.h", folder)
    found = Path(sysconfig.get_config_h_filename())
    version = f"python3.{sys.version_info.minor}"
    (own,) = Path("/usr/include").glob(f"*-linux-gnu/{version}/pyconfig.h")
    for machine in sorted({target.machine for target in TARGETS}):
        place = folder / f"{machine}-linux-gnu" / version
        place.mkdir(parents=True)
        shutil.copy(own if own.exists() else found, place)


def _library(places: Places, target: Target, folder: Path) -> None:
    source = folder.parent / "library" / "gfsmith.c"
    run(*target.compiler(), *FLAGS, "-c", source, "-o", folder / "gfsmith.o", cwd=folder)
    run(*ZIG, "ar", "rcs", folder / "libgfsmith.a", folder / "gfsmith.o", cwd=folder)


def _tool(places: Places, target: Target, folder: Path) -> None:
    """Link gfsmith-shards statically with musl, so that it runs with any C library."""
    headers = [f"-I{places.source / 'runtime' / part / 'include'}" for part in ("core", "shards")]
    parts = (places.source / "runtime" / "shards" / "src", places.source / "apps" / "shards")
    files = [path for part in parts for path in sorted(part.glob("*.c"))]
    settings = ("-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", f"-I{folder.parent / 'headers'}", *headers)
    library = folder.parent / "library" / "gfsmith.c"
    command: tuple[str | Path, ...] = (
        *target.compiler("musl"),
        *FLAGS,
        *settings,
        "-static",
        "-s",
        *files,
        library,
    )
    run(*command, "-o", folder / "static" / "gfsmith-shards", cwd=folder)


def _pack(places: Places, target: Target, folder: Path) -> None:
    """Build the extension and the wheel, let auditwheel confirm the tag, and compare the linked kernels."""
    compiler = " ".join(target.compiler())
    variables = {
        "GFSMITH_LIBRARY": str(folder / "libgfsmith.a"),
        "CC": f"{compiler} -I{folder.parent / 'headers'}",
        "CFLAGS": f"-O2 -g0 -DNDEBUG {HARDEN} -ffile-prefix-map={places.work}=.",
        "GFSMITH_OLD_LIBC": "1",
        "LDSHARED": f"{compiler} -O2 -shared",
    }
    setup = (sys.executable, "setup.py", "--quiet", "build", "--build-base", str(folder / "build"))
    plain = ("bdist_wheel", "--plat-name", f"linux_{target.machine}", "--dist-dir", str(folder / "plain"))
    run(*setup, cwd=places.source, path=modules(places.source), variables=variables)
    if target.libc == "musl":
        # Zig names the library libc.so. Alpine and auditwheel use the name with the machine; musl's loader
        # takes both.
        (built,) = (folder / "build").glob(f"lib*/{EXTENSION}")
        run("patchelf", "--replace-needed", "libc.so", f"libc.musl-{target.machine}.so.1", built, cwd=folder)
    run(*setup, *plain, cwd=places.source, path=modules(places.source), variables=variables)
    (wheel,) = (folder / "plain").iterdir()
    run("abi3audit", "--strict", wheel, cwd=folder)
    run("auditwheel", "repair", "--wheel-dir", folder / "tagged", wheel, cwd=folder)
    (tagged,) = (folder / "tagged").iterdir()
    if target.tag not in tagged.name:
        raise ReleaseError(f"{tagged.name}: auditwheel does not confirm the tag {target.tag}")
    run(sys.executable, "-m", "zipfile", "--extract", tagged, folder / "unpacked", cwd=folder)
    checker = places.source / "packaging" / "check_linked.py"
    manifest = places.source / "gen_out" / "MANIFEST.json"
    for file in (EXTENSION, TOOL):
        run(sys.executable, checker, manifest, folder / "unpacked" / file, cwd=folder)
    shutil.copy(tagged, places.out)
