"""What pyproject.toml cannot say: what of the checkout a wheel carries as gfsmith/share."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHARED = (
    *("templates", "runtime", "cmake", "make", "meson", "bazel", "docs"),
    *("CMakeLists.txt", "LICENSE", "SOUNDNESS.md"),
)


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


setup(
    cmdclass={"build_py": BuildWithShared},
    options={"build": {"build_base": "build/python"}},
)
