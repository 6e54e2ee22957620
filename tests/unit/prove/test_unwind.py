"""Unwind tables are accepted if they describe the stack, and rejected if they do not."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.build import config
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load, raw
from gfsmith.prove.machine.prove import contract_of, prove_code
from gfsmith.prove.machine.x86 import stackmap
from gfsmith.prove.machine.x86.unwind import Step, check
from gfsmith.prove.verdict import Status
from tests.support import needs
from tests.support.paths import ROOT
from tests.unit.prove import objects
from tests.unit.prove.objects import CLANG, COFF, GCC, GCC_MS, GEN_OUT, MACHO, MINGW, assemble, walk

KERNELS = [
    "gfs_dot_10x4__avx2_u2_steps",
    "gfs_dot_10x4__gfni_sse_u1",
    "gfs_dot_nx8__gfni_avx512_u1",
    "gfs_mad_1x1__sse_u4",
    "gfs_xor_2x1__avx2_u4",
]
#: A kernel that keeps sums in its frame.
SPILLS = "gfs_dot_48x24_cauchy_good_packets__avx512_plain_u1"
TOML = ROOT / "gfsmith.toml"
SYSV = {"gcc": GCC, "clang": CLANG, "macho": MACHO}
MS = {"coff": COFF, "mingw": MINGW}

FRAME = """
    .globl f
    .type f, @function
f:  .cfi_startproc
    push %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset rbx, -16
    push %rbp
    .cfi_def_cfa_offset 24
    .cfi_offset rbp, -24
    sub $40, %rsp
    .cfi_def_cfa_offset 64
    xor %ebx, %ebx
    xor %ebp, %ebp
    add $40, %rsp
    .cfi_def_cfa_offset 24
    pop %rbp
    .cfi_def_cfa_offset 16
    pop %rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
