"""Files for build systems: their paths, and rules of make."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from gfsmith.build.output import OutputError
from gfsmith.cli.main import main
from gfsmith.cli.where import PLACES
from gfsmith.export.depfile import depfile


@pytest.mark.parametrize("system", PLACES)
def test_where(system: str, root: Path) -> None:
    done = CliRunner().invoke(main, ["where", system])
    assert done.exit_code == 0
    found = Path(done.output.strip())
    assert found.is_relative_to(root)
    assert (
        found.is_file()
        if system == "make"
        else (found / "BUILD").exists() or list(found.glob("*-config.cmake"))
    )


def test_there_is_no_other_system() -> None:
    done = CliRunner().invoke(main, ["where", "scons"])
    assert done.exit_code == 2
    assert "'scons' is not one of 'bazel', 'cmake', 'make'" in done.output


def test_make_reads_the_rule(tmp_path: Path) -> None:
    """Names with characters that are special to make; a file deleted later is not an error."""
    names = ["plain", "a space", "a#hash", "a$dollar"]
    inputs = [tmp_path / name for name in names]
    for path in inputs:
        path.write_text("")
    depfile(tmp_path / "rule.d", tmp_path / "out put", inputs)
    (tmp_path / "Makefile").write_text(
        "include rule.d\n%put:\n\t@printf '%s|' $(foreach f,$(notdir $^),'$f')\n"
    )
    make = ["make", "-s", str(tmp_path / "out put")]
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("plain", "hash", "a$dollar", "prove_kernels.py", "amalgamation.c.j2", "encode.c"):
        assert word in done.stdout
    inputs[0].unlink()
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        depfile(tmp_path / "file" / "rule.d", tmp_path / "target", [])
