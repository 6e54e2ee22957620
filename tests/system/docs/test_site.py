"""The documentation site: pages of each kind, the search index, and local links."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tools.site.__main__ import broken, groups


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "tools.site", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.mark.parametrize(
    "page, text",
    [
        ("index.html", "<h1>gfsmith"),
        ("docs/codes.html", "<table"),
        ("docs/howto/command.html", 'class="highlight'),
        ("bench/results/performance/znver4.html", "<img"),
        ("docs/reference/gfsmith.html", 'id="c.gfsmith_encode"'),
        ("docs/reference/gfsmith_adaptive.html", 'id="c.gfsmith_codec_adaptive"'),
        ("docs/python-reference.html", 'id="gfsmith.codec.Codec.reconstruct"'),
        ("docs/python-reference.html", 'id="gfsmith.codec.raid.recover"'),
        ("gen_out/index.html", "MANIFEST.json"),
    ],
)
def test_the_site_has_pages_of_each_kind(site: Path, page: str, text: str) -> None:
    assert text in (site / page).read_text(encoding="utf-8")


def test_the_navigation_has_the_groups_of_the_contents(site: Path) -> None:
    start = (site / "index.html").read_text(encoding="utf-8")
    for heading, pages in groups((ROOT / "docs/README.md").read_text(encoding="utf-8")):
        assert f'<span class="caption-text">{heading}</span>' in start
        assert all(f'href="{page.removesuffix(".md")}.html"' in start for page in pages)


@pytest.mark.parametrize("word", ["vandermond", "gfsmith_reconstruct", "gfsmith.codec.Codec.locate"])
def test_the_search_index_has_pages_and_functions(site: Path, word: str) -> None:
    assert word.split(".")[-1] in (site / "searchindex.js").read_text(encoding="utf-8")


def test_the_site_does_not_depend_on_where_it_was_built(site: Path) -> None:
    assert all(str(ROOT) not in page.read_text(encoding="utf-8") for page in site.rglob("*.html"))


def test_broken_links_and_foreign_resources_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="x"></h1><a href="#x"></a><a href="#y"></a><a href="gone.html"></a><a href="https://a.b"></a>'
        '<script src="https://a.b/c.js"></script>'
    )
    assert broken(tmp_path) == [
        "a.html: loads https://a.b/c.js",
        "a.html: #y: no such anchor",
        "a.html: gone.html: no such file",
    ]
