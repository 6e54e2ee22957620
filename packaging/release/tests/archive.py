"""Packages of Debian's archive for any machine, in folders of their own: nothing is installed."""

from __future__ import annotations

import subprocess
from pathlib import Path


def unpack(architecture: str, packages: tuple[str, ...], folder: Path) -> Path:
    """Download packages for an architecture (Debian's name), and return the folder with their files."""
    state, root = folder / "apt", folder / "root"
    for name in ("lists", "archives"):
        (state / name / "partial").mkdir(parents=True)
    settings = (
        *(f"Dir::State::lists={state / 'lists'}", "Dir::State::status=/dev/null", f"Dir::Cache={state}"),
        *(f"APT::Architecture={architecture}", f"APT::Architectures={architecture}"),
        "APT::Sandbox::User=root",
    )
    apt = ("apt-get", "-qq", *(word for setting in settings for word in ("-o", setting)))
    subprocess.run((*apt, "update"), cwd=state, check=True)
    subprocess.run((*apt, "download", *packages), cwd=state, check=True)
    for package in state.glob("*.deb"):
        subprocess.run(("dpkg-deb", "--extract", package, root), check=True)
    return root
