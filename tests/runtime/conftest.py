"""Fixtures: the library is built once, by `make lib` at the root of the repository."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..shared import locked
from .machines import kernel_sources, runtime_sources
from .support import EINVAL, EUNSUPPORTED, NATIVE, OK, REPO, X86_ISAS, Api


@pytest.fixture(scope="session")
def build() -> Path:
    """The folder with libgfsmith.a and libgfsmith.so, up to date."""
    with locked(REPO / "Makefile"):
        made = subprocess.run(["make", "lib"], cwd=REPO, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return REPO / "build"


@pytest.fixture(scope="session")
def session_api(build: Path) -> Api:
    return Api(build / "libgfsmith.so")


@pytest.fixture
def api(session_api: Api) -> Iterator[Api]:
    """The library; the instruction set in force is put back afterwards."""
    before = session_api.isa()
    yield session_api
    assert session_api.set_isa(before) == OK


@pytest.fixture(params=X86_ISAS)
def isa(request: pytest.FixtureRequest, api: Api) -> str:
    """Every instruction set in turn, in force; those that this CPU lacks are skipped."""
    name: str = request.param
    status = api.set_isa(name)
    assert status != EINVAL, f"the build does not know {name}"
    if status == EUNSUPPORTED:
        pytest.skip(f"this CPU lacks {name}")
    assert api.isa() == name
    return name


class Compiler:
    """Compiles the C programs in tests/runtime/native, with the flags of the library."""

    INCLUDES = ("-Iruntime/include", "-Igen_out", "-Iruntime/src")
    FLAGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wshadow")

    def __init__(self, build: Path, output: Path) -> None:
        self.build, self.output = build, output

    def run(self, *command: str) -> None:
        done = subprocess.run(command, cwd=REPO, capture_output=True, text=True)
        assert done.returncode == 0, " ".join(command) + "\n" + done.stderr
        assert done.stderr == "", done.stderr

    def link(self, name: str, *flags: str) -> Path:
        """native/<name>.c with the static library."""
        target = self.output / name
        self.run(
            *("gcc", *self.FLAGS, "-O1", "-g", *self.INCLUDES, str(NATIVE / f"{name}.c")),
            *("-o", str(target), str(self.build / "libgfsmith.a"), "-pthread", *flags),
        )
        return target

    def link_sources(self, name: str, *flags: str) -> Path:
        """native/<name>.c with all C sources of the library compiled with the same flags.

        The assembly kernels come from the static library, of which the linker takes nothing else.
        """
        target = self.output / name
        sources = [NATIVE / f"{name}.c", *runtime_sources(), *kernel_sources("scalar")]
        self.run(
            *("gcc", *self.FLAGS, "-Wno-conversion", "-O1", "-g", *self.INCLUDES, *flags),
            *(*map(str, sources), "-o", str(target), str(self.build / "libgfsmith.a"), "-pthread"),
        )
        return target


@pytest.fixture
def compiler(build: Path, tmp_path: Path) -> Compiler:
    return Compiler(build, tmp_path)
