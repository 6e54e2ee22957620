"""gfsmith export --form rust: every kernel of the default set, and the objects of three systems."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from gfsmith.cli.main import main
from gfsmith.emit import packaged, rust
from gfsmith.kernel.architecture import Arch


def assembled(rows: list[str]) -> bytes:
    """Return the bytes of directives, by the manual of the assembler: a second opinion on rust.py."""
    sizes = {".quad": 8, ".byte": 1}
    made = b""
    for row in rows:
        directive, values = row.split(" ", 1)
        made += b"".join(int(value, 0).to_bytes(sizes[directive], "little") for value in values.split(", "))
    return made


def test_directives_are_the_bytes(kernels: list[packaged.Proved]) -> None:
    assert len(kernels) > 200
    for row in packaged.entries(kernels, Arch.X86_64):
        assert assembled(rust.directives(row)) == row.code, row.spec.symbol


def test_every_kernel_is_listed_once(kernels: list[packaged.Proved]) -> None:
    made = rust.files(kernels)
    listed = re.findall(r"    kernel\(Operation::.*, (\w+)\),\n", made["x86_64.rs"])
    begun = [name for text in made.values() for name in re.findall(r"\ngfsmith_kernel (\w+)", text)]
    ended = [name for text in made.values() for name in re.findall(r"\ngfsmith_kernel_end (\w+)", text)]
    assert listed == begun == ended
    assert set(listed) == {spec.symbol for spec, _ in kernels}


def test_a_known_matrix_has_its_rows(kernels: list[packaged.Proved]) -> None:
    known = next((s, c) for s, c in kernels if s.symbol.startswith("gfs_dot_10x4_cauchy__avx2"))
    made = rust.files([k for k in kernels if k[0].baked is None] + [known])
    assert known[0].baked is not None
    rows = "".join(f"            &[{', '.join(map(str, row))}],\n" for row in known[0].baked.rows)
    assert (
        f"    // cauchy 10x4\n    Matrix {{\n        k: 10,\n        rows: &[\n{rows}        ],\n"
        in made["mod.rs"]
    )
    assert re.search(
        r"10, 4\), Tables::None, \(0, 0\), false, gfs_dot_10x4_cauchy__avx2\w+\)", made["x86_64.rs"]
    )


def test_kernels_with_streaming_stores_are_marked(kernels: list[packaged.Proved]) -> None:
    rows = rust.files(kernels)["x86_64.rs"].splitlines()
    marked = {row.split()[-1].rstrip("),") for row in rows if ", true, gfs_" in row}
    assert marked == {spec.symbol for spec, _ in kernels if spec.symbol.endswith("_nt")}
    assert "gfs_dot_32x32_backblaze__gfni_avx512_u1_nt" in marked
    assert not any(spec.inputs is None for spec, _ in kernels if spec.symbol in marked)


def test_the_command_refuses_a_set_without_updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text(
        '[generator]\nisas = ["sse"]\n[[kernels]]\noperation = "dot"\nshapes = ["nx1"]\n'
    )
    done = CliRunner().invoke(main, ["export", "--form", "rust", "-c", "c.toml", "-o", "kernels"])
    assert done.exit_code != 0
    assert "form rust: sse needs a kernel mad 1x1 or nx1" in str(done.output) + str(done.exception)


@pytest.mark.needs("clang")
@pytest.mark.parametrize("form", rust.FORMATS)
def test_the_macros_assemble(form: str, kernels: list[packaged.Proved], tmp_path: Path) -> None:
    """clang assembles a kernel for each format; tests/system/bindings/rust compares the symbols."""
    target, underscore = {
        "elf": ("x86_64-linux-gnu", ""),
        "macho": ("x86_64-apple-macos11", "_"),
        "coff": ("x86_64-windows-msvc", ""),
    }[form]
    spec, code = next(k for k in kernels if k[0].symbol.startswith("gfs_dot_nx1__sse"))
    made = rust.files([(spec, code)])
    source = tmp_path / "k.s"
    source.write_text(made[f"begin_{form}.s"] + made["sse.s"])
    command = ["clang-19", f"--target={target}", "-c", source, "-o", tmp_path / "k.o"]
    subprocess.run(command, check=True)
    made_object = (tmp_path / "k.o").read_bytes()
    assert code in made_object
    assert f"{underscore}{spec.symbol}\0".encode() in made_object
