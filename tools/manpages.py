"""Man pages of the command line, from the commands themselves: python tools/manpages.py FOLDER.

click-man lays them out. What it leaves open is settled here: NAME has the whole first sentence, there is no
date, and the main page ends with exit statuses and files.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click_man.core import generate_man_page

from gfsmith import __version__
from gfsmith.cli import main

NO_DATE = " "  #: click-man takes today's if there is none at all

ENDING = """.SH EXIT STATUS
.TP
0
Done; what was asked about holds.
.TP
1
It does not hold: refuted, not MDS, not what the generator makes.
.TP
2
Bad input: one line on stderr names what is wrong and what is allowed.
.TP
3
Unsupported: the prover cannot tell.
.TP
130
Interrupted; nothing was written.
.SH FILES
.TP
gfsmith.toml
The configuration: what is generated.
.TP
gen_out/PROOFS.json
What was proved of each kernel, and how.
.TP
\\&.gfsmith\\-cache/
Kernels and verdicts kept by content, beside the configuration; may be removed.
"""


def _first_sentence(text: str) -> str:
    """Of a command's help, on one line and without its full stop."""
    words = " ".join(text.split("\n\n")[0].split())
    return re.split(r"\.(?: |$)", words, maxsplit=1)[0]


def _page(context: click.Context, version: str) -> str:
    """Raises ValueError for a help text in which troff would take a line for a command of its own."""
    command = context.command
    assert command.help is not None
    for line in command.help.splitlines():
        if line.lstrip().startswith((".", "'")):
            raise ValueError(f"{context.command_path}: troff cannot have a line that begins as '{line}'")
    text = generate_man_page(context, version=version, date=NO_DATE)
    assert isinstance(text, str)
    # A paragraph begins with the heading already.
    return text.replace(".SH COMMANDS\n.PP\n", ".SH COMMANDS\n")


def pages(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """File name and text of a command's page and those of its commands."""
    context = click.Context(command, info_name=name, parent=parent)
    inner = dict(command.commands) if isinstance(command, click.Group) else {}
    for each in (command, *inner.values()):
        each.short_help = _first_sentence(each.help or "")
    yield f"{context.command_path.replace(' ', '-')}.1", _page(context, __version__)
    for word, each in inner.items():
        yield from pages(each, word, context)


def write(folder: Path) -> None:
    """All pages into a folder, which then has no others."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.1"):
        stale.unlink()
    for name, text in pages(main, "gfsmith"):
        (folder / name).write_text(text + (ENDING if name == "gfsmith.1" else ""), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: manpages.py FOLDER")
    write(Path(sys.argv[1]))
