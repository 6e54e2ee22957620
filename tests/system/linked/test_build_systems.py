"""CMake, Meson and Bazel detect a changed kernel in the library of a tree and in generated libraries.

A stub of gfsmith stands between the build and the generator. It changes one byte of the generated source.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.levels import sample
from tests.support.paths import ROOT
from tests.system.linked.support import RIGHT, SYMBOL, call, refused, run, tamper

HERE = ROOT / "tests" / "system"
#: A kernel of the examples' library `shards`.
EXAMPLE = "gfs_xor_nx1__avx2_u4"
EXAMPLE_DIFFERS = f"{EXAMPLE}: its machine code is not the proved one"


def _tree(small: Path, folder: Path) -> Path:
    return Path(shutil.copytree(small / "tree", folder / "tree"))


def _tamper(tree: Path) -> None:
    tamper(tree / "gen_out" / "x86" / f"{SYMBOL}.S")


@pytest.mark.parametrize(
    ("generator", "shared"),
    sample([pytest.param("Unix Makefiles", "OFF"), pytest.param("Ninja", "ON")], "Ninja"),
)
def test_cmake(generator: str, shared: str, small: Path, tmp_path: Path) -> None:
    """The second build compiles only the changed kernel again."""
    tree = _tree(small, tmp_path)
    flags = (f"-DBUILD_SHARED_LIBS={shared}", "-DGFSMITH_ISAL=ON", "-G", generator)
    call("cmake", "-S", tree, "-B", tree / "build", *flags)
    build = [("cmake", "--build", tree / "build", "--target", name) for name in ("gfsmith", "gfsmith_isal")]
    for command in build:
        done = run(*command)
        assert RIGHT in done.stdout, done.stdout + done.stderr
    _tamper(tree)
    for command in build:
        refused(run(*command))


def test_cmake_without_dispatch(small: Path, tmp_path: Path) -> None:
    tree = _tree(small, tmp_path)
    call("cmake", "-S", tree, "-B", tree / "build", "-DGFSMITH_SINGLE_ISA=avx2")
    assert "4 functions compared, 0 compiled from C" in call("cmake", "--build", tree / "build")


@pytest.mark.parametrize("kind", sample(["shared", "static"], "static"))
def test_meson(kind: str, small: Path, tmp_path: Path) -> None:
    tree = _tree(small, tmp_path)
    call("meson", "setup", f"-Ddefault_library={kind}", tree / "build", tree)
    call("ninja", "-C", tree / "build")
    assert "ninja: no work to do." in call("ninja", "-C", tree / "build")
    _tamper(tree)
    refused(run("ninja", "-C", tree / "build"))


def test_meson_with_the_options_of_a_strict_project(small: Path, tmp_path: Path) -> None:
    """Several sources at once, and no warning. meson has no such unity builds of assembly."""
    tree = _tree(small, tmp_path)
    call("meson", "setup", "--unity=on", "--werror", tree / "build", tree)
    call("ninja", "-C", tree / "build")


STUB = """#!{python}
import subprocess, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.system.linked.support import tamper
status = subprocess.call([{gfsmith!r}, *sys.argv[1:]])
if status == 0 and "export" in sys.argv:
    source = Path(sys.argv[sys.argv.index("-o") + 1]) / "gfsmith.c"
    if source.exists():
        tamper(source, {symbol!r})
sys.exit(status)
"""


@pytest.fixture
def path(small: Path, tmp_path: Path) -> dict[str, str]:
    """The environment with the stub, the proofs that exist, and `gfsmith` in PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    gfsmith = Path(sys.executable).parent / "gfsmith"
    stub = folder / "gfsmith"
    stub.write_text(STUB.format(python=sys.executable, root=str(ROOT), gfsmith=str(gfsmith), symbol=EXAMPLE))
    stub.chmod(0o755)
    cache = str(small / ".gfsmith-cache")
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "GFSMITH_CACHE": cache}


def _example(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / name, folder / "project"))


def test_make_fragment(path: dict[str, str], tmp_path: Path) -> None:
    refused(run("make", "example", cwd=_example("make", tmp_path), **path), EXAMPLE_DIFFERS)


def test_cmake_function(path: dict[str, str], tmp_path: Path) -> None:
    source = _example("cmake", tmp_path)
    stub = path["PATH"].split(":")[0] + "/gfsmith"
    flags = (f"-Dgfsmith_ROOT={ROOT}/packaging", f"-DGFSMITH_EXECUTABLE={stub}")
    call("cmake", "-S", source, "-B", source / "build", *flags, **path)
    done = run("cmake", "--build", source / "build", "--target", "example", **path)
    refused(done, EXAMPLE_DIFFERS)


def test_meson_example(path: dict[str, str], tmp_path: Path) -> None:
    source = _example("meson", tmp_path)
    call("meson", "setup", source / "build", source, **path)
    refused(run("ninja", "-C", source / "build", **path), EXAMPLE_DIFFERS)


def test_bazel(path: dict[str, str], tmp_path: Path) -> None:
    source = _example("bazel", tmp_path)
    rules = {"gfsmith": str(ROOT / "packaging" / "bazel"), "rules_cc": str(HERE / "builds" / "rules_cc")}
    rules |= {f"rules_{name}": f"/usr/share/bazel/rules/{name}" for name in ("java", "proto")}
    flags = [f"--override_repository={name}={place}" for name, place in rules.items()]
    cache = path["GFSMITH_CACHE"]
    flags += ["--action_env=PATH", f"--action_env=GFSMITH_CACHE={cache}", f"--sandbox_writable_path={cache}"]
    start = ("bazel", f"--output_user_root={tmp_path}/root", "--batch")
    refused(run(*start, "build", "//...", *flags, cwd=source, **path), EXAMPLE_DIFFERS)