"""


def _sysv(source: str, folder: Path) -> list[str]:
    found = load(assemble(GCC, source, folder))
    return check(found, "f", walk(found, "f", "sysv"))


def _general(steps: list[Step]) -> list[Step]:
    """Return the steps without the vector registers."""
    keep = [{r: slot for r, slot in s.saved.items() if not r.startswith("xmm")} for s in steps]
    return [replace(step, saved=saved) for step, saved in zip(steps, keep, strict=True)]


@pytest.mark.parametrize("symbol", KERNELS)
@pytest.mark.parametrize("name", needs.params(SYSV | MS))
def test_tables_of_kernels(name: str, symbol: str, tmp_path: Path) -> None:
    found = load(objects.kernel((SYSV | MS)[name], symbol, tmp_path))
    steps = walk(found, symbol, "sysv" if name in SYSV else "ms")
    assert steps[-1].depth == 0 and not steps[-1].saved
    assert check(found, symbol, steps) == []


@pytest.mark.parametrize("symbol", KERNELS)
def test_tables_of_the_microsoft_frame_in_elf(symbol: str, tmp_path: Path) -> None:
    found = load(objects.kernel(GCC_MS, symbol, tmp_path))
    assert check(found, symbol, _general(walk(found, symbol, "ms"))) == []


@pytest.mark.needs("clang")
def test_frames_are_not_trivial(tmp_path: Path) -> None:
    """The kernels above push, allocate and save vectors, and the walk records it."""
    found = load(objects.kernel(COFF, KERNELS[0], tmp_path))
    steps = walk(found, KERNELS[0], "ms")
    saved = {register for step in steps for register in step.saved}
    assert saved == objects.callee_saved("ms")
    assert max(step.depth for step in steps) == 8 * 8 + 168


def test_a_table_linked_into_a_library(tmp_path: Path) -> None:
    parts = [objects.kernel(GCC, symbol, tmp_path) for symbol in KERNELS[:2]]
    objects.run("gcc", "-shared", "-nostdlib", "-o", tmp_path / "lib.so", *parts)
    found = load(tmp_path / "lib.so")
    for symbol in KERNELS[:2]:
        assert check(found, symbol, walk(found, symbol, "sysv")) == []


@pytest.mark.needs("mingw")
def test_a_table_linked_into_a_dll(tmp_path: Path) -> None:
    parts = [objects.kernel(MINGW, symbol, tmp_path) for symbol in KERNELS[:2]]
    entry = ".globl DllMainCRTStartup\nDllMainCRTStartup: ret\n"
    parts.append(assemble(MINGW, entry, tmp_path, "entry"))
    objects.run(*MINGW, "-shared", "-nostdlib", "-o", tmp_path / "lib.dll", *parts)
    found = load(tmp_path / "lib.dll")
    for symbol in KERNELS[:2]:
        assert check(found, symbol, walk(found, symbol, "ms")) == []


def test_a_frame_is_accepted(tmp_path: Path) -> None:
    assert _sysv(FRAME, tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (".cfi_def_cfa_offset 16\n    .cfi_offset rbx", ".cfi_offset rbx", "8 bytes deep, it is 0"),
        (".cfi_def_cfa_offset 64", ".cfi_def_cfa_offset 56", "48 bytes deep, it is 56"),
        (".cfi_def_cfa_offset 64", "", "16 bytes deep, it is 56"),
        (".cfi_offset rbx, -16", "", "no rule for the saved rbx"),
        (".cfi_offset rbx, -16", ".cfi_offset rbx, -24", "rbx at entry rsp -16, it is at -8"),
        (".cfi_offset rbx, -16", ".cfi_offset rbp, -24", "rbp at entry rsp -16, which is not saved yet"),
        (".cfi_offset rbx, -16", ".cfi_offset r12, -32", "r12 at entry rsp -24, which is not saved"),
        (".cfi_offset rbp, -24", ".cfi_offset rbp, -16", "rbp at entry rsp -8, where it never is"),
        (".cfi_offset rbp, -24", ".cfi_same_value rbp", "no rule for the saved rbp"),
        ("ret\n", ".cfi_offset 16, -16\n ret\n", "the return address where it is"),
        ("ret\n", ".cfi_endproc\n ret\n .cfi_startproc\n", "no unwind information here"),
        (".cfi_def_cfa_offset 64", ".cfi_def_cfa rbp, 64", "given by rbp, not by rsp"),
        (".cfi_offset rbx, -16", ".cfi_register rbx, rax", "rule REGISTER for register rbx"),
        (".cfi_offset rbx, -16", ".cfi_undefined rbx", "rule UNDEFINED for register rbx"),
    ],
)
def test_wrong_dwarf_tables(old: str, new: str, line: str, tmp_path: Path) -> None:
    assert old in FRAME
    source = FRAME.replace(old, new, 1)
    if line.startswith("8 bytes"):  # the table states the frame before the push
        source = FRAME.replace("push %rbx\n    .cfi_def_cfa_offset 16", ".cfi_def_cfa_offset 16\n push %rbx")
    assert any(line in found for found in _sysv(source, tmp_path))


def test_no_table(tmp_path: Path) -> None:
    found = load(assemble(GCC, re.sub(r"\.cfi_\w+[^\n]*", "", FRAME), tmp_path))
    steps = walk(found, "f", "sysv")
    assert check(found, "f", steps) == ["no unwind information"]
    assert check(found, "f", [step for step in steps if step.depth == 0 and not step.saved]) == []


def test_epilogues_without_restores_as_compilers_write_them(tmp_path: Path) -> None:
    """The rule for a popped register may stay until the end, because its slot is in the red zone."""
    found = load(assemble(GCC, FRAME, tmp_path))
    steps = walk(found, "f", "sysv")
    assert steps[-1].in_epilogue
    assert check(found, "f", steps) == []
    body = [*steps[:-1], replace(steps[-1], in_epilogue=False)]
    assert any("not saved yet" in line for line in check(found, "f", body))


@pytest.mark.needs("clang")
def test_each_wrong_step_is_detected(tmp_path: Path) -> None:
    """The check covers the depth and every slot of every step, in every format."""
    for command, abi in ((GCC, "sysv"), (MACHO, "sysv"), (COFF, "ms")):
        found = load(objects.kernel(command, KERNELS[0], tmp_path))
        steps = walk(found, KERNELS[0], abi)
        for index in range(0, len(steps), 101):
            assert _detected(found, steps, index, replace(steps[index], depth=steps[index].depth + 8))
            for register, slot in steps[index].saved.items():
                moved = {**steps[index].saved, register: slot - 8}
                assert _detected(found, steps, index, replace(steps[index], saved=moved))


def _detected(found: Image, steps: list[Step], index: int, other: Step) -> bool:
    return check(found, KERNELS[0], [*steps[:index], other, *steps[index + 1 :]]) != []


def test_the_vectors_of_the_microsoft_frame_need_rules_in_elf(tmp_path: Path) -> None:
    save = "movaps %xmm6, (%rsp)\n .cfi_offset xmm6, -32"
    source = f"""
        .globl f
        .type f, @function
    f:  .cfi_startproc
        sub $24, %rsp
        .cfi_def_cfa_offset 32
        {save}
        xorps %xmm6, %xmm6
        movaps (%rsp), %xmm6
        add $24, %rsp
        .cfi_def_cfa_offset 8
        .cfi_restore xmm6
        ret
        .cfi_endproc
    """
    for text, expected in (
        (source, []),
        (source.replace(".cfi_offset xmm6, -32", ""), ["no rule for the saved xmm6"]),
        (
            source.replace(".cfi_offset xmm6, -32", ".cfi_offset xmm6, -24"),
            ["where it never", "-16, it is at"],
        ),
    ):
        found = load(assemble(GCC, text, tmp_path))
        lines = check(found, "f", walk(found, "f", "ms"))
        assert len(lines) == len(expected)
        assert all(part in line for part, line in zip(expected, lines, strict=True))


@pytest.mark.needs("clang")
def test_compact_tables_alone_are_unsupported(tmp_path: Path) -> None:
    source = """
        .globl _f
    _f: .cfi_startproc
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq %rsp, %rbp
        .cfi_def_cfa_register %rbp
        popq %rbp
        retq
        .cfi_endproc
    """
    command = [*MACHO, "-femit-dwarf-unwind=no-compact-unwind"]
    found = load(assemble(command, source, tmp_path))
    steps = [Step(0, 0), Step(1, 8)]
    assert check(found, "f", steps) == [
        "unsupported unwind information: only compact unwind information, which is not read"
    ]


def test_plain_bytes_have_no_tables() -> None:
    assert check(raw("f", b"\x53\x5b\xc3"), "f", [Step(0, 0), Step(1, 8), Step(2, 0)]) == []


def test_an_unknown_function() -> None:
    with pytest.raises(KeyError):
        check(Image("elf", "x86-64", (), {}), "f", [])


def test_kernels_of_every_instruction_set_exist() -> None:
    assert all((GEN_OUT / "x86" / f"{symbol}.S").exists() for symbol in KERNELS)


def test_values_in_the_frame_are_no_states_of_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that spills sums has few states at an instruction: only the caller's values are compared."""
    spec = next(s for s in config.specs(config.load(TOML), TOML.name) if s.symbol == SPILLS)
    found = load(assemble(GCC, (GEN_OUT / "x86" / f"{SPILLS}.S").read_text(), tmp_path))
    steps: list[Step] = []
    monkeypatch.setattr(stackmap, "check", lambda image, name, given: steps.extend(given))
    report = prove_code(contract_of(spec, "sysv"), found, SPILLS, exhaustive=False)
    assert report.status is Status.PROVED, report.reason
    assert max(step.depth for step in steps) >= 192
    assert max(Counter(step.offset for step in steps).values()) <= 3
