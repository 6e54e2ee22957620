"""Parts of the package that pyproject.toml cannot describe: gfsmith.codec and gfsmith.compat, which are in
bindings/python; the checkout's files that a wheel carries as gfsmith/share; and the codec's extension, which
is built if the environment variable GFSMITH_LIBRARY names libgfsmith.a (`make python` sets it), and in an
sdist, which builds the library. Otherwise the package contains the generator only and needs no compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

SHARED = (
    *("templates", "runtime", "docs", "tuned"),
    *("packaging/cmake", "packaging/make", "packaging/meson", "packaging/bazel"),
    *("packaging/check_linked.py", "CMakeLists.txt", "LICENSE", "SOUNDNESS.md", "gfsmith.toml"),
)
BINDING = Path("bindings/python/gfsmith")
NATIVE = Path("bindings/python/native")
EXPORTS = NATIVE / "exports.map"
GRAPHS = ("graph", "graph_build", "graph_check", "graph_create", "graph_json", "graph_layouts")
#: C sources of the runtime that commands call and the library does not contain.
BESIDE = (
    "runtime/adaptive/src/device.c",
    *(f"runtime/compose/src/{name}.c" for name in GRAPHS),
    *(path.as_posix() for path in sorted(Path("runtime/shards/src").glob("*.c"))),
)
INCLUDES = (
    *("runtime/core/include", "runtime/adaptive/src", "runtime/compose/include", "runtime/compose/src"),
    *("runtime/shards/include", "runtime/shards/src"),
)
#: Functions of the C library that native/glibc.c replaces, unless the compiler itself links with an old
#: C library, as Zig does: the release sets GFSMITH_OLD_LIBC=1.
OLD_LIBC = os.environ.get("GFSMITH_OLD_LIBC") == "1"
_THREADS = ("attr_getstacksize", "attr_setstacksize", "create", "join", "sigmask")
WRAPPED = () if OLD_LIBC else tuple(f"pthread_{name}" for name in _THREADS)
STABLE = 0x030B0000  #: Python 3.11: the first whose stable ABI has the buffer protocol


class BuildWhole(build_py):
    """Copies modules and the generator's other files; an editable installation uses the checkout's."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib) / "gfsmith"
        for module in (*BINDING.rglob("*.py"), *BINDING.rglob("*.pyi")):
            target = package / module.relative_to(BINDING)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(module, target)
        tool = Path(found).parent / "static" / "gfsmith-shards" if found else None
        if tool is not None and tool.exists():  # `make python` builds it
            shutil.copy(tool, package / "codec")
        share = Path(self.build_lib) / "gfsmith" / "share"
        shutil.rmtree(share, ignore_errors=True)
        share.mkdir()
        for name in SHARED:
            (shutil.copytree if Path(name).is_dir() else shutil.copy)(name, share / name)


def extension(library: str) -> Extension:
    """Return gfsmith.codec._native, which contains the library and exports only its own entry."""
    replaced = () if WRAPPED else ("glibc.c",)
    native = (str(path) for path in sorted(NATIVE.glob("*.c")) if path.name not in replaced)
    return Extension(
        "gfsmith.codec._native",
        sources=[*native, *BESIDE],
        depends=["setup.py", library, str(EXPORTS), *(str(path) for path in sorted(NATIVE.glob("*.h")))],
        include_dirs=[*INCLUDES, "gen_out"],
        define_macros=[("Py_LIMITED_API", hex(STABLE))],
        extra_compile_args=[
            *("-O2", "-std=c11", "-fvisibility=hidden"),
            *("-Wall", "-Wextra", "-Wpedantic", "-Werror"),
        ],
        extra_objects=[library],
        extra_link_args=[
            *(f"-Wl,--version-script={EXPORTS}", "-Wl,-z,noexecstack", "-Wl,--strip-all", "-pthread"),
            *(f"-Wl,--wrap={name}" for name in WRAPPED),
        ],
        py_limited_api=True,
    )


def library() -> str | None:
    """Return the path of libgfsmith.a; an unpacked sdist, which has PKG-INFO, builds it."""
    named = os.environ.get("GFSMITH_LIBRARY")
    if named or not Path("PKG-INFO").exists():
        return named
    built = "build/libgfsmith.a"
    subprocess.run(["make", f"-j{os.cpu_count()}", built, "build/static/gfsmith-shards"], check=True)
    return built


found = library()
setup(
    cmdclass={"build_py": BuildWhole},
    ext_modules=[extension(found)] if found else [],
    options={
        "build": {"build_base": "build/python"},
        "bdist_wheel": {"py_limited_api": f"cp{STABLE >> 24}{STABLE >> 16 & 0xFF}"},
    },
)
