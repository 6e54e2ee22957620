"""The documentation site: python -m tools.site FOLDER writes pages, C reference and Python reference as HTML.

The sources of the site are every Markdown page that git lists, at its own path, and three kinds of pages that
this module writes: one for each public C header, one for the Python modules, and one for each folder that a
page links to. The groups of docs/README.md become the groups of the navigation. Sphinx treats every warning
as an error, including broken links between pages; afterwards `broken` follows every local link of the HTML.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools import reference

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = Path(__file__).parent
START = "README.md"
CONTENTS = "docs/README.md"
C_REFERENCE = "docs/reference.md"
PYTHON_REFERENCE = "docs/python-reference.md"
#: Parts of a header's page: all but its include directives.
HEADER_SECTIONS = (
    "briefdescription detaileddescription define enum typedef struct innerclass func public-attrib"
)
#: Options of autodoc for each module. gfsmith.codec imports its names from private submodules.
PYTHON_MODULES = {
    "gfsmith.codec": ("members", "imported-members", "inherited-members: Exception, BaseException, tuple"),
    "gfsmith.codec.raid": ("members",),
}
_LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")
_GROUP = re.compile(r"^## (.+)$", re.MULTILINE)


def tracked(*patterns: str) -> list[str]:
    """Return the files of the work tree that match patterns and that git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return sorted(name for name in set(done.stdout.split()) if (ROOT / name).exists())


def _resolved(page: str, link: str) -> str:
    return os.path.normpath(Path(page).parent / link)


def _targets(page: str, text: str) -> Iterator[str]:
    """Yield the files and folders that a page links to, relative to the top."""
    for link in _LINK.findall(text):
        yield _resolved(page, link)


def _relative(target: str, page: str) -> str:
    return os.path.relpath(target, Path(page).parent)


def groups(contents: str) -> list[tuple[str, list[str]]]:
    """Return the groups of the page of all pages: (heading, pages in order); a page is in the first only."""
    parts = _GROUP.split(contents)
    seen = {CONTENTS}
    found = []
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        pages = []
        for target in _targets(CONTENTS, text):
            if target.endswith(".md") and target not in seen:
                seen.add(target)
                pages.append(target)
        found.append((heading, pages))
    return found


def _toctree(page: str, children: Iterable[str], caption: str = "", *, hidden: bool = True) -> str:
    options = ([":hidden:"] if hidden else []) + ([f":caption: {caption}"] if caption else [])
    lines = [*options, "", *(_relative(child.removesuffix(".md"), page) for child in children)]
    return "\n\n```{toctree}\n" + "\n".join(lines) + "\n```\n"


def header_pages() -> dict[str, str]:
    """Return a page for each public header: the path of the page, and its text."""
    headers = [path for part in reference.PARTS for path in sorted(ROOT.glob(f"runtime/{part}/include/*.h"))]
    return {
        f"docs/reference/{path.stem}.md": f"# {path.name}\n\n```{{doxygenfile}} {path.name}\n"
        f":sections: {HEADER_SECTIONS}\n```\n"
        for path in headers
    }


def python_page() -> str:
    """Return the page of the Python reference."""
    parts = ["# The Python interface\n"]
    for module, options in PYTHON_MODULES.items():
        lines = [f".. automodule:: {module}", *(f"   :{option}" for option in options)]
        directive = "\n".join(line if ": " in line or line.startswith("..") else f"{line}:" for line in lines)
        parts.append(f"## {module}\n\n```{{eval-rst}}\n{directive}\n```\n")
    return "\n".join(parts)


def folder_page(folder: str, files: Sequence[str]) -> str:
    """Return the page that lists the files of a folder, for links that lead to it."""
    below = [os.path.relpath(name, folder) for name in files]
    entries = sorted({name.split("/")[0] + ("/" if "/" in name else "") for name in below})
    lines = [f"- [{name}]({name})" if name.endswith(".md") else f"- `{name}`" for name in entries]
    return f"---\norphan: true\nnosearch: true\n---\n\n# Files in {folder}\n\n" + "\n".join(lines) + "\n"


