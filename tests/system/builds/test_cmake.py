"""find_package(gfsmith): the example outside of the checkout, errors, installed library and generator."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gfsmith import __version__
from tests.support.paths import ROOT
from tests.system.builds.support import (
    BIN,
    BOTH,
    EXAMPLES,
    OUTPUT,
    SMALL,
    Place,
    check_kernels,
    compiled_with_blanks,
    copied,
    kernels,
    times,
    unpacked,
    widen,
)

HEAD = """cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES {languages})
"""
FIND = "find_package(gfsmith 0.1 REQUIRED)\n"


def configure(place: Place, source: Path, *flags: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return place.run("cmake", "-S", source, "-B", source / "build", *flags, **env)


def build(place: Place, source: Path) -> str:
    return place.call("cmake", "--build", source / "build", "-j2")


def project(folder: Path, text: str, languages: str = "NONE") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "CMakeLists.txt").write_text(HEAD.format(languages=languages) + text)
    return folder


def test_example(place: Place, tmp_path: Path) -> None:
    """In a folder with a space: the build makes the selected kernels and no others, and repeats no
    unnecessary step.
    """
    (tmp_path / "a folder").mkdir()
    source = copied("cmake", tmp_path / "a folder")
    done = configure(place, source, "-G", "Unix Makefiles", f"-Dgfsmith_ROOT={ROOT}/packaging")
    assert (done.returncode, done.stderr) == (0, "")
    build(place, source)
    out = source / "build"
    assert re.fullmatch(OUTPUT, place.call(out / "example"))
    assert re.fullmatch(BOTH, place.call(out / "both"))
    check_kernels(place, out / "libshards.a", out / "libarchive.a")

    made = [out / name for name in ("libshards.a", "libarchive.a", "gfsmith/shards/gfsmith.c", "both")]
    before = times(made)
    assert "Generating" not in build(place, source)
    assert times(made) == before

    widen(source / "archive.toml")
    assert "Generating and proving archive" in build(place, source)
    shards, archive, text, both = (new == old for new, old in zip(times(made), before, strict=True))
    assert (shards, archive, text, both) == (True, False, True, False)
    assert "archive_dot_nx3__avx2" in kernels(place, out / "libarchive.a")
    assert "Generating" not in build(place, source)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("CODE cauchy K 10 M 4", "gfsmith_generate: TARGET is missing"),
        ("TARGET x", r"gfsmith_generate\(x\): CODE or CONFIG is missing"),
        ("TARGET x CODE cauchy KK 10", "'KK;10': allowed: TARGET;CODE;K;M;L;R;CONFIG;PREFIX;ISA;ADAPTIVE"),
        ("TARGET x CODE cauchy K 10 M 4", r"gfsmith_generate\(x\): C is needed: project\(... LANGUAGES C\)"),
        ("TARGET x CODE", "gfsmith_generate: CODE has no value"),
        ("TARGET taken CODE cauchy", r"gfsmith_generate\(taken\): a target of this name exists"),
    ],
)
def test_mistakes(call: str, said: str, place: Place, tmp_path: Path) -> None:
    text = FIND + f"add_custom_target(taken)\ngfsmith_generate({call})\n"
    done = configure(place, project(tmp_path, text), f"-Dgfsmith_ROOT={ROOT}/packaging")
    assert done.returncode == 1
    assert re.search(said, " ".join(done.stderr.split())), done.stderr


def test_a_version_that_it_is_not(place: Place, tmp_path: Path) -> None:
    for version, status in ((__version__, 0), ("0.2", 1), ("0.1.99", 1), ("1.0", 1)):
        source = project(tmp_path, f"find_package(gfsmith {version} REQUIRED)\n")
        assert configure(place, source, f"-Dgfsmith_ROOT={ROOT}/packaging").returncode == status, version


def test_refusals_of_gfsmith_leave_no_files(place: Place, tmp_path: Path) -> None:
    source = project(tmp_path, FIND + "gfsmith_generate(TARGET x CODE cauchy K 10 M 4 ISA avx3)\n", "C")
    assert configure(place, source, f"-Dgfsmith_ROOT={ROOT}/packaging").returncode == 0
    done = place.run("cmake", "--build", source / "build")
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if line.startswith("gfsmith: ")]
    assert len(said) == 1
    assert "'avx3' is not an instruction set; allowed: " in said[0]
    assert list((source / "build" / "gfsmith").iterdir()) == []


def test_an_installed_library(archive: Path, place: Place, tmp_path: Path) -> None:
    """Built from a tree, then moved: find_package and pkg-config."""
    source = unpacked(archive, tmp_path)
    assert configure(place, source, "-DCMAKE_BUILD_TYPE=Debug").returncode == 0
    build(place, source)
    place.call("cmake", "--install", source / "build", "--prefix", tmp_path / "stage")
    prefix = (tmp_path / "stage").rename(tmp_path / "moved")

    text = FIND + f"add_executable(p {EXAMPLES}/cmake/main.c)\ntarget_link_libraries(p gfsmith::gfsmith)\n"
    user = project(tmp_path / "user", text, "C")
    done = configure(place, user, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert (done.returncode, done.stderr) == (0, "")
    build(place, user)
    assert re.fullmatch(OUTPUT, place.call(user / "build" / "p"))

    found = ["pkg-config", "--cflags", "--libs", f"gfsmith = {__version__}"]
    flags = place.call(*found, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
    places = [os.path.normpath(flag) for flag in flags]
    assert places == [f"-I{prefix}/include", f"-L{prefix}/lib", "-lgfsmith"]

    user = project(tmp_path / "generates", FIND + "gfsmith_generate(TARGET x CODE cauchy K 10 M 4)\n", "C")
    done = configure(place, user, f"-DCMAKE_PREFIX_PATH={prefix}", PATH="/usr/bin:/bin")
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert (
        "gfsmith_generate(x): the program gfsmith is not found; install it or set GFSMITH_EXECUTABLE" in said
    )


def test_folders_with_blanks(archive: Path, place: Place, tmp_path: Path) -> None:
    """The flags of pkg-config are words of a shell, with a relative and an absolute folder. The library is
    compiled once for both, in CMake's default configuration with optimisations.
    """
    source = unpacked(archive, tmp_path)
    for number, libraries in enumerate(("lib of 64 bits", "{prefix}/lib of 64 bits")):
        prefix = tmp_path / f"R&D  of a team {number}" / "prefix"
        chosen = libraries.format(prefix=prefix)
        folders = (f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-DCMAKE_INSTALL_LIBDIR={chosen}")
        assert configure(place, source, "-DBUILD_SHARED_LIBS=ON", *folders).returncode == 0
        build(place, source)
        place.call("cmake", "--install", source / "build")
        compiled_with_blanks(place, prefix / "lib of 64 bits" / "pkgconfig", tmp_path)


def test_a_part_of_a_project(archive: Path, place: Place, tmp_path: Path) -> None:
    """FetchContent of the archive; it adds nothing to the project's own installation."""
    text = f"""include(FetchContent)
FetchContent_Declare(gfsmith URL {archive})
FetchContent_MakeAvailable(gfsmith)
add_executable(p {EXAMPLES}/cmake/main.c)
target_link_libraries(p gfsmith::gfsmith)
install(TARGETS p)
"""
    user = project(tmp_path / "user", text, "C")
    done = configure(place, user, "-DCMAKE_POLICY_DEFAULT_CMP0135=NEW")
    assert (done.returncode, done.stderr) == (0, "")
    build(place, user)
    place.call("cmake", "--install", user / "build", "--prefix", tmp_path / "stage")
    assert re.fullmatch(OUTPUT, place.call(tmp_path / "stage/bin/p"))
    assert [path.name for path in (tmp_path / "stage").iterdir()] == ["bin"]


