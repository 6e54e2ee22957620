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

STREAMS = """\
%s
fn main() -> Result<(), gfsmith::streams::Error> {
    let data = [7; 999_999];
    let (mut original, mut writers, mut restored) = (&data[..], vec![Vec::new(); 14], Vec::new());
    let mut rebuilt: Vec<Option<Vec<u8>>> = vec![None; 14];
    rebuilt[3] = Some(Vec::new());
    let lose = |writers: &[Vec<u8>]| -> Vec<Option<std::io::Cursor<Vec<u8>>>> {
        let all = writers.iter().enumerate();
        all.map(|(i, shard)| (i != 3).then(|| std::io::Cursor::new(shard.clone()))).collect()
    };
%s    assert!(length == 999_999 && !report.intact() && restored == data);
    assert_eq!(rebuilt[3].as_ref(), Some(&writers[3]));
    Ok(())
}
"""


def _blocks(page: str = "rust.md") -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [fence.text for fence in fences(text) if fence.language == "rust"]


def _run(project: Project, program: str, code: str, *options: str) -> None:
    uses = "".join(line for line in code.splitlines(keepends=True) if line.startswith("use "))
    body = "".join(line for line in code.splitlines(keepends=True) if not line.startswith("use "))
    example: Path = project.folder / "gfsmith" / "examples" / "page.rs"
    with locked(BUILD / "lock"):
        example.write_text(program % (uses, body), encoding="utf-8")
        try:
            project.cargo("run", "--quiet", "--package", "gfsmith", "--example", "page", *options)
        finally:
            example.unlink()


def test_the_code_of_the_page_runs(project: Project) -> None:
    first, _, wide, checksums, sketches, _ = _blocks()
    (stripes,) = _blocks("batches.md")
    _run(project, PROGRAM, first + stripes + wide + checksums + sketches)


def test_the_streams_of_the_page_run(project: Project) -> None:
    *_, streams = _blocks()
    # The shards exist once `split` has written them.
    code = streams.replace("open()", "lose(&writers)")
    _run(project, STREAMS, code, "--features", "shards")


def test_the_configuration_of_the_page_is_that_of_the_crate() -> None:
    _, second, *_ = _blocks()
    script = (ROOT / EXAMPLE / "gfsmith" / "build.rs").read_text(encoding="utf-8")
    assert all(line in script for line in second.splitlines())
