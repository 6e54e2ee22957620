"""`gfsmith tune --report DIR`: the pictures of a study as PNGs, and all on one self-contained HTML page."""

from __future__ import annotations

import base64
import io
import shutil
import tempfile
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gfsmith.emit.template import TEMPLATES
from gfsmith.explore.tune.canvas import Picture
from gfsmith.explore.tune.picture import pictures, settings
from gfsmith.explore.tune.result import Cell, Interval, Study

PAGE = "index.html"
_TEMPLATE = "study.html.j2"
_MARK = '<meta name="generator" content="gfsmith tune">'  #: identifies a report, which may be replaced


class PageError(RuntimeError):
    """A folder that cannot be written, or that holds other files than a report. The message is one line."""


def _png(picture: Picture) -> bytes:
    """Return the PNG, without date and version, so that the same study gives the same bytes."""
    data = io.BytesIO()
    picture.figure.savefig(data, format="png", metadata={"Software": None})
    return data.getvalue()


def _interval(found: Interval) -> str:
    return f"{found.median:.3g} ({found.low:.3g} to {found.high:.3g})"


def _where(cell: Cell) -> tuple[str, ...]:
    return cell.target, cell.path, str(cell.length)


def _winners(study: Study) -> list[tuple[str, ...]]:
    known = {(m.cell, m.symbol): settings(m) for m in study.measurements}
    return [
        (*_where(w.cell), known.get((w.cell, w.symbol), w.symbol), "yes" if w.changed else "no",
         _interval(w.speed), _interval(w.rate), str(len(w.tied)))
        for w in study.winners
    ]  # fmt: skip


def render(study: Study, drawn: list[tuple[Picture, bytes]]) -> str:
    """Return the page, which contains the pictures."""
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    shown = [(p.title, p.text, base64.b64encode(data).decode()) for p, data in drawn]
    return environment.get_template(_TEMPLATE).render(
        study=study,
        pictures=shown,
        winners=_winners(study),
        correlations=[(*_where(c.cell), c.cpu, str(c.variants), f"{c.rho:.2f}") for c in study.correlations],
        tried=len({(m.cell, m.symbols) for m in study.measurements}),
    )


def check(folder: Path) -> None:
    """Raise PageError if the path exists and is not a report."""
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir() or folder.is_symlink():
        raise PageError(f"{folder}: not a folder")
    names = {p.name for p in folder.iterdir()}
    strangers = sorted(n for n in names if n != PAGE and not n.endswith(".png"))
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


def write(study: Study, folder: Path) -> list[Path]:
    """Write the report to `folder`, replacing an earlier report; return its files.

    The files are written next to the folder, which is then renamed into place. On PageError the folder is
    unchanged.
    """
    check(folder)
    try:
        drawn = [(picture, _png(picture)) for picture in pictures(study)]
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as room:
            fresh, old = Path(room) / "new", Path(room) / "old"
            fresh.mkdir()
            for picture, data in drawn:
                (fresh / picture.file).write_bytes(data)
            (fresh / PAGE).write_text(render(study, drawn), encoding="utf-8", newline="\n")
            if folder.exists():
                folder.rename(old)
            fresh.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise PageError(f"{error.filename or folder}: {error.strerror}") from None
    return [folder / PAGE, *(folder / picture.file for picture, _ in drawn)]
