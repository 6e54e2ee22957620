"""A folder of sources as this checkout has it, without the generator: runtime/, gen_out/, build files."""

from __future__ import annotations

from collections.abc import Mapping

from gfsmith.export.names import Names
from gfsmith.files import share

#: Files for build systems: in them the library's bare name changes too.
BUILD_FILES = ("CMakeLists.txt",)
GENERATED = "gen_out"


def tree(files: Mapping[str, str], names: Names) -> dict[str, str]:
    """path -> text of the folder. `files` are those of the build."""
    found = {f"{GENERATED}/{path}": text for path, text in files.items()}
    for path in sorted(share("runtime").glob("*/*.[hc]")):
        found[f"runtime/{path.parent.name}/{path.name}"] = path.read_text(encoding="utf-8")
    written = {names.text(path): names.text(text) for path, text in found.items()}
    for name in BUILD_FILES:
        written[name] = names.build_text(share(name).read_text(encoding="utf-8"))
    return written
