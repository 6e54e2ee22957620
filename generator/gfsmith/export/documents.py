"""What whoever unpacks the sources reads: README.md, license, what proofs mean, pages about the library."""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith import __version__
from gfsmith.emit.template import render
from gfsmith.export.names import Names
from gfsmith.files import share
from gfsmith.generate import Kernel

LICENSE = "LICENSE"
SOUNDNESS = "SOUNDNESS.md"
#: Pages of docs/ that are about the library in C.
PAGES = (
    "sources.md",
    "contract.md",
    "codes.md",
    "repair.md",
    "raid.md",
    "packets.md",
    "algebra.md",
    "cross.md",
    "hardening.md",
    "how-a-proof-is-read.md",
)


def documents(form: str, kernels: Sequence[Kernel], names: Names) -> dict[str, str]:
    """path -> text. form: "tree" or "amalgamation"."""
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
