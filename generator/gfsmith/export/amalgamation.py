"""One header and one source: the public headers in one, and runtime, lists and kernels in the other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from gfsmith import __version__, output
from gfsmith.emit import runtime
from gfsmith.emit.template import render
from gfsmith.export.assembly import statement
from gfsmith.export.documents import LICENSE
from gfsmith.export.inline import Inliner
from gfsmith.export.names import LIBRARY, Names
from gfsmith.export.parts import COORDINATOR, SOURCES, has_coordinator
from gfsmith.export.parts import runtime as parts_of_runtime
from gfsmith.files import share
from gfsmith.generate import Kernel
from gfsmith.isa import Arch

#: The public headers, in the order in which they need each other.
HEADERS = ("gfsmith.h", "gfsmith_plan.h", "gfsmith_raid.h", "gfsmith_algebra.h", COORDINATOR)
INLINE_ASM = "gfsmith_inline_asm.h"


def amalgamate(kernels: Sequence[Kernel], files: Mapping[str, str], names: Names) -> dict[str, str]:
    """path -> text of the header and the source, and the proofs. `files` are those of the build."""
    own = parts_of_runtime(kernels)
    texts = {Path(path).name: text for path, text in {**files, **own}.items()}
    texts[INLINE_ASM] = render(f"{INLINE_ASM}.j2")
    title = f"{LIBRARY} {__version__}"
    return {
        f"{names.library}.h": names.text(_header(texts, title)),
        f"{names.library}.c": names.text(_source(kernels, texts, list(own), title)),
        output.PROOFS: names.text(files[output.PROOFS]),
    }


def _header(texts: Mapping[str, str], title: str) -> str:
    inliner = Inliner(texts, frozenset())
    includes = "".join(f'#include "{name}"\n' for name in HEADERS if name in texts)
    return render("amalgamation.h.j2", title=title, license=_license()) + inliner.text(includes)


def _license() -> list[str]:
    """Whoever copies one of the files alone has it with its license."""
    return share(LICENSE).read_text(encoding="utf-8").splitlines()


def _source(kernels: Sequence[Kernel], texts: Mapping[str, str], own: Sequence[str], title: str) -> str:
    """The runtime first: what it includes, such as the prototypes of kernels, is then there for them.

    own: the runtime's files, with their folder.

    Assembly is last: behind it a compiler has nothing to write that would go into a section it left.
    """
    inliner = Inliner(texts, frozenset(HEADERS))
    adaptive = has_coordinator(kernels)
    parts = [render("amalgamation.c.j2", title=title, license=_license(), adaptive=adaptive)]
    for path in map(Path, own):
        if path.parent.name in SOURCES and path.suffix == ".c":
            parts.append(f"\n/* ==== {path.name} ==== */\n\n" + inliner.text(texts[path.name]))
    for kernel in kernels:
        if not kernel.spec.machine_code:
            parts.append("\n" + inliner.text(kernel.text))
    machine = [kernel for kernel in kernels if kernel.spec.machine_code]
    if machine:
        parts.append(f"\n#if {runtime.GUARDS[Arch.X86_64]}\n" + inliner.text(f'#include "{INLINE_ASM}"\n'))
        for isa, group in itertools.groupby(machine, key=lambda kernel: kernel.spec.isa.name):
            parts.append(f"\n/* ==== {isa} ==== */\n#if GFSMITH_BUILDS({isa})\n")
            parts += [statement(kernel.text) for kernel in group]
            parts.append("#endif\n")
        parts.append("\n#endif\n")
    return "".join(parts)
