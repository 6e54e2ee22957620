"""The Markdown of the repository, parsed: links, headings, code."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.support.paths import ROOT


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its language and its text."""

    language: str
    text: str


def pages() -> list[Path]:
    """Return every Markdown file that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return [ROOT / name for name in sorted(set(done.stdout.split()))]


@cache
def _tokens(text: str) -> Sequence[Token]:
    """Return the parsed text, which must not be changed."""
    return MarkdownIt("commonmark").enable("table").parse(text)


def links(text: str) -> Iterator[str]:
    """Yield the targets of links and images."""
    for token in _tokens(text):
        for child in token.children or ():
            target = child.attrGet("href" if child.type == "link_open" else "src")
            if target is not None:
                yield str(target)


def anchors(text: str) -> set[str]:
    """Return the names that a link may have after #, as GitHub derives them from the headings."""
    tokens, found = _tokens(text), set[str]()
    for heading, inline in itertools.pairwise(tokens):
        if heading.type == "heading_open":
            words = "".join(child.content for child in inline.children or ())
            found.add(re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-"))
    return found


def broken(page: Path) -> list[str]:
    """Return the relative links of a page without a target."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page if not path else (page.parent / path).resolve()
        if not target.exists():
            found.append(f"{link}: no such file")
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            found.append(f"{link}: no such heading")
    return found


def fences(text: str) -> list[Fence]:
    return [Fence(token.info, token.content) for token in _tokens(text) if token.type == "fence"]


def code(text: str) -> Iterator[str]:
    """Yield all text set as code: blocks and words."""
    for token in _tokens(text):
        if token.type in ("fence", "code_block"):
            yield token.content
        for child in token.children or ():
            if child.type == "code_inline":
                yield child.content
