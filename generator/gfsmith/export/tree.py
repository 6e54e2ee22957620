"""An exported folder of sources without the generator: runtime/, gen_out/ and build files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gfsmith.build.generate import Kernel
from gfsmith.emit.files import share
from gfsmith.emit.kernel_files import build_source
from gfsmith.emit.lists import has_coordinator
from gfsmith.emit.template import render
from gfsmith.export.names import Names
from gfsmith.export.parts import CHECKER, PARTS, checker, runtime

#: Files for build systems -> their paths in this repository. The library's bare name changes in both.
BUILD_FILES = {
    "CMakeLists.txt": "CMakeLists.txt",
    "packaging/cmake/gfsmith-config.cmake": "packaging/cmake/gfsmith-config.cmake",
    "Makefile": "packaging/make/tree.mk",
    "packaging/make/library.mk": "packaging/make/library.mk",
    "packaging/make/gfsmith.pc.in": "packaging/make/gfsmith.pc.in",
    "meson.build": "packaging/meson/meson.build",
}
#: Files that generate other libraries. They do not depend on this library's names, so only the default tree
#: has them.
GENERATOR_FILES = ("packaging/cmake/gfsmith-generate.cmake",)
#: Parts of the runtime that the default tree has as they are: the drop-ins for ISA-L and Jerasure, and
#: streams of shards.
SEPARATE = ("isal", "jerasure", "shards")
GENERATED = "gen_out"


def tree(kernels: Sequence[Kernel], files: Mapping[str, str], names: Names) -> dict[str, str]:
    """Return path -> text of the folder. files: those of the build."""
    found = {f"{GENERATED}/{path}": text for path, text in files.items()}
    found |= {f"runtime/{path}": text for path, text in runtime(kernels).items()}
    written = {names.text(path): names.text(text) for path, text in found.items()}
    written[CHECKER] = checker()
    written[f"{GENERATED}/meson.build"] = _meson(kernels, written)
    for name, source in BUILD_FILES.items():
        written[names.build_text(name)] = names.build_text(share(source).read_text(encoding="utf-8"))
    for name in (*GENERATOR_FILES, *_separate()) if names.is_default else ():
        written[name] = share(name).read_text(encoding="utf-8")
    return written


def _separate() -> list[str]:
    """Return the files of the libraries beside the core, which are not renamed."""
    runtime = share("runtime")
    files = (path for part in SEPARATE for path in (runtime / part).rglob("*") if path.is_file())
    return sorted(path.relative_to(runtime.parent).as_posix() for path in files)


def _meson(kernels: Sequence[Kernel], written: Mapping[str, str]) -> str:
    """Return the list of sources for Meson, which has no globbing: by architecture, and the runtime's."""
    machines: dict[str, dict[str, None]] = {}
    for kernel in kernels:
        machines.setdefault(kernel.spec.isa.arch.value, {})[build_source(kernel.spec)] = None
    folders = tuple(f"runtime/{part}/src/" for part in PARTS)
    sources = [path for path in written if path.startswith(folders) and path.endswith(".c")]
    return render(
        "sources.meson.j2",
        machines=machines,
        runtime=sources,
        adaptive=has_coordinator(kernel.spec for kernel in kernels),
    )
