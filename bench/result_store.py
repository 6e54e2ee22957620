"""Results of a long bench, from which a later run continues, and its part of a page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.build import BuildError
from bench.machine import describe
from bench.run import RunError
from gfsmith.emit.files import replacing

Json = dict[str, Any]


class OtherRun(Exception):
    """The file holds results of another machine, library or setting. The message names it."""


class PageError(Exception):
    """The page cannot be written. The message gives the reason."""


class Store:
    """A file of results, complete after every entry: tables with one entry per line, and the settings."""

    def __init__(self, path: Path, library: str, how: Json, tables: Iterable[str], fresh: bool) -> None:
        """Raises OtherRun if the file exists and belongs to another machine, library or setting."""
        self._path, self._tables = path, tuple(tables)
        self.content: Json = {"machine": describe(), "library": library, "method": how}
        self.content |= {table: {} for table in self._tables}
        if path.exists() and not fresh:
            kept = json.loads(path.read_text())
            for key in ("machine", "library", "method"):
                if kept[key] != self.content[key]:
                    raise OtherRun(
                        f"{path.name} is of another {key}: --fresh starts again, --out names another file"
                    )
            self.content |= kept

    def put(self, table: str, name: str, value: Json) -> None:
        self.content[table][name] = value
        self.save()

    def save(self) -> None:
        with replacing(self._path) as fresh:
            fresh.write_text(self._text())

    def _text(self) -> str:
        parts = []
        for key, value in self.content.items():
            if key in self._tables:
                lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in value.items())
                parts.append(f' "{key}": {{\n{lines}\n }}')
            else:
                parts.append(f' "{key}": {json.dumps(value)}')
        return "{\n" + ",\n".join(parts) + "\n}\n"


def status(bench: str, run: Callable[[], object]) -> int:
    """Run a bench; return its exit status, with an error on stderr in one line."""
    try:
        run()
    except (OtherRun, PageError) as error:
        print(f"{bench}: {error}", file=sys.stderr)
        return 2
    except (BuildError, RunError, FileNotFoundError) as error:
        print(f"{bench}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{bench}: interrupted; the same command continues from here", file=sys.stderr)
        return 130
    return 0


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Iterator[str]:
    """Yield the lines of a Markdown table, if it has rows; all columns but the first `left` are figures."""
    found = list(rows)
    if not found:
        return
    yield f"| {' | '.join(headings)} |"
    yield "|" + "|".join("---" if n < left else "---:" for n in range(len(headings))) + "|"
    yield from (f"| {' | '.join(row)} |" for row in found)
    yield ""


def spread(values: Any, digits: int) -> str:
    """Return the median of an array, and its quartiles in parentheses."""
    low, middle, high = np.percentile(values, (25, 50, 75))
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def fill(page: Path, heading: str, marks: tuple[str, str], body: str) -> None:
    """Replace the text between the marks of a page; a page without marks gets them at its end, below the
    heading.

    Raises FileNotFoundError without page, PageError if it has one mark only.
    """
    begin, end = marks
    text = page.read_text()
    if (begin in text) != (end in text):
        raise PageError(f"{page.name} lacks one of the lines {begin} and {end}")
    room = f"\n## {heading}\n\n{begin}\n{end}\n"
    before, rest = (text if begin in text else text + room).split(begin, 1)
    after = rest.split(end, 1)[1]
    with replacing(page) as fresh:
        fresh.write_text(f"{before}{begin}\n{body}{end}{after}")
