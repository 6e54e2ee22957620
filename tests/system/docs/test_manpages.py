"""The man pages of `make docs`: complete, without a date, and without warnings of mandoc."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gfsmith.cli.main import main
from tests.support.paths import ROOT


def _lint(*pages: Path) -> list[str]:
    """Return mandoc's messages, except about the date, which is omitted on purpose."""
    done = subprocess.run(
        ["mandoc", "-Tlint", "-Wwarning", *map(str, pages)], capture_output=True, text=True, check=False
    )
    return [line for line in (done.stdout + done.stderr).splitlines() if "cannot parse date" not in line]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("man")
    (folder / "gfsmith-gone.1").touch()
    subprocess.run([sys.executable, ROOT / "tools" / "manpages.py", folder], check=True)
    return {path.name: path for path in sorted(folder.iterdir())}


def test_every_command_has_its_page(pages: dict[str, Path]) -> None:
    assert set(pages) == {"gfsmith.1", *(f"gfsmith-{name}.1" for name in main.commands)}


def test_mandoc_has_nothing_to_say(pages: dict[str, Path]) -> None:
    assert _lint(*pages.values()) == []


def test_mandoc_would_have(tmp_path: Path, pages: dict[str, Path]) -> None:
    bad = tmp_path / "bad.1"
    bad.write_text(pages["gfsmith.1"].read_text() + ".gfsmith/\n")
    assert any("unknown macro" in line for line in _lint(bad))


def test_every_option_is_described(pages: dict[str, Path]) -> None:
    for name, command in main.commands.items():
        text = pages[f"gfsmith-{name}.1"].read_text().replace("\\-", "-")
        for parameter in command.params:
            for flag in parameter.opts if parameter.param_type_name == "option" else ():
                assert re.search(rf"{re.escape(flag)}\b", text), f"{name}: {flag}"


def test_there_is_no_date(pages: dict[str, Path]) -> None:
    for path in pages.values():
        assert re.search(r"(?<![\w-])20\d\d", path.read_text()) is None, path
        assert path.read_text().splitlines()[0].split('" "')[2] == " "
