"""The library of shards in users' builds: installed by make from the checkout and from an exported tree, and
by CMake; found by pkg-config and by find_package.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gfsmith import __version__
from tests.support.folders import built
from tests.support.levels import sample
from tests.system.builds.support import Place, unpacked

PROGRAM = Path(__file__).parent / "native" / "streams.c"
OUTPUT = "success, success: same\n"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
INSTALLED = {f"libgfsmith-shards.{kind}" for kind in ("a", "so", "so.0", f"so.{__version__}")}
USER = f"""cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C)
find_package(gfsmith 0.1 REQUIRED COMPONENTS shards)
add_executable(p {PROGRAM})
target_link_libraries(p gfsmith::shards)
"""
WITHIN = f"""cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C)
set(GFSMITH_SHARDS ON)
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
add_subdirectory(tree)
add_executable(p {PROGRAM})
target_link_libraries(p gfsmith::shards)
"""


@pytest.fixture(scope="session")
def tree(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported tree with few kernels, for each process of pytest-xdist its own."""
    return unpacked(archive, tmp_path_factory.mktemp("tree-shards"))


def _flags(place: Place, prefix: Path) -> list[str]:
    found = ("pkg-config", f"gfsmith-shards = {__version__}", "--cflags", "--libs")
    flags = place.call(*found, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
    assert set(map(os.path.normpath, flags)) == {
        f"-I{prefix}/include",
        f"-L{prefix}/lib",
        "-lgfsmith-shards",
        "-lgfsmith",
    }
    return flags


def _runs(place: Place, prefix: Path, folder: Path) -> None:
    """Compile the program by pkg-config, shared and static, and run both."""
    flags = _flags(place, prefix)
    place.call("gcc", *STRICT, PROGRAM, *flags, "-o", folder / "shared")
    assert place.call(folder / "shared", LD_LIBRARY_PATH=f"{prefix}/lib") == OUTPUT
    place.call("gcc", *STRICT, PROGRAM, "-static", *flags, "-lpthread", "-o", folder / "static")
    assert place.call(folder / "static") == OUTPUT


def test_make_in_the_checkout(place: Place, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    built("install", f"PREFIX={prefix}")
    assert {path.name for path in (prefix / "lib").glob("*shards*")} == INSTALLED
    assert (prefix / "bin" / "gfsmith-shards").exists()
    _runs(place, prefix, tmp_path)


def test_make_in_a_tree(tree: Path, place: Place, tmp_path: Path) -> None:
    """`make install` alone installs the core; the library of shards is a further target."""
    prefix = tmp_path / "prefix"
    place.call("make", "install", f"PREFIX={prefix}", cwd=tree)
    assert not list(prefix.rglob("*shards*"))
    place.call("make", "install-shards", f"PREFIX={prefix}", cwd=tree)
    assert {path.name for path in (prefix / "lib").glob("*shards*")} == INSTALLED
    assert not (prefix / "bin").exists()
    _runs(place, prefix, tmp_path)


def _configured(place: Place, folder: Path, text: str, *more: str) -> tuple[int, str]:
    folder.mkdir(exist_ok=True)
    (folder / "CMakeLists.txt").write_text(text)
    done = place.run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", *more)
    return done.returncode, " ".join(done.stderr.split())


def _cmake_installed(place: Place, tree: Path, folder: Path, *settings: str) -> Path:
    """Build and install the tree, and return the prefix after it was moved."""
    words = (f"-DCMAKE_INSTALL_PREFIX={folder}/prefix", "-DCMAKE_INSTALL_LIBDIR=lib", *settings)
    place.call("cmake", "-G", "Ninja", "-S", tree, "-B", folder / "made", "-DCMAKE_BUILD_TYPE=Debug", *words)
    place.call("cmake", "--build", folder / "made", "--target", "install")
    return (folder / "prefix").rename(folder / "moved")


@pytest.mark.needs("build systems")
@pytest.mark.parametrize("shared", sample(["ON", "OFF"], "ON"))
def test_find_package(shared: str, tree: Path, place: Place, tmp_path: Path) -> None:
    settings = ("-DGFSMITH_SHARDS=ON", f"-DBUILD_SHARED_LIBS={shared}")
    prefix = _cmake_installed(place, tree, tmp_path, *settings)
    suffix = ".so" if shared == "ON" else ".a"
    assert (prefix / "lib" / f"libgfsmith-shards{suffix}").exists()
    user = tmp_path / "user"
    assert _configured(place, user, USER, f"-DCMAKE_PREFIX_PATH={prefix}") == (0, "")
    place.call("cmake", "--build", user / "build")
    assert place.call(user / "build" / "p", LD_LIBRARY_PATH=f"{prefix}/lib") == OUTPUT


@pytest.mark.needs("build systems")
def test_find_package_without_the_library(tree: Path, place: Place, tmp_path: Path) -> None:
    prefix = _cmake_installed(place, tree, tmp_path)
    assert not list(prefix.rglob("*shards*"))
    status, said = _configured(place, tmp_path / "user", USER, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert status == 1 and "component shards: it or one of its requirements is not installed" in said


@pytest.mark.needs("build systems")
def test_add_subdirectory(tree: Path, place: Place, tmp_path: Path) -> None:
    (tmp_path / "tree").symlink_to(tree)
    assert _configured(place, tmp_path, WITHIN) == (0, "")
    place.call("cmake", "--build", tmp_path / "build")
    assert place.call(tmp_path / "build" / "p") == OUTPUT


@pytest.mark.needs("build systems")
def test_a_missing_header_is_named(tree: Path, place: Place, tmp_path: Path) -> None:
    """CMake searches an empty folder instead of the system's, so it does not find xxHash."""
    hidden = (f"-DCMAKE_FIND_ROOT_PATH={tmp_path}", "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY")
    words = ("-S", tree, "-B", tmp_path / "build", "-DGFSMITH_SHARDS=ON", *hidden)
    done = place.run("cmake", "-G", "Ninja", *words)
    assert done.returncode == 1 and "xxhash.h" in done.stderr
