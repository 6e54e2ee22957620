"""Fixtures: proofs that all tests share, and an exported tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.configurations import known_proofs
from tests.support.folders import once
from tests.system.builds.support import EXAMPLES, SMALL, TREE, Place


def _prove(folder: Path) -> None:
    """Generate the kernels of the examples once, so that two tests do not prove them at the same time."""
    known_proofs(folder)
    place = Place(folder)
    avx2, scalar = ("--isa", "avx2"), ("--isa", "scalar")
    cauchy = ("--code", "cauchy", "--k", "10", "--m", "4")
    vandermonde = ("--code", "vandermonde", "--k", "6", "--m", "3", "--prefix", "archive")
    config = EXAMPLES / "cmake" / "archive.toml"
    place.call("gfsmith", "export", *cauchy, *avx2, *scalar, "-o", folder / "shards", cwd=folder)
    place.call("gfsmith", "export", *vandermonde, *avx2, "-c", config, "-o", folder / "archive")


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(once(tmp_path_factory, "proofs", _prove))


@pytest.fixture(scope="session")
def archive(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A packed tree with few kernels."""

    def export(folder: Path) -> None:
        (folder / "small.toml").write_text(SMALL)
        target = folder / f"{TREE}.tar.xz"
        place.call("gfsmith", "export", "--form", "tree", "-c", folder / "small.toml", "-o", target)

    return once(tmp_path_factory, "tree", export) / f"{TREE}.tar.xz"
