"""Errors planted in C: code found by structure in any file, and refused if it is not unique."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.mutation import Mutant, plant

SOURCE = """
#define HALF(x) \\
  ((x) / 2)
static int choose(int a, int b) {
  if (a   <   b) /* the less */
    return helper(a, b, 1);
  return a;
}
int other(int a, int b) { return a < b ? a : b; }
"""


def planted(mutant: Mutant, folder: Path) -> str:
    """Return the source with the error; another source next to it lacks the code."""
    (folder / "one.c").write_text("int unrelated(void) { return 1; }\n")
    (folder / "two.c").write_text(SOURCE)
    (folder / "copy").mkdir()
    original, copy = plant(mutant, [folder / "one.c", folder / "two.c"], folder / "copy")
    assert original == folder / "two.c" and copy == folder / "copy" / "two.c"
    return copy.read_text()


@pytest.mark.parametrize(
    ("mutant", "before", "after"),
    [
        (Mutant("a < b", "a > b", within="choose"), "a   <   b", "a > b"),
        (Mutant("helper($x, $$rest)", "helper(0, $$rest)"), "helper(a, b, 1)", "helper(0, b , 1)"),
        (Mutant("return helper($$all);", ";"), "return helper(a, b, 1);", ";"),
        (Mutant("$c ? $x : $y", "$c ? $y : $x"), "a < b ? a : b", "a < b ? b : a"),
        (Mutant("(x) / 2", "(x) / 4"), "(x) / 2", "(x) / 4"),
    ],
    ids=str,
)
def test_planted(tmp_path: Path, mutant: Mutant, before: str, after: str) -> None:
    assert SOURCE.count(before) == 1
    assert planted(mutant, tmp_path) == SOURCE.replace(before, after)


def test_planted_everywhere(tmp_path: Path) -> None:
    text = planted(Mutant("a < b", "false", everywhere=True), tmp_path)
    assert text == SOURCE.replace("a   <   b", "false").replace("a < b", "false")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [("a < b", "in 2 places of two.c"), ("$x < $x", "in no source"), ("helper(a, b)", "in no source")],
)
def test_refused(tmp_path: Path, pattern: str, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        planted(Mutant(pattern, "0"), tmp_path)
