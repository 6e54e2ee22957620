"""Package streams: its tests detect faults, and its shards are those of Python and gfsmith-shards."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gfsmith import streams
from tests.oracle import shard_vectors
from tests.oracle.shard_format import Shape
from tests.support.folders import built
from tests.system.apps.shards.support import Tool
from tests.system.bindings.go.support import Project

TESTS = "./internal/streams"
#: The codes with a formula in Go, and local codes by points and by Cauchy's matrix.
SHAPES = [
    Shape("cauchy", 4, 2, 4096),
    Shape("backblaze", 12, 4, 65536),
    Shape("vandermonde", 5, 3, 64),
    Shape("lrc", 6, 3, 64, l=2),
    Shape("lrc", 6, 4, 64, l=2),
    Shape("lrc", 7, 5, 64, l=2),
    Shape("lrc", 40, 4, 64, l=2),
]
each_shape = pytest.mark.parametrize("form", SHAPES, ids=lambda form: f"{form.code}-{form.k}-{form.m}")


@pytest.fixture(scope="session")
def program(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of bindings/go/internal/streams/tool."""
    path = tmp_path_factory.mktemp("streams") / "tool"
    project.go("build", "-o", path, f"{TESTS}/tool", CGO_ENABLED="0")
    return path


def _call(program: Path, *arguments: str | Path) -> None:
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done


def _flip(path: Path, offset: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[offset] ^= 0x40
    path.write_bytes(raw)


def _paths(folder: Path, form: Shape) -> list[Path]:
    return [folder / f"file.g1.{i:03d}.gfs" for i in range(form.k + form.m)]


@each_shape
def test_shards_of_go_are_read_by_the_others(form: Shape, program: Path, tmp_path: Path) -> None:
    data = os.urandom(300_001)
    (tmp_path / "file").write_bytes(data)
    _call(program, "split", form.code, f"{form.k}+{form.m}", str(form.block), tmp_path / "file", tmp_path)
    paths = _paths(tmp_path, form)
    report = streams.verify(paths)
    assert report.intact
    found = Shape(report.code, report.k, report.m, report.block, report.l, set_id=report.set_id)
    assert found == replace(form, set_id=report.set_id)
    tool = Tool(built("shards") / "gfsmith-shards", {})
    assert tool.ok("verify", *paths) == f"file: all {len(paths)} shards are intact\n"
    _flip(paths[1], 512 + 40)
    streams.join(paths[1:], tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == data


@each_shape
def test_go_reads_and_repairs_the_shards_of_python(form: Shape, program: Path, tmp_path: Path) -> None:
    data = os.urandom(300_001)
    (tmp_path / "file").write_bytes(data)
    paths = _paths(tmp_path, form)
    options: dict[str, Any] = {"code": form.code, "l": form.l, "block": form.block, "name": "file"}
    streams.split(tmp_path / "file", paths, k=form.k, m=form.m, **options)
    _call(program, "verify", *paths)
    lost = paths[0].read_bytes()
    _flip(paths[1], 512 + 40)
    _call(program, "join", tmp_path / "copy", *paths[1:])
    assert (tmp_path / "copy").read_bytes() == data
    _call(program, "repair", tmp_path / "rebuilt", "0", *paths[1:])
    assert (tmp_path / "rebuilt").read_bytes() == lost
    done = subprocess.run([program, "verify", *paths], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("damaged: ")


def test_the_tests_pass_with_all_vectors(project: Project) -> None:
    """With cgo the vectors are checked by both packages."""
    cases = len(json.loads(shard_vectors.FILE.read_text(encoding="utf-8")))
    for cgo, packages in (("1", 2), ("0", 1)):
        said = project.go("test", "-count=1", "-v", TESTS, CGO_ENABLED=cgo)
        assert said.count("--- PASS: TestVectors/") == packages * cases, said


#: A file, a text in it, and its replacement.
MUTANTS = {
    "checksums of records are not compared": (
        "record.go",
        "string(sum[:]) != string(raw[:len(sum)])",
        "len(sum) == 0",
    ),
    "a record of another shard matches": ("lane.go", "l.tag, stripe, blockKind", "0, stripe, blockKind"),
    "the checksum of the original is not compared": (
        "decode.go",
        "job.complete && job.sum.Sum128().Bytes() != job.end.sum",
        "false",
    ),
    "an error of the original is its end": ("split.go", "err != nil && err != io.EOF {", "false {"),
    "sets are mixed": ("decode.go", "set != job.report.Set", "false"),
    "missing stripes are no error": ("decode.go", "job.stripe < job.end.stripes", "false"),
    "bytes without a field are ignored": ("header.go", "bytes.Equal(again, raw)", "again != nil"),
    "every stripe allocates": ("stripe.go", "if l.own == nil {\n", "if true {\n"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_tests_detect_a_fault(name: str, project: Project, tmp_path: Path) -> None:
    file, text, other = MUTANTS[name]
    copy = project.copy(tmp_path / "mutant")
    source = copy.folder / "streams" / file
    before = source.read_text(encoding="utf-8")
    assert before.count(text) == 1
    source.write_text(before.replace(text, other), encoding="utf-8")
    done = copy.run("test", TESTS, CGO_ENABLED="0")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "--- FAIL: Test" in done.stdout, done.stdout + done.stderr
