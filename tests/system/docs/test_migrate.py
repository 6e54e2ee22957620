"""The guides in docs/migrate: the program before and the program after a migration print the same shards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.folders import once
from tests.support.paths import ROOT
from tests.system.bindings.go.support import Project, fresh
from tests.system.docs.pages import fences

CC = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror"]
LIBRARIES = {"isal": ["-lisal"], "jerasure": ["-I/usr/include/jerasure", "-lJerasure", "-lgf_complete"]}


def _programs(page: str, language: str) -> tuple[str, str]:
    """Return the programs before and after."""
    text = (ROOT / "docs" / "migrate" / f"{page}.md").read_text(encoding="utf-8")
    before, after = (fence.text for fence in fences(text) if fence.language == language)
    return before, after


def _output(command: list[str | Path], **options: Path) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False, **options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def _compiled(folder: Path, source: str, flags: list[str | Path]) -> bytes:
    """Return the output of a C program."""
    (folder / "program.c").write_text(source)
    _output(
        [*CC, "-I", ROOT / "runtime/core/include", folder / "program.c", *flags, "-o", folder / "program"]
    )
    return _output([folder / "program"])


@pytest.mark.parametrize("page", LIBRARIES)
def test_programs_in_c_print_the_same_shards(page: str, tmp_path: Path) -> None:
    before, after = _programs(page, "c")
    ours: list[str | Path] = [ROOT / "build" / "libgfsmith.a"]
    shards = _compiled(tmp_path, before, [*LIBRARIES[page]])
    assert len(shards) >= 14000 and len(set(shards)) > 200
    assert _compiled(tmp_path, after, ours) == shards
    other = after.replace('"cauchy"', '"vandermonde"').replace('"reed_sol_van"', '"cauchy"')
    assert _compiled(tmp_path, other, ours) != shards, "another code is not detected"


@pytest.mark.needs("zfec")
def test_programs_in_python_print_the_same_shards(tmp_path: Path) -> None:
    outputs = []
    for text in _programs("zfec", "python"):
        (tmp_path / "program.py").write_text(text)
        outputs.append(_output([sys.executable, tmp_path / "program.py"]))
    assert outputs[0] == outputs[1] and len(outputs[0]) == 14000


@pytest.mark.needs("go")
@pytest.mark.parametrize(
    ("option", "code"), [("10, 4", "Backblaze"), ("10, 4, reedsolomon.WithCauchyMatrix()", "Cauchy")]
)
def test_programs_in_go_print_the_same_shards(
    option: str, code: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    example = Project(once(tmp_path_factory, "golang", lambda folder: fresh(folder).go("generate", "./...")))
    project = example.copy(tmp_path / "module")
    before, after = _programs("klauspost", "go")
    sources = {
        "before": before.replace("New(10, 4)", f"New({option})"),
        "after": after.replace("gfsmith.Backblaze", f"gfsmith.{code}").replace(
            "example.org/mine/gfsmith", "gfsmith.example/go/gfsmith"
        ),
    }
    outputs = []
    for name, source in sources.items():
        (project.folder / name).mkdir()
        (project.folder / name / "main.go").write_text(source)
        outputs.append(_output(["go", "run", "-buildvcs=false", f"./{name}"], cwd=project.folder))
    assert outputs[0] == outputs[1] and len(outputs[0]) == 14000