def test_an_installed_generator(place: Place, tmp_path: Path) -> None:
    """A wheel of this checkout: its files suffice, CMake finds the program next to it, and a changed wheel
    causes a new generation.
    """
    site, prefix = installed(place, tmp_path)
    folder = place.call(prefix / "bin/gfsmith", "where", "cmake", PYTHONPATH=site).strip()
    assert folder.startswith(f"{site}/")

    text = f"""gfsmith_generate(TARGET x CONFIG small.toml)
add_executable(p {EXAMPLES}/cmake/main.c)
target_link_libraries(p x)
"""
    user = project(tmp_path / "user", FIND + text, "C")
    (user / "small.toml").write_text(SMALL)
    done = configure(place, user, "-G", "Ninja", f"-Dgfsmith_ROOT={folder}", PATH="/usr/bin:/bin")
    assert (done.returncode, done.stderr) == (0, "")
    cached = (user / "build/CMakeCache.txt").read_text()
    assert f"GFSMITH_EXECUTABLE:FILEPATH={prefix}/bin/gfsmith\n" in cached
    ninja = ("ninja", "-C", user / "build")
    assert "Generating and proving x" in place.call(*ninja, PYTHONPATH=site)
    assert place.call(user / "build/p") == "scalar: shards 2 and 7 are back\n"
    assert "ninja: no work to do." in place.call(*ninja, PYTHONPATH=site)
    Path(site, "gfsmith/build/prove_kernels.py").touch()
    assert "Generating and proving x" in place.call(*ninja, PYTHONPATH=site)
    assert "ninja: no work to do." in place.call(*ninja, PYTHONPATH=site)


def installed(place: Place, folder: Path) -> tuple[str, Path]:
    """Build a wheel of the tracked files and unpack it into a prefix; return its modules and the prefix."""
    listed = place.call("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "checkout" / name)
    pip = (BIN / "python", "-m", "pip", "--quiet", "--disable-pip-version-check")
    place.call(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, folder / "checkout")
    (wheel,) = folder.glob("gfsmith-*.whl")
    place.call(*pip, "install", "--no-deps", "--ignore-installed", "--prefix", folder / "prefix", wheel)
    (site,) = folder.glob("prefix/lib/python3.*/site-packages")
    return str(site), folder / "prefix"
