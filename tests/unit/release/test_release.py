"""Parts of `make release` that need no build: notes, sums, archives, flags of the crate, refusals."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gfsmith.build.places import CONFIGURATION, cache_of
from release import archives, checkout, crate, notes, sums
from release.places import Places, ReleaseError
from tests.support.paths import ROOT

TEXT = "# Changelog\n\n## 3.2.0 (unreleased)\n\n- New.\n\n## 3.1.0\n\n### Added\n\n- Old.\n\n## 3.0.1\n"


def test_notes_are_the_part_of_one_version() -> None:
    assert notes.notes(TEXT, "3.2.0") == "# gfsmith 3.2.0\n\n- New.\n"
    assert notes.notes(TEXT, "3.1.0") == "# gfsmith 3.1.0\n\n### Added\n\n- Old.\n"


@pytest.mark.parametrize("version", ["3.1", "1.0.0", "3.0.1"])
def test_a_version_without_entries_is_refused(version: str) -> None:
    with pytest.raises(
        ReleaseError, match=f"no entries for version {version}; its versions: 3.2.0, 3.1.0, 3.0.1"
    ):
        notes.notes(TEXT, version)


@pytest.mark.needs("release", "wasm")
def test_the_command_refuses_a_version_without_entries_in_one_line(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "generator" / "gfsmith").mkdir(parents=True)
    (root / "generator" / "gfsmith" / "__init__.py").write_text('__version__ = "9.9.9"\n')
    (root / "CHANGELOG.md").write_text(TEXT)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").touch()
    done = _command(root, tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "release: CHANGELOG.md has no entries for version 9.9.9; its versions: 3.2.0, 3.1.0, 3.0.1\n"
    )
    assert (tmp_path / "out" / "kept").exists()


@pytest.mark.needs("release", "wasm")
def test_the_command_refuses_uncommitted_changes(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "generator" / "gfsmith").mkdir(parents=True)
    (root / "generator" / "gfsmith" / "__init__.py").write_text('__version__ = "3.1.0"\n')
    (root / "CHANGELOG.md").write_text(TEXT)
    for words in (("init", "-q"), ("add", ".")):
        subprocess.run(("git", *words), cwd=root, check=True)
    done = _command(root, tmp_path)
    expected = "release: the checkout has uncommitted changes; a release contains committed files only\n"
    assert (done.returncode, done.stderr) == (1, expected)


def test_the_clone_has_the_committed_files_and_the_cache_of_the_checkout(tmp_path: Path) -> None:
    """`gfsmith gen` finds proofs next to the configuration only."""
    root = tmp_path / "root"
    (root / ".gfsmith-cache").mkdir(parents=True)
    (root / ".gfsmith-cache" / "proofs.json").write_text("{}")
    (root / CONFIGURATION).touch()
    own = ("-c", "user.name=x", "-c", "user.email=x")
    for words in (("init", "-q"), ("add", str(CONFIGURATION)), (*own, "commit", "-q", "-m", "x")):
        subprocess.run(("git", *words), cwd=root, check=True)
    places = Places(root, tmp_path / "work", tmp_path / "out", "1.0")
    checkout.clone(places)
    assert (places.source / CONFIGURATION).exists()
    assert (cache_of(places.source / CONFIGURATION) / "proofs.json").read_text() == "{}"


def _command(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "release", root, "--out", folder / "out", "--work", folder / "work")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "packaging")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_sums_are_those_of_sha256sum_and_notice_changes(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(name.encode() * 100)
    sums.write(tmp_path)
    assert sums.differences(tmp_path) == []
    check = ("sha256sum", "--check", "--quiet", sums.NAME)
    assert subprocess.run(check, cwd=tmp_path).returncode == 0
    changed = bytearray((tmp_path / "a").read_bytes())
    changed[50] ^= 1
    (tmp_path / "a").write_bytes(changed)
    (tmp_path / "b").unlink()
    (tmp_path / "d").touch()
    assert sums.differences(tmp_path) == [
        "a: the SHA-256 differs",
        "b: the file is missing",
        "d: the file is not listed",
    ]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True).returncode != 0


def test_an_archive_depends_on_names_contents_and_modes_only(tmp_path: Path) -> None:
    written = []
    for name, time in (("one", 1_000_000_000), ("two", 1_500_000_000)):
        folder = tmp_path / name / "top"
        folder.mkdir(parents=True)
        for inner in ("a", "b")[:: 1 if name == "one" else -1]:
            (folder / inner).write_text(inner)
            os.utime(folder / inner, (time, time))
        (folder / "a").chmod(0o700)
        archives.pack(folder, tmp_path / f"{name}.tar.gz")
        written.append((tmp_path / f"{name}.tar.gz").read_bytes())
    assert written[0] == written[1]
    (folder / "a").chmod(0o600)
    archives.pack(folder, tmp_path / "three.tar.gz")
    assert (tmp_path / "three.tar.gz").read_bytes() != written[0]
    shutil.unpack_archive(tmp_path / "one.tar.gz", tmp_path / "unpacked")
    assert (tmp_path / "unpacked" / "top" / "a").read_text() == "a"


def test_the_crate_is_exported_as_its_page_states() -> None:
    """docs/rust.md states the flags of build.rs."""
    own = ROOT / "bindings" / "rust" / "gfsmith"
    flags = crate.choice((own / "build.rs").read_text(), (own / "Cargo.toml").read_text())
    page = (ROOT / "docs" / "rust.md").read_text(encoding="utf-8")
    stated = re.search(r"gfsmith export (.*?) -o vendor", page.replace("\\\n", " "))
    assert stated is not None and stated[1].split() == flags
    with pytest.raises(ReleaseError, match="must state CODE"):
        crate.choice("", "")
