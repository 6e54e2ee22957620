"""Paths in pages and comments: each file or folder that they name exists."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from gfsmith.cli import main
from tests.support.paths import ROOT
from tests.system.docs import howto
from tests.system.docs.pages import code, pages
from tools.prose import texts

#: The characters of a path, and those of placeholders. A path is preceded by no character of a longer path.
_PATH = re.compile(r"(?<![\w./<>*$()}@-])\.?[a-z_]+/[\w./<>*{}$()-]*")
_PLACEHOLDER = re.compile(r"[<>*{}$()]|\.\.\.|/[A-Z]+(?=\.j2)")
#: A path in a comment ends in one of these, since prose has other words with a slash.
_FILE = re.compile(r"\.(?:md|py|c|h|sh|toml|json|mk|cmake|j2|svg|txt)$")
_COMMENTED = {".py", ".c", ".h", ".rs"}


@cache
def _tracked() -> frozenset[str]:
    """Return the files that git tracks or would track, and their folders."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    files = [Path(name) for name in done.stdout.splitlines() if (ROOT / name).exists()]
    return frozenset(path.as_posix() for file in files for path in (file, *file.parents))


def _named(text: str) -> Iterator[str]:
    """Yield the paths below the top-level folders of the repository, without placeholders."""
    tops = {name for name in _tracked() if "/" not in name and (ROOT / name).is_dir()} - {".", "gen_out"}
    for found in _PATH.findall(text):
        path = found.rstrip("./")
        if path.split("/")[0] in tops and not _PLACEHOLDER.search(found.rstrip(".")):
            yield path


def _ignored(path: str) -> bool:
    """Return True for the place of generated files."""
    command = ["git", "check-ignore", path, f"{path}/file"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


def _missing(text: str, created: frozenset[str] = frozenset()) -> list[str]:
    absent = {path for path in _named(text) if path not in _tracked() | created}
    return sorted(path for path in absent if not _ignored(path))


def _created(page: Path) -> frozenset[str]:
    """Return the files that the steps of a how-to page write, and their folders."""
    files: list[Path] = []
    for step in howto.steps(page.read_text(encoding="utf-8")):
        if isinstance(step, howto.Create):
            files.append(Path(step.path))
        elif isinstance(step, howto.Run):
            files += map(Path, re.findall(r"> (\S+)", step.commands))
    return frozenset(path.as_posix() for file in files for path in (file, *file.parents))


def _pages() -> list[Path]:
    tops = {ROOT / f"{name}.md" for name in ("README", "SOUNDNESS", "CONTRIBUTING", "SECURITY")}
    return [page for page in pages() if page in tops or page.is_relative_to(ROOT / "docs")]


@pytest.mark.parametrize("page", _pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_of_pages_exist(page: Path) -> None:
    created = _created(page) if page.parent.name == "howto" else frozenset[str]()
    assert [path for text in code(page.read_text(encoding="utf-8")) for path in _missing(text, created)] == []


def test_paths_in_comments_exist() -> None:
    wrong = []
    for name in sorted(_tracked()):
        path = ROOT / name
        if path.suffix in _COMMENTED and path.is_file() and not name.startswith("tests/unit/golden/"):
            comments = [text.words for text in texts(name, path.read_text(encoding="utf-8")) if text.opens]
            wrong += [f"{name}: {gone}" for text in comments for gone in _missing(text) if _FILE.search(gone)]
    assert wrong == []


#: Names of kernels, with both numbers of shards and the instruction set.
_KERNEL = re.compile(r"\bgfs_[a-z]+_(?:n|\d+)x\d+(?:_\w+)?__\w+")


def test_kernels_on_pages_exist() -> None:
    """Each is in the default set, with or without the coordinator's kernels; a guide may define its own."""
    listed = CliRunner().invoke(main.main, ["list", "-c", str(ROOT / "gfsmith.toml"), "--adaptive", "--json"])
    made = {kernel["symbol"] for kernel in json.loads(listed.stdout)["kernels"]}
    texts = {page.name: page.read_text(encoding="utf-8") for page in _pages() if page.parent.name != "howto"}
    named = {(page, name) for page, text in texts.items() for name in _KERNEL.findall(text)}
    assert len(named) >= 10 and [each for each in sorted(named) if each[1] not in made] == []


def test_a_missing_path_is_found() -> None:
    assert _missing("see docs/gone.md, tests/unit and (docs/style.md).") == ["docs/gone.md"]
    assert _missing("`docs/<page>.md` bench/*.py gen_out/x.inc build/x /usr/docs/gone.md docs/gone/") == [
        "docs/gone"
    ]
