"""`gfsmith tune --report DIR`: the variants of studies on one self-contained HTML page."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gfsmith.emit.template import TEMPLATES
from gfsmith.explore.tune import plots, show, variants
from gfsmith.explore.tune.result import Study
from gfsmith.words import counted

PAGE = "index.html"
_TEMPLATE = "study.html.j2"
_SCRIPT = TEMPLATES / "study.js"
_MARK = '<meta name="generator" content="gfsmith tune">'  #: identifies a report, which may be replaced
_LIMIT = 1000  #: rows that the table shows at once; a browser takes seconds to lay out ten times as many


class PageError(RuntimeError):
    """A folder that cannot be written, or that holds other files than a report. The message is one line."""


def _inside_script(data: Any) -> Markup:
    """Return JSON that cannot end its script element."""
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


def _correlations(studies: Sequence[Study]) -> list[tuple[str, ...]]:
    return [
        (c.cell.target, c.cell.path, show.size(c.cell.length), c.cpu, str(c.variants), f"{c.rho:.2f}")
        for study in studies
        for c in study.correlations
    ]


def _label(value: variants.Value, column: str) -> str:
    return variants.text({column: value}, column)


def render(studies: Sequence[Study]) -> str:
    """Return the page."""
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"text": variants.text, "label": _label, "counted": counted}
    rows = variants.rows(studies)
    return environment.get_template(_TEMPLATE).render(
        names=", ".join(dict.fromkeys(study.microarchitecture for study in studies)),
        studies=studies,
        columns=variants.COLUMNS,
        rows=rows,
        limit=_LIMIT,
        choices=variants.choices(rows),
        correlations=_correlations(studies),
        document=_inside_script(plots.document(rows)) if rows else None,
        library=Markup(plots.library()),
        script=Markup(_SCRIPT.read_text(encoding="utf-8")),
    )


def check(folder: Path) -> None:
    """Raise PageError if the path exists and is not a report."""
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir() or folder.is_symlink():
        raise PageError(f"{folder}: not a folder")
    names = {p.name for p in folder.iterdir()}
    strangers = sorted(n for n in names if n != PAGE)
    if strangers:
        raise PageError(
            f"{folder}: holds '{strangers[0]}'; allowed: a new folder, an empty one, or an old report"
        )
    if names and (
        PAGE not in names or _MARK not in (folder / PAGE).read_text(encoding="utf-8", errors="replace")
    ):
        raise PageError(
            f"{folder}: not a report of gfsmith; allowed: a new folder, an empty one, or an old report"
        )


def write(studies: Sequence[Study], folder: Path) -> Path:
    """Write the report to `folder`, replacing an earlier report; return its page.

    The page is written next to the folder, which is then renamed into place. On PageError the folder is
    unchanged.
    """
    check(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as room:
            fresh, old = Path(room) / "new", Path(room) / "old"
            fresh.mkdir()
            (fresh / PAGE).write_text(render(studies), encoding="utf-8", newline="\n")
            if folder.exists():
                folder.rename(old)
            fresh.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise PageError(f"{error.filename or folder}: {error.strerror}") from None
    return folder / PAGE
