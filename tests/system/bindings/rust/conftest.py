"""Fixtures: the example in a clean copy, alone and with a second copy of the crate."""

from __future__ import annotations

import re
import subprocess

import pytest

from bench.build_lock import locked
from tests.support.configurations import known_proofs
from tests.system.bindings.rust.support import (
    BUILD,
    CACHE,
    CHECKSUMS,
    TOOLS,
    Project,
    environment,
    lay,
    sources,
)

#: A second crate with another name, prefix and configuration. Its sources are vendored.
PREFIX = "zeta"
CHOICE = ("--code", "backblaze", "--k", "4", "--m", "2", "--isa", "sse", "--prefix", PREFIX)

APP = """
[package]
name = "app"
version = "0.0.0"
edition = "2021"

[dependencies]
gfsmith = { path = "../gfsmith" }
zeta = { path = "../zeta" }
"""
MAIN = """
fn main() {
    let data = [b"four", b"data", b"byte", b"rows"];
    let (mut one, mut two) = ([[0; 4]; 2], [[0; 4]; 2]);
    gfsmith::Codec::new(gfsmith::Code::Backblaze, 4, 2).unwrap().encode(&data, &mut one).unwrap();
    zeta::Codec::new(zeta::Code::Backblaze, 4, 2).unwrap().encode(&data, &mut two).unwrap();
    gfsmith::set_isa("scalar").unwrap();
    println!("{} {} {}", one == two, gfsmith::isa(), zeta::isa());
}
"""


@pytest.fixture(scope="session")
def project() -> Project:
    """The workspace of the example in a separate folder."""
    with locked(BUILD / "lock"):
        known_proofs(CACHE)
        project = Project(BUILD / "clean")
        lay(project.folder, sources())
        project.cargo("generate-lockfile", "--quiet")
        assert project.checksums() == CHECKSUMS
        return project


@pytest.fixture(scope="session")
def pair() -> Project:
    """A program that uses two copies of the crate: one generated, one vendored under another prefix."""
    with locked(BUILD / "lock"):
        known_proofs(CACHE)
        vendor = BUILD / "vendor"
        command = (TOOLS / "gfsmith", "export", *CHOICE, "-o", vendor)
        subprocess.run(command, cwd=BUILD, env=environment(), check=True, capture_output=True)
        crate = {name: text for name, text in sources().items() if name.startswith("gfsmith/")}
        renamed = {name.replace("gfsmith/", f"{PREFIX}/", 1): text for name, text in crate.items()}
        manifest = crate["gfsmith/Cargo.toml"].decode()
        manifest = manifest.replace('name = "gfsmith"', f'name = "{PREFIX}"')
        manifest = manifest.replace('links = "gfrust"', f'links = "{PREFIX}"')
        renamed[f"{PREFIX}/Cargo.toml"] = manifest.encode()
        vendored = {f"{PREFIX}/vendor/{path.name}": path.read_bytes() for path in vendor.iterdir()}
        members = re.compile(r"members = .*\ndefault-members = .*")
        workspace = members.sub(f'members = ["app", "gfsmith", "{PREFIX}"]', sources()["Cargo.toml"].decode())
        own = {"Cargo.toml": workspace, "app/Cargo.toml": APP, "app/src/main.rs": MAIN}
        project = Project(BUILD / "pair")
        lay(project.folder, crate | renamed | vendored | {name: text.encode() for name, text in own.items()})
        return project
