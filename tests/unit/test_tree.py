"""The files that git tracks: none is a link, an example of a build system is complete when copied alone,
the folders of tests/unit are the packages of the generator, and pytest enters all folders of tests.
"""

from __future__ import annotations

import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

#: The examples that other projects copy.
ALONE = ("bazel", "cmake", "make", "meson", "wrap")
#: The folders of tests/unit with tests of other folders than the generator's packages.
OTHER = {"bench", "golden", "judge", "release", "support", "tools"}


def test_no_link_is_tracked(root: Path) -> None:
    done = subprocess.run(
        ["git", "ls-files", "--stage"], cwd=root, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert lines
    assert [line for line in lines if line.startswith("120000 ")] == []


def test_files_that_examples_share_are_equal(root: Path) -> None:
    """An example cannot refer to a file of another one, so the common files are copies."""
    copies: dict[str, dict[bytes, list[str]]] = {}
    for example in ALONE:
        for name in ("main.c", "both.c", "archive.toml"):
            path = root / "examples" / example / name
            if path.exists():
                copies.setdefault(name, {}).setdefault(path.read_bytes(), []).append(example)
    assert {name: list(found.values()) for name, found in copies.items()} == {
        "main.c": [list(ALONE)],
        "both.c": [list(ALONE[:-1])],
        "archive.toml": [list(ALONE[:-1])],
    }


@pytest.mark.parametrize("example", ALONE)
def test_an_example_names_nothing_above_it(example: str, root: Path) -> None:
    top = root / "examples" / example
    sources = [path for path in top.rglob("*") if path.suffix in (".c", ".build", ".txt", ".toml", ".wrap")]
    sources += [path for path in top.rglob("*") if path.name in ("Makefile", "BUILD", "WORKSPACE")]
    assert any(path.name == "main.c" for path in sources)
    for path in sources:
        climbs = "../" * (len(path.relative_to(top).parts))
        assert climbs not in path.read_text(encoding="utf-8"), path


def _packages(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def test_unit_tests_mirror_the_packages_of_the_generator(root: Path) -> None:
    assert _packages(root / "tests" / "unit") - OTHER == _packages(root / "generator" / "gfsmith")


def test_pytest_enters_every_folder_of_tests(root: Path, pytestconfig: pytest.Config) -> None:
    """Its default passes over folders called build or dist."""
    left_out = pytestconfig.getini("norecursedirs")
    folders = {path.parent.name for path in (root / "tests").rglob("test_*.py")}
    assert "build" in folders
    assert not [name for name in folders if any(fnmatch(name, pattern) for pattern in left_out)]
