"""What pyproject.toml cannot say: what of the checkout a wheel carries as gfsmith/share, and the
codec's extension, built if the environment variable GFSMITH_LIBRARY names libgfsmith.a (`make python`
does); without it the package is the generator alone, for which no compiler is needed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

SHARED = (
    *("templates", "runtime", "cmake", "make", "meson", "bazel", "docs", "devices"),
    *("CMakeLists.txt", "LICENSE", "SOUNDNESS.md"),
)
NATIVE = Path("generator/gfsmith/codec/native")
STABLE = 0x030B0000  #: Python 3.11: the first whose stable ABI has the buffer protocol


class BuildWithShared(build_py):
    """Modules, and the shared folders beside them; an editable installation has those of the checkout."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        share = Path(self.build_lib) / "gfsmith" / "share"
        shutil.rmtree(share, ignore_errors=True)
        share.mkdir()
        for name in SHARED:
            (shutil.copytree if Path(name).is_dir() else shutil.copy)(name, share / name)


def extension(library: str) -> Extension:
    """gfsmith.codec._native, with the library inside and only its own entry visible."""
    return Extension(
        "gfsmith.codec._native",
        sources=[str(path) for path in sorted(NATIVE.glob("*.c"))],
        depends=[library, *(str(path) for path in sorted(NATIVE.glob("*.h")))],
        include_dirs=["runtime/include", "gen_out"],
        define_macros=[("Py_LIMITED_API", hex(STABLE))],
        extra_compile_args=["-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wpedantic", "-Werror"],
        extra_objects=[library],
        extra_link_args=["-Wl,--exclude-libs,ALL", "-Wl,-z,noexecstack", "-Wl,--strip-all"],
        py_limited_api=True,
    )


found = os.environ.get("GFSMITH_LIBRARY")
setup(
    cmdclass={"build_py": BuildWithShared},
    ext_modules=[extension(found)] if found else [],
    options={
        "build": {"build_base": "build/python"},
        "bdist_wheel": {"py_limited_api": f"cp{STABLE >> 24}{STABLE >> 16 & 0xFF}"},
    },
)
