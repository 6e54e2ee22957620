"""Windows unwind tables: codes, the prologue they describe, and the epilogues without codes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from iced_x86 import Mnemonic

from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.x86.unwind import Step, check
from tests.unit.prove import objects
from tests.unit.prove.objects import COFF, MINGW, assemble, walk

WINDOWS = """
    .globl f
    .def f; .scl 2; .type 32; .endef
    .seh_proc f
f:  push %rbx
    .seh_pushreg %rbx
    push %rsi
    .seh_pushreg %rsi
    sub $56, %rsp
    .seh_stackalloc 56
    movaps %xmm6, (%rsp)
    .seh_savexmm %xmm6, 0
    movaps %xmm7, 16(%rsp)
    .seh_savexmm %xmm7, 16
    .seh_endprologue
    xor %ebx, %ebx
    xor %esi, %esi
    xorps %xmm6, %xmm6
    xorps %xmm7, %xmm7
    movaps (%rsp), %xmm6
    movaps 16(%rsp), %xmm7
    add $56, %rsp
    pop %rsi
    pop %rbx
    ret
    .seh_endproc
"""


def _windows(source: str, folder: Path, command: list[str] = COFF) -> list[str]:
    found = load(assemble(command, source, folder))
    return check(found, "f", walk(found, "f", "ms"))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (".seh_pushreg %rsi", ".seh_pushreg %rdi", "no rule for the saved rsi"),
        (".seh_pushreg %rsi", "", "64 bytes deep, it is 72"),
        (".seh_stackalloc 56", ".seh_stackalloc 64", "80 bytes deep, it is 72"),
        (".seh_savexmm %xmm6, 0", ".seh_savexmm %xmm6, 32", "xmm6 at entry rsp -40, it is at -72"),
        (".seh_savexmm %xmm7, 16", "", "no rule for the saved xmm7"),
        ("pop %rsi", "test %eax, %eax\n pop %rsi", "72 bytes deep, it is 16"),
        ("pop %rbx", "pop %rbx\n nop", "72 bytes deep, it is 0"),
        ("ret", ".byte 0x66, 0xc3", "72 bytes deep, it is 0"),
        ("ret", "ret $8", "72 bytes deep, it is 0"),
        (".seh_stackalloc 56", ".seh_setframe %rsi, 16\n .seh_stackalloc 56", "a frame register"),
        ("f:  push", "f:  .seh_pushframe\n push", "UWOP_PUSH_MACHFRAME"),
    ],
)
def test_wrong_windows_tables(old: str, new: str, line: str, tmp_path: Path) -> None:
    assert old in WINDOWS
    found = _windows(WINDOWS.replace(old, new, 1), tmp_path)
    assert any(line in reason for reason in found), found


def test_a_frame_is_accepted(tmp_path: Path) -> None:
    assert _windows(WINDOWS, tmp_path) == []
    assert _windows(WINDOWS, tmp_path, MINGW) == []
    other = WINDOWS.replace("add $56, %rsp", "lea 56(%rsp), %rsp")  # the code remains an epilogue
    assert _windows(other, tmp_path) == []


def test_an_early_unwind_code_is_wrong(tmp_path: Path) -> None:
    """A code takes effect at the offset it names: before the push it is wrong."""
    early = WINDOWS.replace("f:  push %rbx\n    .seh_pushreg %rbx", "f:  nop\n .seh_pushreg %rbx\n push %rbx")
    assert "+0x1: the table has the stack 8 bytes deep, it is 0" in _windows(early, tmp_path)


def test_large_windows_frames(tmp_path: Path) -> None:
    """The unwind codes of each length: small and large allocations, near and far saves."""
    for size in (120, 136, 0x7FFF8, 0x1000008):
        far = size - 24 & -16
        source = f"""
            .globl f
            .def f; .scl 2; .type 32; .endef
            .seh_proc f
        f:  sub ${size}, %rsp
            .seh_stackalloc {size}
            movaps %xmm8, {far}(%rsp)
            .seh_savexmm %xmm8, {far}
            .seh_endprologue
            xorps %xmm8, %xmm8
            movaps {far}(%rsp), %xmm8
            add ${size}, %rsp
            ret
            .seh_endproc
        """
        assert _windows(source, tmp_path) == []
        wrong = source.replace(f".seh_savexmm %xmm8, {far}", f".seh_savexmm %xmm8, {far - 16}")
        assert len(_windows(wrong, tmp_path)) > 0


@pytest.mark.parametrize("slot", [64, 0x80000])
def test_registers_saved_by_mov(slot: int, tmp_path: Path) -> None:
    size = slot + 8
    source = f"""
        .globl f
        .def f; .scl 2; .type 32; .endef
        .seh_proc f
    f:  sub ${size}, %rsp
        .seh_stackalloc {size}
        mov %rdi, {slot}(%rsp)
        .seh_savereg %rdi, {slot}
        .seh_endprologue
        nop
        add ${size}, %rsp
        ret
        .seh_endproc
    """
    found = load(assemble(COFF, source, tmp_path))
    (nop,) = [i for i in objects.decode(found, "f") if i.mnemonic == Mnemonic.NOP]
    inside = Step(nop.ip - found.functions["f"].address, size, {"rdi": slot - size})
    assert check(found, "f", [inside]) == []
    elsewhere = replace(inside, saved={"rdi": slot - size - 8})
    assert check(found, "f", [elsewhere]) != []


def test_no_table(tmp_path: Path) -> None:
    found = load(assemble(COFF, re.sub(r"\.seh_\w+[^\n]*", "", WINDOWS), tmp_path))
    steps = walk(found, "f", "ms")
    assert check(found, "f", steps) == ["no unwind information"]
    assert check(found, "f", [step for step in steps if step.depth == 0 and not step.saved]) == []
