"""The library for nodes as a stranger has it: installed by make and by CMake, found by pkg-config and by
find_package, and the core library without a trace of what it needs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from gfsmith import __version__

from ..runtime.conftest import build as build  # a fixture: `make lib`
from ..shared import locked, once
from .support import ROOT, Place, unpacked

PROGRAM = Path(__file__).parent / "native" / "node.c"
SAID = "success, success: same\n"
CORE = "libgfsmith.so.0"
NEEDS = {"libfabric.so.1", "libsodium.so.23", "libxxhash.so.0"}
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
USER = """cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C)
find_package(gfsmith 0.1 REQUIRED {components})
add_executable(p {program})
target_link_libraries(p {target})
"""


def _needed(place: Place, file: Path) -> set[str]:
    return set(re.findall(r"NEEDED.*\[(.*)\]", place.call("readelf", "-dW", file)))


@pytest.fixture(scope="session")
def staged(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix of `make install-compose` of the checkout."""

    def install(folder: Path) -> None:
        words = ["make", "install-compose", f"PREFIX={folder}"]
        with locked(ROOT / "Makefile"):
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return once(tmp_path_factory, "installed-compose", install)


@pytest.fixture(scope="session")
def static(archive: Path, place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix with both libraries, static, as CMake builds them of the checkout with few kernels."""

    def install(folder: Path) -> None:
        generated = unpacked(archive, folder) / "gen_out"
        settings = (f"-DGFSMITH_GENERATED={generated}", f"-DCMAKE_INSTALL_PREFIX={folder}/prefix")
        more = ("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DGFSMITH_COMPOSE=ON")
        place.call("cmake", "-S", ROOT, "-B", folder / "build", *settings, *more)
        place.call("cmake", "--build", folder / "build", "--target", "install")

    return once(tmp_path_factory, "static-compose", install) / "prefix"


def _user(place: Place, folder: Path, prefix: Path, components: str, target: str) -> tuple[int, str]:
    folder.mkdir()
    text = USER.format(components=components, program=PROGRAM, target=target)
    (folder / "CMakeLists.txt").write_text(text)
    words = ("-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    done = place.run("cmake", "-G", "Ninja", *words)
    return done.returncode, " ".join(done.stderr.split())


def test_by_make_and_pkg_config(staged: Path, place: Place, tmp_path: Path) -> None:
    """Shared: both libraries with their versions, and each asks only for what it needs."""
    assert {path.name for path in (staged / "lib").iterdir()} == {
        *(f"lib{name}.{kind}" for name in ("gfsmith", "gfsmith-compose") for kind in ("a", "so", "so.0")),
        *(f"lib{name}.so.{__version__}" for name in ("gfsmith", "gfsmith-compose")),
        "pkgconfig",
    }
    found = ("pkg-config", f"gfsmith-compose = {__version__}", "--cflags", "--libs")
    where = {"PKG_CONFIG_PATH": f"{staged}/lib/pkgconfig"}
    flags = place.call(*found, **where).split()
    assert set(flags) == {f"-I{staged}/include", f"-L{staged}/lib", "-lgfsmith-compose", "-lgfsmith"}
    place.call("gcc", *STRICT, PROGRAM, *flags, "-o", tmp_path / "program")
    assert place.call(tmp_path / "program", LD_LIBRARY_PATH=f"{staged}/lib") == SAID
    assert NEEDS | {CORE} <= _needed(place, staged / "lib/libgfsmith-compose.so")
    assert _needed(place, staged / "lib/libgfsmith.so") == {"libc.so.6"}


def test_make_install_alone_is_the_core(place: Place) -> None:
    """What `make install` would do names nothing of the other library; `make install-compose` does."""
    for target, expected in (("install", False), ("install-compose", True)):
        assert ("compose" in place.call("make", "-n", target, "CFLAGS=-O2 -g", cwd=ROOT)) == expected


def test_static_by_pkg_config(static: Path, place: Place, tmp_path: Path) -> None:
    """With the libraries of others shared, as docs/build.md says it."""
    where = {"PKG_CONFIG_PATH": f"{static}/lib/pkgconfig"}
    words = ("pkg-config", "--cflags", "--libs", "gfsmith-compose", "libfabric", "libsodium", "libxxhash")
    flags = place.call(*words, **where).split()
    assert [flag for flag in flags if flag.startswith("-lgf")] == ["-lgfsmith-compose", "-lgfsmith"]
    place.call("gcc", *STRICT, PROGRAM, *flags, "-o", tmp_path / "program")
    assert place.call(tmp_path / "program") == SAID
    assert not {name for name in _needed(place, tmp_path / "program") if "gfsmith" in name}


def test_by_find_package(static: Path, place: Place, tmp_path: Path) -> None:
    """The target of the component, moved away from where it was installed."""
    prefix = tmp_path / "moved"
    place.call("cp", "-r", static, prefix)
    user = tmp_path / "user"
    assert _user(place, user, prefix, "COMPONENTS compose", "gfsmith::compose") == (0, "")
    place.call("cmake", "--build", user / "build")
    assert place.call(user / "build" / "p") == SAID


def test_a_component_that_is_not_there(static: Path, place: Place, tmp_path: Path) -> None:
    """Installed without it, or with it and without libfabric, or a word that is none: refused, unless it may
    be missing; whoever asks for the core alone gets that."""
    prefix = tmp_path / "prefix"
    place.call("cp", "-r", static, prefix)
    place.call("rm", prefix / "lib/cmake/gfsmith/gfsmith-compose.cmake")
    refused = r"component {}: it is not installed here, or not all that it needs"
    for number, (where, components, status, said) in enumerate(
        (
            (prefix, "COMPONENTS compose", 1, refused.format("compose")),
            (static, "COMPONENTS targets", 1, refused.format("targets")),
            (prefix, "OPTIONAL_COMPONENTS compose", 0, ""),
            (prefix, "", 0, ""),
        )
    ):
        found = _user(place, tmp_path / f"user{number}", where, components, "gfsmith::gfsmith")
        assert found[0] == status and said in found[1], found
    text = (static / "lib/cmake/gfsmith/gfsmith-compose.cmake").read_text()
    assert "libfabric" in text
    lacking = text.replace("libfabric", "libfabric-of-nobody")
    (prefix / "lib/cmake/gfsmith/gfsmith-compose.cmake").write_text(lacking)
    status, said = _user(place, tmp_path / "lacking", prefix, "COMPONENTS compose", "gfsmith::compose")
    assert status == 1 and refused.format("compose") in said
