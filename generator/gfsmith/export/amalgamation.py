"""The amalgamation: one header with all public headers, and one source with runtime, lists and kernels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from gfsmith import __version__
from gfsmith.build import output
from gfsmith.build.generate import Kernel
from gfsmith.emit.files import share
from gfsmith.emit.lists import has_coordinator
from gfsmith.emit.template import render
from gfsmith.export.assembly import statement
from gfsmith.export.documents import LICENSE
from gfsmith.export.inline import Inliner
from gfsmith.export.names import LIBRARY, Names
from gfsmith.export.parts import CHECKER, COORDINATOR, checker
from gfsmith.export.parts import runtime as parts_of_runtime
from gfsmith.kernel import architecture
from gfsmith.kernel.architecture import Arch

#: The public headers, in the order of their dependencies.
HEADERS = (
    *("gfsmith.h", "gfsmith_plan.h", "gfsmith_parallel.h", "gfsmith_raid.h", "gfsmith_algebra.h"),
    *("gfsmith_checksum.h", "gfsmith_wide.h"),
    COORDINATOR,
)
INLINE_ASM = "gfsmith_inline_asm.h"


def amalgamate(kernels: Sequence[Kernel], files: Mapping[str, str], names: Names) -> dict[str, str]:
    """Return path -> text of the header, source, proofs and checker. files: those of the build."""
    own = parts_of_runtime(kernels)
    texts = {Path(path).name: text for path, text in {**files, **own}.items()}
    texts[INLINE_ASM] = render(f"{INLINE_ASM}.j2")
    title = f"{LIBRARY} {__version__}"
    return {
        f"{names.library}.h": names.text(_header(texts, title)),
        f"{names.library}.c": names.text(_source(kernels, texts, list(own), title)),
        output.PROOFS: names.text(files[output.PROOFS]),
        Path(CHECKER).name: checker(),
    }


def _header(texts: Mapping[str, str], title: str) -> str:
    inliner = Inliner(texts, frozenset())
    includes = "".join(f'#include "{name}"\n' for name in HEADERS if name in texts)
    return render("amalgamation.h.j2", title=title, license=_license()) + inliner.text(includes)


def _license() -> list[str]:
    """Return the license, since each of the files may be copied alone."""
    return share(LICENSE).read_text(encoding="utf-8").splitlines()


def _source(kernels: Sequence[Kernel], texts: Mapping[str, str], own: Sequence[str], title: str) -> str:
    """Return the source. The runtime comes first, because its includes, such as the prototypes of kernels,
    serve the kernels too.

    own: paths of the runtime's files.

    Assembly comes last, because it changes the section, and the compiler must not emit code after that.
    """
    inliner = Inliner(texts, frozenset(HEADERS))
    adaptive = has_coordinator(kernel.spec for kernel in kernels)
    parts = [render("amalgamation.c.j2", title=title, license=_license(), adaptive=adaptive)]
    for path in map(Path, own):
        if path.suffix == ".c":
            parts.append(f"\n/* ==== {path.name} ==== */\n\n" + inliner.text(texts[path.name]))
    for kernel in kernels:
        if not kernel.spec.machine_code:
            parts.append("\n" + inliner.text(kernel.text))
    machine = [kernel for kernel in kernels if kernel.spec.machine_code]
    if machine:
        parts.append(
            f"\n#if {architecture.condition(Arch.X86_64)}\n" + inliner.text(f'#include "{INLINE_ASM}"\n')
        )
        for isa, group in itertools.groupby(machine, key=lambda kernel: kernel.spec.isa.name):
            parts.append(f"\n/* ==== {isa} ==== */\n#if GFSMITH_BUILDS({isa})\n")
            parts += [statement(kernel.text) for kernel in group]
            parts.append("#endif\n")
        parts.append("\n#endif\n")
    return "".join(parts)
