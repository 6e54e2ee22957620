"""The clean clone of the committed tree, with its generated and proved kernels."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gfsmith.build.places import CONFIGURATION, cache_of
from release.places import Places, ReleaseError, run


def clone(places: Places) -> None:
    """Clone the committed tree into `places.source`. Raises ReleaseError for uncommitted changes."""
    if run("git", "status", "--porcelain", "--untracked-files=no", cwd=places.root):
        raise ReleaseError("the checkout has uncommitted changes; a release contains committed files only")
    run("git", "clone", "--quiet", "--no-hardlinks", places.root, places.source, cwd=places.root)
    if _cache(places).is_dir():
        (places.source / _cache(places).name).symlink_to(_cache(places))  # `gen` looks for it there


def generate(places: Places) -> None:
    """Generate and prove the default set in the clone. Raises ReleaseError if it is not the committed one."""
    gfsmith(places, "gen")
    manifest = "gen_out/MANIFEST.json"
    if run("git", "status", "--porcelain", "--", manifest, cwd=places.source):
        raise ReleaseError(f"the kernels differ from the committed {manifest}; commit it")


def gfsmith(places: Places, *arguments: str | Path, cwd: Path | None = None) -> str:
    """Run the clone's gfsmith, with the checkout's cache of proofs for every configuration."""
    known = {"GFSMITH_CACHE": str(_cache(places))} if _cache(places).is_dir() else {}
    command = (sys.executable, "-m", "gfsmith", *arguments)
    return run(*command, cwd=cwd or places.source, path=modules(places.source), variables=known)


def modules(source: Path) -> str:
    """Return the PYTHONPATH of a clone."""
    return f"{source / 'generator'}{os.pathsep}{source / 'bindings' / 'python'}"


def tracked(places: Places, folder: str) -> list[str]:
    """Return the paths of the tracked files in a folder of the clone, relative to that folder."""
    return run("git", "ls-files", "-z", cwd=places.source / folder).split("\0")[:-1]


def _cache(places: Places) -> Path:
    """Return the checkout's cache of proofs."""
    return cache_of(places.root / CONFIGURATION)
