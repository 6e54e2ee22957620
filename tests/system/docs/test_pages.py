"""Every link has a target, every page is reachable, every command that a page names exists."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from gfsmith.cli.main import main
from tests.support.paths import ROOT
from tests.system.docs.pages import broken, code, links, pages

PAGES = pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


@pytest.mark.parametrize("folder", ["bindings/go", "bindings/wasm"])
def test_links_of_a_package_stay_in_its_folder(folder: str) -> None:
    """The archives of a release have the folder without the repository around it."""
    for page in (page for page in PAGES if page.is_relative_to(ROOT / folder)):
        for link in links(page.read_text(encoding="utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            assert ":" in link or target.is_relative_to(ROOT / folder), f"{page}: {link}"


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two`, three\n[a](#one-two-three) [b](#four) [c](gone.md) ![d](gone.svg) [e](page.md#x)\n"
    )
    assert [line.split(":")[0] for line in broken(page)] == ["#four", "gone.md", "gone.svg", "page.md#x"]


def test_every_page_is_reachable() -> None:
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        text = page.read_text(encoding="utf-8")
        todo += [(page.parent / link.partition("#")[0]).resolve() for link in links(text) if ":" not in link]
    folders = [ROOT / name for name in ("docs", "bench", "research")]
    expected = {page for page in PAGES for folder in folders if page.is_relative_to(folder)}
    assert (
        expected
        - {ROOT / "bench" / name / "method.md" for name in ("adaptive", "compose", "compose/primitives")}
        <= seen
    )


def _named(text: str, command: str) -> set[str]:
    """Return the words after `command` at the beginning of texts set as code."""
    lines = (line.strip() for piece in code(text) for line in piece.splitlines())
    pattern = re.compile(rf"(?:\.venv/bin/)?{command} ((?:[A-Z_]+=(?:\"[^\"]*\"|\S+) )*)([a-z][a-z-]*)")
    return {found[2] for line in lines if (found := pattern.match(line))}


def test_commands_of_pages_exist() -> None:
    makefiles = [
        (ROOT / name).read_text()
        for name in (
            "Makefile",
            "packaging/make/library.mk",
            "runtime/isal/isal.mk",
            "runtime/jerasure/jerasure.mk",
            "runtime/compose/compose.mk",
            "runtime/shards/shards.mk",
            "bindings/java/java.mk",
        )
    ]
    targets = {t for text in makefiles for t in re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE)}
    missing = []
    for page in PAGES:
        if page.parent == ROOT / "docs" / "howto":
            continue  # these pages add commands, and test_howto.py runs them
        text = page.read_text(encoding="utf-8")
        if page.is_relative_to(ROOT / "docs") or page.parent in (ROOT, ROOT / "bench" / "results"):
            missing += [f"{page.name}: make {word}" for word in _named(text, "make") - targets]
        missing += [f"{page.name}: gfsmith {word}" for word in _named(text, "gfsmith") - set(main.commands)]
    assert missing == []
    assert _named(
        "    make CROSS=a-b ISA='x' lib\n\n`.venv/bin/gfsmith  x` `gfsmith gone --x`", "gfsmith"
    ) == {"gone"}


def _of_the_environment(text: str) -> list[str]:
    """Return commands set as code that work only with the packages of .venv, and do not name it."""
    lines = (line.strip() for piece in code(text) for line in piece.splitlines())
    pattern = re.compile(
        r"(?:[A-Z_]+=\S+ )*(?:python3? -m (?:bench|judge|pytest|research|tests|tools)\b|pytest )"
    )
    return [line for line in lines if pattern.match(line)]


def test_commands_name_the_environment() -> None:
    """Except for the how-to pages, which set PATH."""
    pages = [page for page in PAGES if page.parent != ROOT / "docs" / "howto"]
    assert [f"{page.name}: {line}" for page in pages for line in _of_the_environment(page.read_text())] == []
    some = "`python -m bench`, `.venv/bin/pytest tests`\n\n    GFSMITH_SEED=1 pytest tests\n"
    assert _of_the_environment(some) == ["python -m bench", "GFSMITH_SEED=1 pytest tests"]


def test_readme_states_the_default_set() -> None:
    kernels = json.loads((ROOT / "gen_out" / "MANIFEST.json").read_text())["kernels"]
    size = sum(kernel["bytes"] for kernel in kernels)
    assert f"{len(kernels)} kernels, {size:,} bytes of machine code" in (ROOT / "README.md").read_text()


def test_architecture_names_every_folder() -> None:
    """All folders that git has at the top."""
    done = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT)
    folders = {line.split("/")[0] for line in done.stdout.splitlines() if "/" in line}
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [
        row.split("|")[1] for row in text.split("## The packages")[0].splitlines() if row.startswith("| [")
    ]
    named = [folder for row in rows for folder in re.findall(r"\[([.a-z_]+)\]", row)]
    assert sorted(named) == sorted(folders)


def test_every_command_is_on_its_page() -> None:
    assert _named((ROOT / "docs" / "command-line.md").read_text(encoding="utf-8"), "gfsmith") == set(
        main.commands
    )


#: Pages of replacements and engines that programs use without a change.
REPLACEMENTS = [
    *(f"docs/migrate/{name}.md" for name in ("klauspost-replace", "reed-solomon-erasure", "hdfs", "ozone")),
    *(f"docs/migrate/{name}.md" for name in ("zfec", "pyeclib", "jerasure", "liberasurecode")),
    "examples/ceph/README.md",
]


@pytest.mark.parametrize("name", REPLACEMENTS)
@pytest.mark.parametrize("subject", ["Switch", "Verify", "(Figures|Speed)", "Differences", "Go back"])
def test_a_page_of_a_replacement_has_its_parts(name: str, subject: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.search(rf"^(#+ {subject}$|\*\*{subject}[.:]\*\*)", text, re.MULTILINE)
