"""The how-to pages work if a reader follows them literally, on a copy of the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.docs import howto
from tests.system.docs.howto import Create, Edit, Run, StepError

PAGES = sorted((ROOT / "docs" / "howto").glob("*.md"))


@pytest.mark.needs("clang", "qemu")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_can_be_followed(page: Path, tmp_path: Path) -> None:
    found = list(howto.steps(page.read_text(encoding="utf-8")))
    assert any(isinstance(step, Run) for step in found), "a page without a command shows nothing"
    assert any(isinstance(step, Create | Edit) for step in found), "a page without an edit adds nothing"
    root, path = howto.copy_of_the_repository(tmp_path), howto.path_without_environment()
    for step in found:
        path = howto.follow(step, root, path)


def test_steps_are_read() -> None:
    text = (
        "# A\n\nCreate `a`:\n\n```python\nx\n```\nIn `b`:\n\n```diff\n y\n-old\n+new\n```\n\n"
        "```sh\necho 1\n```\n\n```text\n1\n```\n"
    )
    expected = [Create("a", "x\n"), Edit("b", "y\nold\n", "y\nnew\n"), Run("echo 1\n", "1\n")]
    assert list(howto.steps(text)) == expected


def test_a_step_that_cannot_be_followed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("y\ny\n")
    for step in (
        Create("b", ""),
        Edit("b", "y\n", "z\n"),
        Edit("b", "absent\n", "z\n"),
        Run("false\n", None),
        Run("echo 1\n", "2\n"),
    ):
        with pytest.raises(StepError):
            howto.follow(step, tmp_path)
    assert (tmp_path / "b").read_text() == "y\ny\n"
    (tmp_path / "c").write_text("one\ntwo\n")
    howto.follow(Edit("c", "one\n", "one\nand a half\n"), tmp_path)
    howto.follow(Run("cat c\n", "one\nand ... half\ntwo\n"), tmp_path)


def test_a_value_of_path_lasts_until_the_end_of_the_page(tmp_path: Path) -> None:
    path = howto.path_without_environment()
    left = howto.follow(Run("PATH=/nowhere:$PATH\necho 1\n", "1\n"), tmp_path, path)
    assert left == f"/nowhere:{path}"
    assert howto.follow(Create("a", ""), tmp_path, left) == left
