"""Behaviour of only some iterations of a loop: hand-written kernels on which induction must not err."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine import domain
from gfsmith.prove.machine.architectures import of_abi
from gfsmith.prove.machine.constants import Constants
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.entry import entry_state
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.linear import Address, add, symbol
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.specs import make_spec
from tests.unit.prove.assembly import NAME, image

XOR = make_spec("xor", 2, 1, "avx2", unroll=1)
MAD = make_spec("mad", 1, 2, "gfni_avx512", unroll=1)

HEAD = "endbr64\nmov r9, [r8]\nmov r10, [rcx]\nmov r11, [rcx+8]\nxor eax, eax\n"
LOAD = "vmovdqu ymm0, [r10+rax]\nvpxor ymm0, ymm0, [r11+rax]\n"
STORE = "vmovdqu [r9+rax], ymm0\n"
NEXT = "add rax, 32\nsub rdi, 32\n"
BLOCK = LOAD + STORE + NEXT
BLOCKS = f"cmp rdi, 32\njb small\nblock:\n{BLOCK}cmp rdi, 32\njae block\nsmall:\n"
END = "end:\nvzeroupper\nret\n"
BYTES = """test rdi, rdi
    je end
    each:
    movzx edx, byte ptr [r10+rax]
    vmovd xmm0, edx
    movzx edx, byte ptr [r11+rax]
    vmovd xmm1, edx
    vpxor xmm0, xmm0, xmm1
    vmovd edx, xmm0
    mov [r9+rax], dl
    add rax, 1
    sub rdi, 1
    jne each
    """

GOOD = {
    "blocks, then bytes": HEAD + BLOCKS + BYTES + END,
    "bytes only": HEAD + BYTES + END,
    "a counter that is not used": HEAD
    + BYTES.replace("add rax", "add rsi, 3\nadd rax").replace("je end", "je end\nxor esi, esi")
    + END,
}

#: Kernel, and a part of the reason why it is not proved.
BAD = {
    "the loop ends in its second iteration, for 33..63 bytes after the first": (
        f"{HEAD}cmp rdi, 32\njb small\nfirst:\n{BLOCK}cmp rax, 64\nje rest\ncmp rdi, 32\njae first\n"
        f"{END}rest:\n{BLOCKS}{BYTES}jmp end",
        "are written",
    ),
    "iterations from the 32nd on continue with 32 bytes left, and read 64": (
        f"{HEAD}cmp rdi, 64\njb few\nmore:\nvmovdqu ymm1, [r10+rax+32]\n{BLOCK}cmp rax, 1024\njae other\n"
        f"cmp rdi, 64\njmp close\nother:\ncmp rdi, 32\nclose:\njae more\nfew:\n{BLOCKS}{BYTES}{END}",
        "wrap around",
    ),
    "the first iteration streams, the others fence": (
        f"{HEAD}mov edx, 1\ntest r9, 31\njne small\ncmp rdi, 32\njb small\nmore:\n{LOAD}"
        f"test rdx, rdx\nje other\nvmovntdq [r9+rax], ymm0\njmp next\nother:\n{STORE}sfence\nnext:\n"
        f"xor edx, edx\n{NEXT}cmp rdi, 32\njae more\nsmall:\n{BYTES}{END}",
        "memory is not the same",
    ),
    "the hundredth iteration writes nothing": (
        f"{HEAD}cmp rdi, 32\njb small\nmore:\n{LOAD}cmp rax, 3200\nje skip\n{STORE}skip:\n{NEXT}"
        f"cmp rdi, 32\njae more\nsmall:\n{BYTES}{END}",
        "",
    ),
    "each iteration writes the same place": (
        f"{HEAD}cmp rdi, 32\njb small\nmore:\n{LOAD}{STORE}sub rdi, 32\ncmp rdi, 32\njae more\nsmall:\n"
        f"{BYTES}{END}",
        "",
    ),
    "each iteration writes every other block": (
        f"{HEAD}cmp rdi, 64\njb small\nmore:\n{BLOCK}{NEXT}cmp rdi, 64\njae more\nsmall:\n{BYTES}{END}",
        "",
    ),
    "goes from the end to the start, one byte too far": (
        f"{HEAD}test rdi, rdi\nje end\n{BYTES.split('each:')[1].replace('add rax, 1', '')}{END}".replace(
            "movzx edx, byte ptr [r10+rax]", "each:\nmovzx edx, byte ptr [r10+rdi]", 1
        ),
        "beyond its end",
    ),
}


def _prove(spec: KernelSpec, text: str, folder: Path) -> Report:
    return prove_code(contract_of(spec, "sysv"), image(text, folder), NAME, exhaustive=False)


@pytest.mark.parametrize("name", GOOD)
def test_proved(name: str, tmp_path: Path) -> None:
    report = _prove(XOR, GOOD[name], tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("name", BAD)
def test_not_proved(name: str, tmp_path: Path) -> None:
    text, says = BAD[name]
    report = _prove(XOR, text, tmp_path)
    assert (report.status is Status.PROVED, says in report.reason) == (False, True), report


def test_signed_comparison_of_32_bits(tmp_path: Path) -> None:
    """A len up to 2^32 - 1 is negative for jl from 2^31 on: the kernel would write nothing."""
    contract = replace(contract_of(XOR, "sysv"), maximum=(1 << 32) - 1)
    text = f"{HEAD}test rdi, rdi\nje end\ncmp edi, 1\njl end\n{BLOCKS}{BYTES}{END}"
    unsigned = prove_code(contract, image(text.replace("jl", "jb"), tmp_path), NAME, exhaustive=False)
    signed = prove_code(contract, image(text, tmp_path), NAME, exhaustive=False)
    assert (unsigned.status, signed.status) == (Status.PROVED, Status.UNSUPPORTED)


def _pass(number: int) -> str:
    """dst[number] ^= c[number][0] * src[0], all bytes."""
    product = f"vgf2p8affineqb zmm1, zmm1, zmm{16 + number}, 0"
    return f"""mov r9, [r8+{8 * number}]
        mov rdi, rsi
        xor eax, eax
        cmp rdi, 64
        jb tail{number}
        block{number}:
        vmovdqu8 zmm1, [r10+rax]
        {product}
        vpxord zmm1, zmm1, [r9+rax]
        vmovdqu8 [r9+rax], zmm1
        add rax, 64
        sub rdi, 64
        cmp rdi, 64
        jae block{number}
        tail{number}:
        mov r11, -1
        bzhi r11, r11, rdi
        kmovq k1, r11
        vmovdqu8 zmm1{{k1}}{{z}}, [r10+rax]
        {product}
        vmovdqu8 zmm2{{k1}}{{z}}, [r9+rax]
        vpxord zmm1, zmm1, zmm2
        vmovdqu8 [r9+rax]{{k1}}, zmm1
        """


@pytest.mark.parametrize(
    "between", ["", "mov r11, rsi\ntest r11, r11\nje on\nwait: sub r11, 1\njne wait\non:\n"]
)
def test_one_destination_after_the_other_is_wrong_in_place(between: str, tmp_path: Path) -> None:
    """The source may be the first destination, which is complete when the kernel reads it for the second."""
    head = "endbr64\nmov rsi, rdi\nmov r10, [rcx]\nvpbroadcastq zmm16, [rdx]\nvpbroadcastq zmm17, [rdx+8]\n"
    text = head + _pass(0) + between + _pass(1)
    report = _prove(MAD, text + "vzeroupper\nret", tmp_path)
    assert report.status is not Status.PROVED
    assert "in place" in report.reason


CONSTANT = """
    vbroadcasti128 ymm2, [rip+{0}]
    vpxor ymm0, ymm0, ymm2
    """


@pytest.mark.parametrize(
    "where, proved",
    [
        (".section .rodata\nzero: .fill 16", True),
        (".data\nzero: .fill 16", False),
        (".extern zero", False),
    ],
)
def test_only_immutable_data_is_constant(where: str, proved: bool, tmp_path: Path) -> None:
    """The kernel adds zeros to every sum: from read-only data, writable data, or another file."""
    text = HEAD + BLOCKS.replace("vmovdqu [", CONSTANT.format("zero") + "vmovdqu [") + BYTES + END
    report = _prove(XOR, f"{text}\n{where}\n.text", tmp_path)
    assert (report.status is Status.PROVED) is proved, report.reason


def test_a_destination_written_in_pieces_is_not_taken_for_untouched() -> None:
    """Bytes 0..3 and 8..11 are final; a load of bytes 2..9 gets parts of both, and 4..7 unchanged."""
    contract = contract_of(MAD, "sysv")
    arch, image = of_abi(contract.abi), raw(NAME, b"\xc3")
    (start,) = arch.starts(image, image.functions[NAME])
    constants = Constants(image, image.functions[NAME])
    memory = entry_state(contract, arch, start, (16, 100), constants).memory
    place = symbol(Address("dst", 0))
    memory.store(place, contract.expect(0, 0, 4, contract.sources))
    assert memory.load(add(place, 4), 4) == ((4, domain.variable("dst", 0, 4)),)
    assert memory.load(add(place, 2), 2) == contract.expect(0, 2, 2, contract.sources)
    memory.store(add(place, 8), contract.expect(0, 8, 4, contract.sources))
    with pytest.raises(Unsupported):
        memory.load(add(place, 2), 8)
