"""gfsmith export --form go: every kernel of the default set in Plan 9 assembly, and refusals."""

from __future__ import annotations

import re
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from gfsmith.cli.main import main
from gfsmith.emit import golang, golang_amd64, packaged
from gfsmith.kernel.spec import SpecError
from tests.support.configurations import known_proofs

_ADJUST = {1: ("4883", "ec", "c4"), 4: ("4881", "ec", "c4")}
NO_FRAMES = golang.Frames(0, {})
_REGISTERS = {"BX": ("53", "5b"), "BP": ("55", "5d")} | {
    f"R{n}": (f"41{0x50 + n - 8:02x}", f"41{0x58 + n - 8:02x}") for n in range(12, 16)
}


def assemble(row: str) -> bytes:
    """Return the bytes that Go's assembler makes of a line, by Intel's manual: a
    second opinion on golang_amd64.py.
    """
    if row == "RET":
        return b"\xc3"
    if found := re.fullmatch(r"(PUSH|POP)Q (\w+)", row):
        return bytes.fromhex(_REGISTERS[found[2]][found[1] == "POP"])
    if found := re.fullmatch(r"ADJSP \$(-?)(\d+)", row):
        width = 1 if int(found[2]) < 128 else 4
        opcode, sub, add = _ADJUST[width]
        return bytes.fromhex(opcode + (add if found[1] else sub)) + int(found[2]).to_bytes(width, "little")
    sizes = {"QUAD": 8, "LONG": 4, "WORD": 2, "BYTE": 1}
    words = [word.split(" $") for word in row.split("; ")]
    return b"".join(int(value, 16).to_bytes(sizes[name], "little") for name, value in words)


def test_listings_are_the_bytes(kernels: list[packaged.Proved]) -> None:
    assert len(kernels) > 200
    for spec, code in kernels:
        assert b"".join(map(assemble, golang_amd64.listing(code).rows)) == code, spec.symbol


def test_depth_counts_pushes_and_spills(kernels: list[packaged.Proved]) -> None:
    depths = {spec.symbol: golang_amd64.listing(code).depth for spec, code in kernels}
    assert depths["gfs_dot_nx1__sse_u4"] == 0
    large = {spec.symbol for spec, code in kernels if golang_amd64.listing(code).inside}
    assert large == {symbol for symbol, depth in depths.items() if depth > golang_amd64.NOSPLIT_BYTES}
    shapes = {symbol.split("_")[2] for symbol in large}
    assert shapes == {"16x8", "100x20", "64x64", "128x64", "64x128", "200x55"}  # docs/go.md
    assert all("avx2" in symbol for symbol in large if "16x8" in symbol)


def test_a_kernel_with_much_stack_lies_inside_its_caller(kernels: list[packaged.Proved]) -> None:
    """The function that Go calls has a frame for the kernel and its return address."""
    spec, code = next(k for k in kernels if k[0].symbol == "gfs_dot_16x8_backblaze__avx2_u2_steps")
    text = golang.files([(spec, code)], "k", NO_FRAMES)["avx2_amd64.s"]
    depth = golang_amd64.listing(code).depth
    outer = text[text.index(f"TEXT ·{spec.symbol}(SB), 0, ${depth + 8}-40") :].split("\n\n")[0]
    lines = [line.split(" //")[0].strip() for line in outer.splitlines()]
    start = lines.index("PUSHQ AX")
    assert lines[start - 3 : start] == [
        f"ADJSP $-{depth + 8}",
        "BYTE $0xe8; LONG $6",
        f"BYTE $0xe9; LONG ${len(code) + 2}",
    ]
    end = lines.index("POPQ AX")
    assert b"".join(map(assemble, [*lines[start + 1 : end - 1], "RET"])) == code
    assert lines[end - 1 :] == ["BYTE $0xc3", "POPQ AX", f"ADJSP ${depth + 8}", "RET"]
    assert f"TEXT {spec.symbol}<>" not in text


