"""The Go code of docs/go.md compiles and repairs a shard."""

from __future__ import annotations

from pathlib import Path

from tests.support.paths import ROOT
from tests.system.bindings.go.support import Project
from tests.system.docs.pages import fences

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
