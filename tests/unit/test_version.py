"""One version number: all files that state it agree (docs/versions.md)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from gfsmith import __version__

ROOT = Path(__file__).resolve().parents[2]


def _stated(path: str, pattern: str) -> list[str]:
    return re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_place_states_the_same_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__
    assert _stated("CMakeLists.txt", r"^project\(gfsmith VERSION ([\d.]+)") == [__version__]
    assert _stated("bindings/rust/gfsmith/Cargo.toml", r'^version = "([\d.]+)"') == [__version__]
    assert _stated("bindings/wasm/package.json", r'^  "version": "([\d.]+)"') == [__version__]


def test_the_shared_object_is_versioned_alike() -> None:
    (made,) = _stated("packaging/make/library.mk", r"^SOVERSION := (\d+)")
    assert f"libgfsmith.so.{made}`" in (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    assert _stated("CMakeLists.txt", r"SOVERSION (\d+)") == [made]
    assert _stated("runtime/compose/compose.cmake", r"SOVERSION (\d+)") == [made]
    assert _stated("packaging/meson/meson.build", r"^  soversion: '(\d+)'") == [made]
