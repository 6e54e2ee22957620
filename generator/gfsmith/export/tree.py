"""A folder of sources as this checkout has it, without the generator: runtime/, gen_out/, build files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gfsmith.export.names import Names

#: Files for build systems: in them the library's bare name changes too.
BUILD_FILES = ("CMakeLists.txt",)
DOCUMENTS = ("LICENSE", "SOUNDNESS.md")
GENERATED = "gen_out"


def tree(files: Mapping[str, str], home: Path, names: Names) -> dict[str, str]:
    """path -> text of the folder. `files` are those of the build, `home` is where gfsmith's own files lie."""
    found = {f"{GENERATED}/{path}": text for path, text in files.items()}
    for path in sorted((home / "runtime").glob("*/*.[hc]")):
        found[path.relative_to(home).as_posix()] = path.read_text(encoding="utf-8")
    written = {names.text(path): names.text(text) for path, text in found.items()}
    for name in BUILD_FILES:
        written[name] = names.build_text((home / name).read_text(encoding="utf-8"))
    for name in DOCUMENTS:
        written[name] = (home / name).read_text(encoding="utf-8")
    return written
