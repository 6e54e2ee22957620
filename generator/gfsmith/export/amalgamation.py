"""One header and one source: the public headers in one, and runtime, lists and kernels in the other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from gfsmith import __version__
from gfsmith.emit import runtime
from gfsmith.emit.template import render
from gfsmith.export.assembly import statement
from gfsmith.export.inline import Inliner
from gfsmith.export.names import LIBRARY, Names
from gfsmith.files import share
from gfsmith.generate import Kernel
from gfsmith.isa import Arch

#: The public headers, in the order in which they need each other.
HEADERS = ("gfsmith.h", "gfsmith_plan.h", "gfsmith_raid.h", "gfsmith_algebra.h")
INLINE_ASM = "gfsmith_inline_asm.h"


def amalgamate(kernels: Sequence[Kernel], files: Mapping[str, str], names: Names) -> dict[str, str]:
    """path -> text of the header and the source. `files` are those of the build."""
    sources = share("runtime")
    texts = {Path(path).name: text for path, text in files.items()}
    texts |= {path.name: path.read_text(encoding="utf-8") for path in sorted(sources.glob("*/*.[hc]"))}
    texts[INLINE_ASM] = render(f"{INLINE_ASM}.j2")
    title = f"{LIBRARY} {__version__}"
    return {
        f"{names.library}.h": names.text(_header(texts, title)),
        f"{names.library}.c": names.text(_source(kernels, texts, sources, title)),
    }


def _header(texts: Mapping[str, str], title: str) -> str:
    inliner = Inliner(texts, frozenset())
    includes = "".join(f'#include "{name}"\n' for name in HEADERS)
    banner = f"/* {title}: all public headers in one. Made by `gfsmith export`. Do not edit. */\n"
    return banner + inliner.text(includes)


def _source(kernels: Sequence[Kernel], texts: Mapping[str, str], sources: Path, title: str) -> str:
    """The runtime first: what it includes, such as the prototypes of kernels, is then there for them."""
    inliner = Inliner(texts, frozenset(HEADERS))
    parts = [render("amalgamation.c.j2", title=title)]
    for path in sorted(sources.glob("src/*.c")):
        parts.append(f"\n/* ==== {path.name} ==== */\n\n" + inliner.text(texts[path.name]))
    machine = [kernel for kernel in kernels if kernel.spec.machine_code]
    if machine:
        parts.append(f"\n#if {runtime.GUARDS[Arch.X86_64]}\n" + inliner.text(f'#include "{INLINE_ASM}"\n'))
        for isa, group in itertools.groupby(machine, key=lambda kernel: kernel.spec.isa.name):
            parts.append(f"\n/* ==== {isa} ==== */\n#if GFSMITH_BUILDS({isa})\n")
            parts += [statement(kernel.text) for kernel in group]
            parts.append("#endif\n")
        parts.append("\n#endif\n")
    for kernel in kernels:
        if not kernel.spec.machine_code:
            parts.append("\n" + inliner.text(kernel.text))
    return "".join(parts)
