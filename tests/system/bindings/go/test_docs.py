"""The code of docs/go.md repairs a shard, and the recipes for a user's module work from an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.levels import sample
from tests.support.paths import ROOT
from tests.system.bindings.go.support import UNOPTIMISED, Project
from tests.system.docs.pages import fences
from tests.system.export.support import CACHE

PROGRAM = """\
package main

import (
\t"bytes"
\t"gfsmith.dev/gfsmith"
)

func example(data []byte) error {
%s\tif err == nil && !bytes.Equal(shards[3], kept) {
\t\tpanic("another shard")
\t}
\treturn err
}

func main() {
\tif err := example(bytes.Repeat([]byte("page"), 999)); err != nil {
\t\tpanic(err)
\t}
}
"""


STRIPES = """\
package main

import "gfsmith.dev/gfsmith"

func example(codec *gfsmith.Codec, count, length int) (bool, error) {
\tvar err error
%s\treturn len(same) == count && same[0] && same[count-1], err
}

func main() {
\tcodec, _ := gfsmith.New(gfsmith.Cauchy, 10, 4)
\tif ok, err := example(codec, 5, 100); !ok || err != nil {
\t\tpanic(err)
\t}
}
"""

CHECKSUMS = """\
package main

import (
\t"bytes"
\tgfsmith "gfsmith.dev/cgo"
)

func example(codec *gfsmith.Codec, shards [][]byte) error {
%s\tif sum != 0xe3069283 || !same || scrubbed[3] != stored[3] || !bytes.Equal(shards[3], kept) {
\t\tpanic("another sum or shard")
\t}
\tfor i, flag := range wrong {
\t\tif flag || stored[i] == 0 {
\t\t\tpanic("a wrong shard")
\t\t}
\t}
\treturn err
}

func main() {
\tcodec, _ := gfsmith.New(gfsmith.Cauchy, 10, 4)
\tshards, _ := codec.Split(bytes.Repeat([]byte("page"), 999))
\tif err := example(codec, shards); err != nil {
\t\tpanic(err)
\t}
}
"""

STREAMS = """\
package main

import (
\t"bytes"
\t"context"
\t"gfsmith.dev/gfsmith"
\t"gfsmith.dev/streams"
\t"io"
)

func main() {
\tctx, data := context.Background(), bytes.Repeat([]byte("page"), 999_999)
\tvar original io.Reader = bytes.NewReader(data)
\tvar shards [14]bytes.Buffer
\tvar writers []io.Writer
\tfor i := range shards {
\t\twriters = append(writers, &shards[i])
\t}
\topen := func() []io.Reader {
\t\tmade := make([]io.Reader, len(shards))
\t\tfor i := range made {
\t\t\tif i != 3 {
\t\t\t\tmade[i] = bytes.NewReader(shards[i].Bytes())
\t\t\t}
\t\t}
\t\treturn made
\t}
\trestored, rebuilt := &bytes.Buffer{}, &bytes.Buffer{}
%s\tif err != nil || length != int64(len(data)) || report.Intact() || !bytes.Equal(restored.Bytes(), data) ||
\t\t!bytes.Equal(rebuilt.Bytes(), shards[3].Bytes()) {
\t\tpanic(err)
\t}
}
"""


def _run(project: Project, folder: Path, source: str, cgo: bool = False) -> None:
    """Run a program in the module of a copy of the project, with or without cgo."""
    module = project.go("list", "-m").strip()
    copy = project.copy(folder)
    (copy.folder / "page").mkdir()
    text = source.replace("gfsmith.dev", module)
    (copy.folder / "page" / "main.go").write_text(text, encoding="utf-8")
    copy.go("run", "./page", CGO_ENABLED=str(int(cgo)), **UNOPTIMISED)


def _fragments(name: str = "go.md") -> list[str]:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return [fence.text for fence in fences(page) if fence.language == "go"]


def _kept(body: str) -> str:
    """Return code that keeps a copy of the shard that it loses."""
    lost = "shards[3] = nil"
    assert body.count(lost) == 1
    return body.replace(lost, f"kept := bytes.Clone(shards[3]); {lost}")


def test_the_code_of_the_page_repairs_a_shard(project: Project, tmp_path: Path) -> None:
    shards, _, _, _ = _fragments()
    _run(project, tmp_path / "page", PROGRAM % _kept(shards))


def test_the_code_of_the_page_encodes_stripes(project: Project, tmp_path: Path) -> None:
    _, body, _, _ = _fragments()
    (again,) = _fragments("batches.md")
    assert body.endswith(again.replace("err :=", "err =", 1))
    _run(project, tmp_path / "page", STRIPES % body)


def test_the_code_of_the_page_computes_checksums(project: Project, tmp_path: Path) -> None:
    _, _, body, _ = _fragments()
    _run(project, tmp_path / "page", CHECKSUMS % _kept(body), cgo=True)


def test_the_code_of_the_page_repairs_a_stream(project: Project, tmp_path: Path) -> None:
    _, _, _, body = _fragments()
    _run(project, tmp_path / "page", STREAMS % body)


def _follow(commands: str, folder: Path, **variables: str) -> str:
    """Run a user's commands in bash in a folder outside of the checkout. Return their output."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GFSMITH_CACHE": str(CACHE),
        "GOTOOLCHAIN": "local",
        **UNOPTIMISED,
        **variables,
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("package", sample(["gfsmith", "cgo"], "gfsmith"))
def test_the_recipe_for_a_module_works_from_an_empty_folder(package: str, tmp_path: Path) -> None:
    page = (ROOT / "bindings" / "go" / "README.md").read_text(encoding="utf-8")
    commands, for_streams = (f.text for f in fences(page) if f.language == "sh")
    assert commands.startswith("PACKAGE=gfsmith ")
    commands = commands.replace("PACKAGE=gfsmith", f"PACKAGE={package}", 1)
    said = _follow(commands, tmp_path, CHECKOUT=str(ROOT))
    assert f"ok  \texample.org/mine/{package}\t" in said
    assert "gfsmith.example" not in (tmp_path / "go.mod").read_text()
    assert ("cpuid" in (tmp_path / "go.mod").read_text()) == (package == "gfsmith")
    assert "xxh3" not in (tmp_path / "go.mod").read_text()
    _follow(for_streams, tmp_path, CHECKOUT=str(ROOT))
    assert "xxh3" in (tmp_path / "go.mod").read_text()


def test_exported_kernels_are_a_package_in_an_empty_module(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "go.md").read_text(encoding="utf-8")
    (line,) = (line for line in page.splitlines() if line.startswith("    gfsmith export --form go"))
    command, other = line.split("# or: ")
    code = command.replace("-c gfsmith.toml", other.strip())
    said = _follow(f"go mod init example.org/mine\n{code}\ngo mod tidy\ngo test ./...\n", tmp_path)
    assert "ok  \texample.org/mine/internal/kernels\t" in said