def _read_pages() -> dict[str, str]:
    """Return the text of each page. A Markdown file without a title is part of a page of bench/."""
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in tracked("*.md")}
    return {name: text for name, text in texts.items() if text.startswith("# ")}


def _add_references(texts: dict[str, str]) -> None:
    """Add the pages of the C and Python references, and the navigation."""
    listed = groups(texts[CONTENTS])
    grouped = {name for _, pages in listed for name in pages}
    others = [name for name in texts if name not in {*grouped, START, CONTENTS}]
    headers = header_pages()
    texts[C_REFERENCE] += _toctree(C_REFERENCE, headers, hidden=False)
    texts |= headers
    texts[PYTHON_REFERENCE] = python_page()
    for _, pages in listed:
        if C_REFERENCE in pages:
            pages.insert(pages.index(C_REFERENCE) + 1, PYTHON_REFERENCE)
    listed[0][1].insert(0, CONTENTS)
    texts[START] += "".join(_toctree(START, pages, heading) for heading, pages in [*listed, ("More", others)])


def _landing(folder: str, texts: dict[str, str]) -> str:
    """Return the page that a link to a folder leads to: its README.md, else a list of its files."""
    page = f"{folder}/README.md"
    if page not in texts:
        page = f"{folder}/index.md"
        texts.setdefault(page, folder_page(folder, tracked(folder)))
    return page


def stage(folder: Path) -> None:
    """Write the sources of the site: pages, and the other files that they link to."""
    texts = _read_pages()
    _add_references(texts)
    files = set()
    for name, text in list(texts.items()):

        def follow(link: re.Match[str], page: str = name) -> str:
            target = _resolved(page, link[1])
            if (ROOT / target).is_dir():
                return _relative(_landing(target, texts), page)
            if target not in texts and (ROOT / target).is_file():
                files.add(target)
            return link[1]

        texts[name] = _LINK.sub(follow, text)
    shutil.rmtree(folder, ignore_errors=True)
    for name in {*texts, *files}:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name in files:
        shutil.copyfile(ROOT / name, folder / name)


class _References(HTMLParser):
    """The links, loaded resources and anchors of one HTML page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name == "src" or (tag == "link" and name == "href"):
                self.loaded.append(value)
            elif name == "href":
                self.links.append(value)


def broken(site: Path) -> list[str]:
    """Return a line for each local link that leads nowhere and each resource from another host."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = _References()
        pages[path].feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name}: loads {url}" for url in page.loaded if urlsplit(url).netloc]
        for url in [*page.links, *page.loaded]:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{name}: {url}: no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name}: {url}: no such anchor")
    return found


def build(site: Path) -> int:
    """Write the site; return the exit status."""
    work = site.parent / f"{site.name}-sources"
    complaints = reference.build(work / "doxygen", [])
    if complaints:
        print("\n".join(complaints), file=sys.stderr)
        return 1
    stage(work / "pages")
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-b", "html"]
    command += ["-c", str(CONFIGURATION), "-d", str(work / "doctrees"), str(work / "pages"), str(site)]
    environment = os.environ | {
        "GFSMITH_ROOT": str(ROOT),
        "GFSMITH_DOXYGEN_XML": str(work / "doxygen" / "xml"),
    }
    done = subprocess.run(command, check=False, env=environment)
    if done.returncode != 0:
        return done.returncode
    shutil.copyfile(site / "README.html", site / "index.html")
    lines = broken(site)
    if lines:
        print("\n".join(lines), file=sys.stderr)
    return 1 if lines else 0


def main(words: Sequence[str]) -> int:
    if len(words) != 1:
        print("usage: python -m tools.site FOLDER", file=sys.stderr)
        return 2
    return build(Path(words[0]).absolute())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
