"""Man pages of the command line, generated from the commands: python tools/manpages.py FOLDER.

click-man lays them out. This module changes three things: NAME has the whole first sentence, there is no
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
from gfsmith.cli.main import main

NO_DATE = " "  #: an empty date would make click-man insert the current one

ENDING = """.SH EXIT STATUS
.TP
0
Done; a checked property holds.
.TP
1
A checked property does not hold: refuted, not MDS, not the generator's output.
.TP
2
Bad input: one line on stderr gives the error and the allowed values.
.TP
3
Unsupported: the prover cannot decide.
.TP
130
Interrupted; nothing was written.
.SH FILES
.TP
gfsmith.toml
The configuration: the kernels to generate.
.TP
gen_out/PROOFS.json
The proofs of each kernel, and their methods.
.TP
\\&.gfsmith\\-cache/
Kernels and verdicts cached by content, next to the configuration; may be removed.
"""


def _first_sentence(text: str) -> str:
    """Return the first sentence of a command's help, on one line and without its full stop."""
    words = " ".join(text.split("\n\n")[0].split())
    return re.split(r"\.(?: |$)", words, maxsplit=1)[0]


def _page(context: click.Context, version: str) -> str:
    """Return the page of a command. Raises ValueError for a help text with a line that troff would take for a
    request."""
    command = context.command
    assert command.help is not None
    for line in command.help.splitlines():
        if line.lstrip().startswith((".", "'")):
            raise ValueError(f"{context.command_path}: troff cannot print a line that begins with '{line}'")
    text = generate_man_page(context, version=version, date=NO_DATE)
    assert isinstance(text, str)
    # The heading already begins a paragraph.
    return text.replace(".SH COMMANDS\n.PP\n", ".SH COMMANDS\n")


def pages(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Yield file name and text of the pages of a command and its subcommands."""
    context = click.Context(command, info_name=name, parent=parent)
    inner = dict(command.commands) if isinstance(command, click.Group) else {}
    for each in (command, *inner.values()):
        each.short_help = _first_sentence(each.help or "")
    yield f"{context.command_path.replace(' ', '-')}.1", _page(context, __version__)
    for word, each in inner.items():
        yield from pages(each, word, context)


def write(folder: Path) -> None:
    """Write all pages into a folder and remove other pages from it."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.1"):
        stale.unlink()
    for name, text in pages(main, "gfsmith"):
        (folder / name).write_text(text + (ENDING if name == "gfsmith.1" else ""), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: manpages.py FOLDER")
    write(Path(sys.argv[1]))
