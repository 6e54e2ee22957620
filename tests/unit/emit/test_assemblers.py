"""Assemblers produce from gen_out/ the bytes that MANIFEST.json records.

gcc, clang-14 and clang-19 assemble each .S file for both calling conventions, and to COFF and Mach-O; the
code must equal PeachPy's, whose SHA-256 the manifest holds.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from functools import lru_cache
from pathlib import Path

import lief
import pytest

from tests.support import needs
from tests.support.paths import ROOT

GEN_OUT = ROOT / "gen_out"

#: name -> command for (System V, Microsoft).
ASSEMBLERS = {
    "gcc": (["gcc"], ["gcc", "-DGFSMITH_MS_ABI"]),
    "clang-14": (["clang-14"], ["clang-14", "-DGFSMITH_MS_ABI"]),
    "clang-19": (["clang-19"], ["clang-19", "-DGFSMITH_MS_ABI"]),
    "macho-coff": (
        ["clang-19", "--target=x86_64-apple-macos11"],
        ["clang-19", "--target=x86_64-pc-windows-gnu"],
    ),
    "macho-mingw": (["clang-19", "--target=x86_64-apple-macos11"], ["x86_64-w64-mingw32-gcc"]),
}


@lru_cache(maxsize=1)
def _manifest() -> dict[str, str]:
    data = json.loads((GEN_OUT / "MANIFEST.json").read_text())
    return {kernel["symbol"]: kernel["sha256"] for kernel in data["kernels"]}


def _sources(isa: str) -> list[Path]:
    found = sorted(GEN_OUT.glob(f"x86/*__{isa}_*.S"))
    return [p for p in found if p.stem.split("__")[1].startswith(f"{isa}_") and _isa(p) == isa]


def _isa(path: Path) -> str:
    tail = path.stem.split("__")[1]
    names = ("gfni_avx512", "gfni_avx2", "gfni_sse", "avx512", "avx2", "sse")
    return next(name for name in names if tail.startswith(name))


def _compile(command: list[str], sources: list[Path], folder: Path) -> Path:
    """Compile many sources, included into one to save the compiler's start-up, and return the object file."""
    folder.mkdir()
    unit = folder / "unit.S"
    unit.write_text("".join(f'#include "{source}"\n' for source in sources))
    arguments = [*command, "-c", f"-I{GEN_OUT}", "-o", str(folder / "unit.o"), str(unit)]
    subprocess.run(arguments, check=True, capture_output=True)
    return folder / "unit.o"


def _code(path: Path, symbols: list[str]) -> dict[str, bytes]:
    """Return symbol -> its code: up to the next symbol, without the padding after the last ret."""
    binary = lief.parse(str(path))
    assert binary is not None
    text = next(s for s in binary.sections if str(s.name) in (".text", "__text"))
    content = bytes(text.content)
    known = {str(s.name).removeprefix("_"): int(s.value) for s in binary.symbols}
    places = sorted((known[symbol], symbol) for symbol in symbols)
    ends = [place for place, _ in places[1:]] + [len(content)]
    found = {}
    for (start, symbol), end in zip(places, ends, strict=True):
        code = content[start:end]
        found[symbol] = code[: code.rindex(b"\xc3") + 1]
    return found


@pytest.mark.parametrize("isa", ["gfni_avx512", "gfni_avx2", "avx512", "avx2", "gfni_sse", "sse"])
@pytest.mark.parametrize("assembler", needs.params(ASSEMBLERS))
def test_bytes_are_those_of_the_manifest(assembler: str, isa: str, tmp_path: Path) -> None:
    sources = _sources(isa)
    assert len(sources) > 30, "run make gen first"
    symbols = [source.stem for source in sources]
    sysv, ms = (
        _code(_compile(command, sources, tmp_path / abi), symbols)
        for abi, command in zip(("sysv", "ms"), ASSEMBLERS[assembler], strict=True)
    )
    for symbol in symbols:
        digest = hashlib.sha256(sysv[symbol] + ms[symbol]).hexdigest()
        assert digest == _manifest()[symbol], f"{symbol} assembled by {assembler}"


@pytest.mark.parametrize(
    ("command", "symbol"),
    [
        (["gcc"], "gfs_dot_10x4__avx2_u2_steps"),
        pytest.param(
            ["clang-19", "--target=x86_64-apple-macos11"],
            "_gfs_dot_10x4__avx2_u2_steps",
            marks=pytest.mark.needs("clang"),
        ),
        pytest.param(
            ["clang-19", "--target=x86_64-pc-windows-gnu"],
            "gfs_dot_10x4__avx2_u2_steps",
            marks=pytest.mark.needs("clang"),
        ),
    ],
)
def test_objects_export_the_symbol(command: list[str], symbol: str, tmp_path: Path) -> None:
    source = GEN_OUT / "x86" / "gfs_dot_10x4__avx2_u2_steps.S"
    binary = lief.parse(str(_compile(command, [source], tmp_path / "out")))
    assert binary is not None
    assert symbol in [str(s.name) for s in binary.symbols]


@pytest.mark.needs("clang")
def test_elf_objects_need_no_executable_stack_and_keep_cet(tmp_path: Path) -> None:
    source = GEN_OUT / "x86" / "gfs_dot_10x4__avx2_u2_steps.S"
    for compiler in ("gcc", "clang-14", "clang-19"):
        path = _compile([compiler], [source], tmp_path / compiler)
        text = subprocess.run(["readelf", "-nSW", path], capture_output=True, text=True, check=True)
        assert "x86 feature: IBT, SHSTK" in text.stdout
        stack = next(line for line in text.stdout.splitlines() if ".note.GNU-stack" in line)
        assert "X" not in stack.split("PROGBITS")[1].split()[4:5]
    frames = subprocess.run(
        ["readelf", "--debug-dump=frames", path], capture_output=True, text=True, check=True
    )
    assert "DW_CFA_offset: r3 (rbx)" in frames.stdout
    assert "DW_CFA_restore: r3 (rbx)" in frames.stdout


@pytest.mark.needs("clang", "mingw")
def test_coff_objects_have_unwind_tables(tmp_path: Path) -> None:
    source = GEN_OUT / "x86" / "gfs_dot_10x4__avx2_u2_steps.S"
    for command in (["x86_64-w64-mingw32-gcc"], ["clang-19", "--target=x86_64-pc-windows-gnu"]):
        path = _compile(command, [source], tmp_path / command[0])
        dump = subprocess.run(
            ["llvm-readobj-19", "--unwind", path],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "SAVE_XMM128 reg=XMM6" in dump
        assert "PUSH_NONVOL reg=RSI" in dump
