"""Needs of tests: they cover everything that `make test-all` installs, and
nothing that `make test` installs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gfsmith.build.requirements import Level, requirements
from tests.support import needs
from tests.support.paths import ROOT

#: A part of the need "wasm" that only the linker finds.
ELSEWHERE = {"/usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a"}


def test_needs_equal_the_additions_of_test_all() -> None:
    lower = {each.name for each in requirements(Level.TEST)} | {
        each.name for each in requirements(Level.CHECK)
    }
    added = {each.name for each in requirements(Level.TEST_ALL)} - lower
    known = {name for names in needs.NEEDS.values() for name in names}
    assert added - known == ELSEWHERE
    assert not known & {each.name for each in requirements(Level.TEST)}


def test_paths_exist_and_name_needs() -> None:
    for path, names in needs.PATHS.items():
        assert (ROOT / "tests" / path).exists() or (ROOT / path).exists(), path
        assert set(names) <= set(needs.NEEDS), path


def test_of_path_includes_parent_folders() -> None:
    page = ROOT / "tests" / "system" / "bindings" / "wasm" / "test_page.py"
    assert needs.of_path(page) == ("clang", "wasm", "browser")
    assert needs.of_path(Path("/elsewhere/test_page.py")) == ()


def test_params_carry_the_needs_of_their_commands() -> None:
    table = {"gcc": ["gcc"], "both": (["clang-19", "-O2"], ["x86_64-w64-mingw32-gcc"])}
    plain, both = needs.params(table)
    assert (plain.id, list(plain.marks)) == ("gcc", [])
    assert both.id == "both"
    assert [mark.args for mark in both.marks] == [("clang", "mingw")]
    assert [param.values for param in needs.params(["gcc", "clang-14"])] == [("gcc",), ("clang-14",)]


def test_missing_needs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(needs.NEEDS, "nothing there", ("no_such_module",))
    monkeypatch.setitem(needs.NEEDS, "standard", ("json",))
    assert needs.missing(["standard", "nothing there"]) == ["nothing there"]
