"""The code of docs/go.md repairs a shard, and the recipes for a user's module work from an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.bindings.go.support import Project
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


def test_the_code_of_the_page_repairs_a_shard(project: Project, tmp_path: Path) -> None:
    (fence,) = (
        f for f in fences((ROOT / "docs" / "go.md").read_text(encoding="utf-8")) if f.language == "go"
    )
    lost = "shards[3] = nil"
    assert fence.text.count(lost) == 1
    module = project.go("list", "./gfsmith").strip()
    copy = project.copy(tmp_path / "page")
    (copy.folder / "page").mkdir()
    body = fence.text.replace(lost, f"kept := bytes.Clone(shards[3]); {lost}")
    source = PROGRAM.replace("gfsmith.dev/gfsmith", module) % body
    (copy.folder / "page" / "main.go").write_text(source, encoding="utf-8")
    copy.go("run", "./page", CGO_ENABLED="0")


def _follow(commands: str, folder: Path, **variables: str) -> str:
    """Run a user's commands in bash in a folder outside of the checkout. Return their output."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GFSMITH_CACHE": str(CACHE),
        "GOTOOLCHAIN": "local",
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


@pytest.mark.parametrize("package", ["gfsmith", "cgo"])
def test_the_recipe_for_a_module_works_from_an_empty_folder(package: str, tmp_path: Path) -> None:
    page = (ROOT / "bindings" / "go" / "README.md").read_text(encoding="utf-8")
    (fence,) = (f for f in fences(page) if f.language == "sh")
    commands = fence.text
    if package == "cgo":  # the change that the page describes
        assert commands.count("go/gfsmith ") == commands.count("\ngo get ") == 1
        lines = (line for line in commands.splitlines(keepends=True) if not line.startswith("go get "))
        commands = "".join(lines).replace("go/gfsmith ", "go/cgo ").replace(" gfsmith/*.go", " cgo/*.go")
        commands = commands.replace(" ./gfsmith\n", " ./cgo\n")
    said = _follow(commands, tmp_path, CHECKOUT=str(ROOT))
    assert f"ok  \texample.org/mine/{package}\t" in said
    assert "gfsmith.example" not in (tmp_path / "go.mod").read_text()


def test_exported_kernels_are_a_package_in_an_empty_module(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "go.md").read_text(encoding="utf-8")
    (line,) = (line for line in page.splitlines() if line.startswith("    gfsmith export --form go"))
    command, other = line.split("# or: ")
    code = command.replace("-c gfsmith.toml", other.strip())
    said = _follow(f"go mod init example.org/mine\n{code}\ngo mod tidy\ngo test ./...\n", tmp_path)
    assert "ok  \texample.org/mine/internal/kernels\t" in said
