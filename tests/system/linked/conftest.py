"""Fixtures: the small build as a folder of `gfsmith gen`, as a tree and as an amalgamation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.configurations import known_proofs
from tests.support.folders import once
from tests.system.linked.support import CONFIG, call


def _make(folder: Path) -> None:
    cache = folder / ".gfsmith-cache"
    known_proofs(cache)
    (folder / "gfsmith.toml").write_text(CONFIG)
    gfsmith = Path(sys.executable).parent / "gfsmith"
    call(gfsmith, "gen", "-c", folder / "gfsmith.toml", "-o", folder / "gen")
    for form in ("tree", "amalgamation"):
        export = (gfsmith, "export", "--form", form, "--cache", cache)
        call(*export, "-c", folder / "gfsmith.toml", "-o", folder / form)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with gen/, tree/ and amalgamation/. Tests change copies."""
    return once(tmp_path_factory, "linked", _make)


@pytest.fixture(scope="session")
def manifest(small: Path) -> Path:
    return small / "gen" / "MANIFEST.json"
