"""Documents in exported sources: README.md, the license, SOUNDNESS.md and pages about the library."""

from __future__ import annotations

from collections.abc import Sequence

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
    "cross.md",
    "hardening.md",
    "how-a-proof-is-read.md",
)


def documents(form: str, kernels: Sequence[Kernel], names: Names) -> dict[str, str]:
    """Return path -> text of the documents. form: "tree" or "amalgamation"."""
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
    return written
