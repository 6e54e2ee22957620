"""The library for nodes in users' builds: installed by make and by CMake, found by pkg-config and by
find_package; and the core library without any of its dependencies.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gfsmith import __version__
from tests.support.folders import built, once
from tests.support.paths import ROOT
from tests.system.builds.support import Place, unpacked

PROGRAM = Path(__file__).parent / "native" / "node.c"
OUTPUT = "success, success: same\n"
CORE = "libgfsmith.so.0"
NEEDS = {"libfabric.so.1", "libsodium.so.23", "libcrypto.so.3", "libxxhash.so.0"}
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
    """The prefix of `make install-compose` in the checkout."""

    def install(folder: Path) -> None:
        built("install-compose", f"PREFIX={folder}")

    return once(tmp_path_factory, "installed-compose", install)


@pytest.fixture(scope="session")
def static(archive: Path, place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix with both libraries, static, built by CMake from the checkout with few kernels."""

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
    """Shared: all libraries with their versions, and each links only its own dependencies."""
    libraries = ("gfsmith", "gfsmith-compose", "gfsmith-shards")
    assert {path.name for path in (staged / "lib").iterdir()} == {
        *(f"lib{name}.{kind}" for name in libraries for kind in ("a", "so", "so.0")),
        *(f"lib{name}.so.{__version__}" for name in libraries),
        "pkgconfig",
    }
    found = ("pkg-config", f"gfsmith-compose = {__version__}", "--cflags", "--libs")
    where = {"PKG_CONFIG_PATH": f"{staged}/lib/pkgconfig"}
    flags = place.call(*found, **where).split()
    assert set(flags) == {f"-I{staged}/include", f"-L{staged}/lib", "-lgfsmith-compose", "-lgfsmith"}
    place.call("gcc", *STRICT, PROGRAM, *flags, "-o", tmp_path / "program")
    assert place.call(tmp_path / "program", LD_LIBRARY_PATH=f"{staged}/lib") == OUTPUT
    assert NEEDS | {CORE} <= _needed(place, staged / "lib/libgfsmith-compose.so")
    assert _needed(place, staged / "lib/libgfsmith.so") == {"libc.so.6"}


def test_make_install_alone_is_the_core(place: Place) -> None:
    """`make install` would install nothing of the other library; `make install-compose` does."""
    for target, expected in (("install", False), ("install-compose", True)):
        assert ("compose" in place.call("make", "-n", target, "CFLAGS=-O2 -g", cwd=ROOT)) == expected


@pytest.mark.needs("build systems")
def test_static_by_pkg_config(static: Path, place: Place, tmp_path: Path) -> None:
    """With the other libraries shared, as in docs/build.md."""
    where = {"PKG_CONFIG_PATH": f"{static}/lib/pkgconfig"}
    words = (
        "pkg-config",
        "--cflags",
        "--libs",
        "gfsmith-compose",
        "libfabric",
        "libsodium",
        "libcrypto",
        "libxxhash",
    )
    flags = place.call(*words, **where).split()
    assert [flag for flag in flags if flag.startswith("-lgf")] == ["-lgfsmith-compose", "-lgfsmith"]
    place.call("gcc", *STRICT, PROGRAM, *flags, "-o", tmp_path / "program")
    assert place.call(tmp_path / "program") == OUTPUT
    assert not {name for name in _needed(place, tmp_path / "program") if "gfsmith" in name}


@pytest.mark.needs("build systems")
def test_by_find_package(static: Path, place: Place, tmp_path: Path) -> None:
    """The target of the component works after the prefix was moved."""
    prefix = tmp_path / "moved"
    place.call("cp", "-r", static, prefix)
    user = tmp_path / "user"
    assert _user(place, user, prefix, "COMPONENTS compose", "gfsmith::compose") == (0, "")
    place.call("cmake", "--build", user / "build")
    assert place.call(user / "build" / "p") == OUTPUT


@pytest.mark.needs("build systems")
def test_a_missing_component(static: Path, place: Place, tmp_path: Path) -> None:
    """Installed without the component, or with it and without libfabric, or an unknown component: refused
    unless it is optional; a request for the core alone succeeds.
    """
    prefix = tmp_path / "prefix"
    place.call("cp", "-r", static, prefix)
    place.call("rm", prefix / "lib/cmake/gfsmith/gfsmith-compose.cmake")
    refused = r"component {}: it or one of its requirements is not installed"
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
