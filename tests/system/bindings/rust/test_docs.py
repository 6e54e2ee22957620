"""The Rust code of docs/rust.md compiles, and its configuration is that of build.rs."""

from __future__ import annotations

from pathlib import Path

from tests.support.folders import locked
from tests.support.paths import ROOT
from tests.system.bindings.rust.support import BUILD, EXAMPLE, Project
from tests.system.docs.pages import fences

PROGRAM = """\
%s
fn read() -> Vec<Option<Vec<u8>>> {
    vec![Some(vec![0; 4]); 14]
}

fn main() -> Result<(), gfsmith::Error> {
    let (data, mut parity) = ([[0u8; 4]; 10], [[0u8; 4]; 4]);
%s    Ok(())
}
"""


def _blocks() -> list[str]:
    text = (ROOT / "docs" / "rust.md").read_text(encoding="utf-8")
    return [fence.text for fence in fences(text) if fence.language == "rust"]


def test_the_code_of_the_page_runs(project: Project) -> None:
    first, _ = _blocks()
    uses = "".join(line for line in first.splitlines(keepends=True) if line.startswith("use "))
    body = first.replace(uses, "")
    example: Path = project.folder / "gfsmith" / "examples" / "page.rs"
    with locked(BUILD / "lock"):
        example.write_text(PROGRAM % (uses, body), encoding="utf-8")
        try:
            project.cargo("run", "--quiet", "--package", "gfsmith", "--example", "page")
        finally:
            example.unlink()


def test_the_configuration_of_the_page_is_that_of_the_crate() -> None:
    _, second = _blocks()
    script = (ROOT / EXAMPLE / "gfsmith" / "build.rs").read_text(encoding="utf-8")
    assert all(line in script for line in second.splitlines())