def test_kernels_with_streaming_stores_are_marked(kernels: list[packaged.Proved]) -> None:
    listed = golang.files(kernels, "k", NO_FRAMES)["kernels_amd64.go"]
    marked = set(re.findall(r"\t{\"(\w+)\", Dot, \d+, [1-9]\d*, .*, true},\n", listed))
    assert marked == {spec.symbol for spec, _ in kernels if spec.symbol.endswith("_nt")}
    assert "gfs_dot_32x32_backblaze__gfni_avx512_u1_nt" in marked


def test_frames_of_others_are_refused(kernels: list[packaged.Proved]) -> None:
    code = next(code for _, code in kernels if golang_amd64.listing(code).depth > 48)
    for wrong in (code[4:], code[:-1], code[:-3] + b"\x90" + code[-2:]):
        with pytest.raises(golang_amd64.EmissionError):
            golang_amd64.listing(wrong)


def test_a_matrix_must_be_known_whole(kernels: list[packaged.Proved]) -> None:
    """A kernel for two rows of four is useful together with the one for the other two, and not alone."""
    plain = [(s, c) for s, c in kernels if s.isa.name == "avx2" and s.baked is None]
    spec, code = next((s, c) for s, c in kernels if s.symbol == "gfs_dot_10x4_cauchy__avx2_u1")
    assert spec.baked is not None
    parts = [replace(spec.baked, first=n, rows=spec.baked.rows[n : n + 2]) for n in (0, 2)]
    halves = [(replace(spec, outputs=2, baked=part), code) for part in parts]
    half, whole = (golang.files(plain + halves[:n], "k", NO_FRAMES) for n in (1, 2))
    assert '{"cauchy"' not in half["kernels.go"] and "cauchy" not in half["avx2_amd64.s"]
    assert '{"cauchy", 10, 4,' in whole["kernels.go"]
    assert re.search(r"cauchym4r2__avx2_u1\", Dot, 0, 10, 2, None, 0, 2, false}", whole["kernels_amd64.go"])
    assert "TEXT ·gfs_dot_10x2_cauchym4r0__avx2_u1(SB)" in whole["avx2_amd64.s"]


def test_kernels_that_every_codec_needs(kernels: list[packaged.Proved]) -> None:
    specs = [spec for spec, _ in kernels]
    packaged.check(specs, "go")
    with pytest.raises(SpecError, match="sse needs a kernel dot nx1"):
        packaged.check([s for s in specs if not s.symbol.startswith("gfs_dot_nx1__sse")], "go")
    with pytest.raises(SpecError, match="avx2 needs a kernel mad 1x1 or nx1"):
        packaged.check([s for s in specs if s.operation.value != "mad" or s.isa.name != "avx2"], "go")


def test_an_archive_holds_the_package_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    known_proofs(tmp_path)
    (tmp_path / "c.toml").write_text(
        '[generator]\nisas = ["sse", "scalar"]\n'
        '[[kernels]]\noperation = "dot"\nshapes = ["nx1"]\n[[kernels]]\noperation = "mad"\nshapes = ["1x1"]\n'
    )
    command = [
        "export",
        "--form",
        "go",
        "-c",
        "c.toml",
        "--prefix",
        "acme",
        "--cache",
        ".",
        "-o",
        "fec.tar.xz",
    ]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    with tarfile.open("fec.tar.xz") as archive:
        names = ["kernels.go", "kernels_amd64.go", "kernels_other.go", "kernels_test.go", "sse_amd64.s"]
        sources = {f"fec/{name}" for name in (*names, "MANIFEST.json", "PROOFS.json")}
        assert set(archive.getnames()) == sources
        member = archive.extractfile("fec/sse_amd64.s")
        assert member is not None
        assert set(re.findall(r"TEXT ·(acme_\w+)", member.read().decode())) == {
            "acme_dot_nx1__sse_u4",
            "acme_mad_1x1__sse_u4",
        }


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-o", "Kernels"], "'Kernels' would be the Go package's name"),
        (["-o", "range"], "'range' would be the Go package's name"),
        (["-o", "k", "--isa", "sve"], "no kernel for x86-64 or neon"),
    ],
)
def test_refusals(arguments: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["export", "--form", "go", "--code", "cauchy", "--k", "4", "--m", "2", *arguments]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 2
    assert reason in done.stderr and len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
