"""The README of an archive works literally, in the unpacked archive alone."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from gfsmith.cli import main
from tests.support.configurations import fewest_kernels
from tests.system.docs.pages import broken, fences
from tests.system.export.support import CACHE


def _unpacked(form: str, prefix: str, folder: Path) -> Path:
    """Return the folder of an unpacked archive."""
    (folder / "small.toml").write_text(fewest_kernels(["avx2", "scalar"]))
    archive = folder / "lib.tar.xz"
    words = ["export", "-c", folder / "small.toml", "--cache", CACHE, "-j", "1", "--prefix", prefix]
    words += ["--form", form, "-o", archive]
    result = CliRunner().invoke(main.main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    with tarfile.open(archive) as packed:
        packed.extractall(folder)
    return folder / "lib"


#: Form and prefix of an archive -> the marks of the test.
ARCHIVES = {
    ("amalgamation", "gfs"): (),
    ("amalgamation", "acme"): (pytest.mark.long,),
    ("tree", "gfs"): (pytest.mark.needs("build systems"), pytest.mark.long),
    ("tree", "acme"): (pytest.mark.needs("build systems"),),
}


@pytest.mark.parametrize(
    ("form", "prefix"), [pytest.param(*each, marks=marks) for each, marks in ARCHIVES.items()]
)
def test_the_readme_of_an_archive_works(form: str, prefix: str, tmp_path: Path) -> None:
    folder = _unpacked(form, prefix, tmp_path)
    pages = sorted(folder.rglob("*.md"))
    assert len(pages) > 5 and {page.name: wrong for page in pages if (wrong := broken(page))} == {}
    found = {fence.language: fence.text for fence in fences((folder / "README.md").read_text())}
    library = "gfsmith" if prefix == "gfs" else prefix
    assert set(found) == {"sh", "c"} and f"#include <{library}.h>" in found["c"]
    (folder / "program.c").write_text(found["c"])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", found["sh"]], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "success" in done.stdout.splitlines()
    assert f"{library}.o: " in done.stdout or form == "tree"
