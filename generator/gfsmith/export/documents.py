"""Documents in exported sources: README.md, the license, SOUNDNESS.md and pages about the library."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Sequence

from gfsmith import __version__
from gfsmith.build.generate import Kernel
from gfsmith.emit.files import share
from gfsmith.emit.template import render
from gfsmith.export.names import Names

LICENSE = "LICENSE"
SOUNDNESS = "SOUNDNESS.md"
#: Pages of docs/ about the C library.
PAGES = (
    "sources.md",
    "contract.md",
    "codes.md",
    "repair.md",
    "threads.md",
    "raid.md",
    "packets.md",
    "algebra.md",
    "checksums.md",
    "wide.md",
    "cross.md",
    "hardening.md",
    "how-a-proof-is-read.md",
)


#: An inline link or image of Markdown: "!" of an image, text, target.
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def documents(form: str, kernels: Sequence[Kernel], names: Names, others: Collection[str]) -> dict[str, str]:
    """Return path -> text of the documents. form: "tree" or "amalgamation". others: paths of the other files.

    Links to files of the repository that the export does not have become plain text."""
    readme = render(
        "export_readme.md.j2",
        form=form,
        library=names.library,
        version=__version__,
        kernels=len(kernels),
        isas=list(dict.fromkeys(kernel.spec.isa.name for kernel in kernels)),
        pages=PAGES,
    )
    written = {"README.md": names.text(readme)}
    for name in (LICENSE, SOUNDNESS):
        written[name] = share(name).read_text(encoding="utf-8")
    for page in PAGES:
        written[f"docs/{page}"] = names.text((share("docs") / page).read_text(encoding="utf-8"))
    present = written.keys() | set(others)
    return {path: _with_links_to(present, path, text) for path, text in written.items()}


def _with_links_to(present: Collection[str], path: str, text: str) -> str:
    """Return a document without its links to absent files and folders."""

    def kept(link: re.Match[str]) -> str:
        target = link[3].partition("#")[0]
        if not target or ":" in target:
            return link[0]
        full = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        found = any(name == full or name.startswith(f"{full}/") for name in present)
        return link[0] if found else link[2]

    return _LINK.sub(kept, text)
