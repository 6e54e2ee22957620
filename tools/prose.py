"""Prose linter: `python -m tools.prose [--counts]` checks pages, docstrings, comments and messages against
docs/style.md.

The phrases come from the table of that page. The patterns for openings and headless relative clauses
are here.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STYLE = "docs/style.md"

#: Files with other wording: generated results, golden files, and the examples of bad style.
EXEMPT = re.compile(
    r"bench/results/|research/results/|tests/unit/golden/expected/|tests/unit/tools/test_prose\.py$"
    r"|docs/style\.md$|LICENSE$"
)
C_LIKE = {".c", ".h", ".go", ".rs", ".js", ".mjs", ".cc", ".hpp", ".cpp", ".java", ".css"}
HASH = {".sh", ".toml", ".mk", ".cmake", ".build", ".bzl", ".yml", ".yaml"}
HASH_NAMES = {"Makefile", "CMakeLists.txt", "BUILD.bazel", "WORKSPACE", "meson.build", "run"}

OPENING = re.compile(r"(?:What|Which|Who|Whose|Whom|Whether|Where|How(?! to\b)|That)\b")
_AFTER_WHAT = (
    "is|are|was|were|be|has|had|have|it|they|he|she|one|you|we|a|an|the|this|these|each|every|all|its|their|both|"
    "any|no|must|can|cannot|could|may|might|will|would|does|do|did|comes?|came|goes|went|go|follows?|stays?|"
    "stands?|makes?|runs?|lies|holds?|waits?|arrives?|remains?|counts?|differs?|happens?|needs?|ships?|gfsmith"
)
HEADLESS = re.compile(
    rf"\b(?:what|whatever)\s+(?:{_AFTER_WHAT})\b(?!-)|\bwhoever\b|\bthat one(?=[.,;:)]|$)", re.IGNORECASE
)
_ROW = re.compile(r"^\| ([^|]+?) \| [^|]+ \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of prose. opens: its first word opens a docstring, comment or heading."""

    line: int
    words: str
    opens: bool


@dataclass(frozen=True, slots=True)
class Finding:
    path: str
    line: int
    rule: str
    words: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.words}"


@cache
def phrases() -> re.Pattern[str]:
    """The left column of the table in docs/style.md, as whole words."""
    rows = _ROW.findall((ROOT / STYLE).read_text(encoding="utf-8"))
    words = [row for row in rows if row not in ("not", "---")]
    return re.compile(r"\b(?:" + "|".join(re.escape(row) for row in words) + r")\b", re.IGNORECASE)


def _python(source: str) -> Iterator[Text]:
    """Docstrings, other strings of at least four words, and comments."""
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.add(first.value)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (node in docstrings or len(node.value.split()) >= 4)
        ):
            yield Text(node.lineno, node.value, node in docstrings)
    yield from _joined(
        (token.start[0], token.string)
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and not token.string.startswith("#!")
    )


def _joined(comments: Iterator[tuple[int, str]]) -> Iterator[Text]:
    """Comments of consecutive lines as one text."""
    start, last, words = 0, 0, ""
    for line, comment in comments:
        stripped = comment.lstrip("#:/!").strip()
        if words and line == last + 1:
            words += "\n" + stripped
        else:
            if words:
                yield Text(start, words, True)
            start, words = line, stripped
        last = line
    if words:
        yield Text(start, words, True)


_C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.DOTALL)


def _c_like(source: str) -> Iterator[Text]:
    """Comments, and strings of at least four words."""
    lines: list[tuple[int, str]] = []
    for match in _C_TOKEN.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        words = match.group()
        if words.startswith("//"):
            lines.append((line, words))
        elif words.startswith("/*"):
            yield Text(line, re.sub(r"(?m)^\s*\* ?", "", words.strip("/*!<").strip()), True)
        elif words.startswith('"') and len(words.split()) >= 4:
            yield Text(line, words[1:-1], False)
    yield from _joined(iter(lines))


def _hash(source: str) -> Iterator[Text]:
    rows = ((n, row.strip()) for n, row in enumerate(source.splitlines(), 1))
    yield from _joined((n, row) for n, row in rows if row.startswith("#") and not row.startswith("#!"))


def _jinja(source: str) -> Iterator[Text]:
    for match in re.finditer(r"\{#-?(.*?)-?#\}", source, re.DOTALL):
        yield Text(source.count("\n", 0, match.start()) + 1, match.group(1).strip(), True)
    yield from _c_like(re.sub(r"\{#.*?#\}", lambda m: "\n" * m.group().count("\n"), source, flags=re.DOTALL))


def _markdown(source: str) -> Iterator[Text]:
    """Paragraphs without code; headings and paragraphs are texts, but only headings have an opening."""
    blank = re.sub(r"```.*?```", lambda m: "\n" * m.group().count("\n"), source, flags=re.DOTALL)
    start, words = 0, ""
    for number, row in enumerate([*blank.splitlines(), ""], 1):
        prose = "" if row.startswith("    ") else re.sub(r"`[^`]*`", "`", row)
        heading = prose.startswith("#")
        if words and (heading or not prose.strip()):
            yield Text(start, words, False)
            words = ""
        if heading:
            yield Text(number, prose.lstrip("# "), True)
        elif prose.strip():
            start = start if words else number
            words += ("\n" if words else "") + prose
    assert not words


def texts(path: str, source: str) -> list[Text]:
    """The prose of a file, by its type; none for types without a reader."""
    name = Path(path)
    if name.suffix == ".py":
        return list(_python(source))
    if name.suffix in C_LIKE:
        return list(_c_like(source))
    if name.suffix == ".md":
        return list(_markdown(source))
    if name.suffix == ".j2":
        return list(_jinja(source))
    if name.suffix in HASH or name.name in HASH_NAMES:
        return list(_hash(source))
    return []


def _question(words: str, end: int) -> bool:
    """The sentence around a position ends in a question mark."""
    stop = re.search(r"[.?!](?:\s|$)", words[end:])
    return stop is not None and stop.group().startswith("?")


def check(path: str, source: str) -> Iterator[Finding]:
    """The findings of one file."""
    for text in texts(path, source):
        opening = text.opens and OPENING.match(text.words)
        if opening and not _question(text.words, 0):
            yield Finding(path, text.line, "opening", text.words.split("\n")[0][:70])
        for rule, pattern in (("headless", HEADLESS), ("phrase", phrases())):
            for match in pattern.finditer(text.words):
                if rule == "headless" and _question(text.words, match.start()):
                    continue
                line = text.line + text.words.count("\n", 0, match.start())
                around = text.words[max(0, match.start() - 20) : match.end() + 30]
                yield Finding(path, line, rule, " ".join(around.split()))


def findings() -> Iterator[Finding]:
    """The findings of all tracked files."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for path in listed.stdout.splitlines():
        file = ROOT / path
        if not EXEMPT.search(path) and file.is_file():
            try:
                source = file.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            yield from check(path, source)


def main() -> None:
    """Print the findings, or with --counts their numbers; exit with 1 if there are any."""
    found = sorted(findings(), key=lambda finding: (finding.path, finding.line))
    if "--counts" in sys.argv[1:]:
        counts = Counter((finding.rule, finding.path.split("/")[0]) for finding in found)
        for (rule, folder), count in sorted(counts.items()):
            print(f"{rule:10} {folder:20} {count}")
    else:
        for finding in found:
            print(finding)
    if found:
        print(f"prose: {len(found)} findings; docs/style.md has the rules", file=sys.stderr)
        raise SystemExit(1)


if __name__ == "__main__":
    main()
