"""The man page, the help and the README describe the same commands and options; the vectors are current."""

from __future__ import annotations

import re
from pathlib import Path

from tests.oracle import shard_vectors
from tests.support.folders import built
from tests.support.paths import ROOT
from tests.system.apps.shards.support import Tool, call

FOLDER = ROOT / "apps" / "shards"
OPTION = re.compile(r"^ +(?:-(\w), |    )--(\w+)", re.MULTILINE)


def test_the_man_page_has_every_option(tool: Tool) -> None:
    page = (FOLDER / "gfsmith-shards.1").read_text().replace("\\", "").replace("fB", "").replace("fR", "")
    options = OPTION.findall(tool.ok("--help"))
    assert len(options) > 10
    for short, long in options:
        assert f"--{long}" in page, long
        assert not short or f"-{short}, " in page, short


def test_the_readme_names_every_source() -> None:
    text = (FOLDER / "README.md").read_text()
    assert {path.name for path in FOLDER.glob("*.c")} <= set(re.findall(r"`(\w+\.c)`", text))


def test_the_installed_program_and_its_page(tmp_path: Path) -> None:
    built("shards")
    call("make", "install-shards", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    names = {path.relative_to(tmp_path / "usr").as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"bin/gfsmith-shards", "share/man/man1/gfsmith-shards.1", "include/gfsmith_shards.h"} <= names
    assert {"lib/libgfsmith-shards.a", "lib/pkgconfig/gfsmith-shards.pc"} <= names
    assert Tool(tmp_path / "usr/bin/gfsmith-shards", {}).ok("--version").startswith("gfsmith-shards ")


def test_the_vectors_are_those_of_the_second_implementation() -> None:
    assert shard_vectors.FILE.read_text(encoding="utf-8") == shard_vectors.text()
