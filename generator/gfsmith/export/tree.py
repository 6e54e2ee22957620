"""A folder of sources as this checkout has it, without the generator: runtime/, gen_out/, build files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gfsmith.emit.template import render
from gfsmith.export.names import Names
from gfsmith.export.parts import SOURCES, has_coordinator, runtime
from gfsmith.files import share
from gfsmith.generate import Kernel

#: Files for build systems, and where they are here: in both the library's bare name changes too.
BUILD_FILES = {
    "CMakeLists.txt": "CMakeLists.txt",
    "cmake/gfsmith-config.cmake": "cmake/gfsmith-config.cmake",
    "Makefile": "make/tree.mk",
    "make/library.mk": "make/library.mk",
    "make/gfsmith.pc.in": "make/gfsmith.pc.in",
    "meson.build": "meson/meson.build",
}
#: What makes other libraries has nothing to do with the names of this one: only the default tree has it.
GENERATOR_FILES = ("cmake/gfsmith-generate.cmake",)
GENERATED = "gen_out"


def tree(kernels: Sequence[Kernel], files: Mapping[str, str], names: Names) -> dict[str, str]:
    """path -> text of the folder. `files` are those of the build."""
    found = {f"{GENERATED}/{path}": text for path, text in files.items()}
    found |= {f"runtime/{path}": text for path, text in runtime(kernels).items()}
    written = {names.text(path): names.text(text) for path, text in found.items()}
    written[f"{GENERATED}/meson.build"] = _meson(kernels, written)
    for name, source in BUILD_FILES.items():
        written[names.build_text(name)] = names.build_text(share(source).read_text(encoding="utf-8"))
    for name in (*GENERATOR_FILES, *_isal()) if names.is_default else ():
        written[name] = share(name).read_text(encoding="utf-8")
    return written


def _isal() -> list[str]:
    """The drop-in for ISA-L, which has ISA-L's names whatever the prefix."""
    runtime = share("runtime")
    files = (path for path in (runtime / "isal").rglob("*") if path.is_file())
    return sorted(path.relative_to(runtime.parent).as_posix() for path in files)


def _meson(kernels: Sequence[Kernel], written: Mapping[str, str]) -> str:
    """The sources for Meson, which finds none by itself: by architecture, and the runtime's."""
    machines: dict[str, list[str]] = {}
    for kernel in kernels:
        machines.setdefault(kernel.spec.isa.arch.value, []).append(kernel.path)
    folders = tuple(f"runtime/{folder}/" for folder in SOURCES)
    sources = [path for path in written if path.startswith(folders) and path.endswith(".c")]
    return render("sources.meson.j2", machines=machines, runtime=sources, adaptive=has_coordinator(kernels))
