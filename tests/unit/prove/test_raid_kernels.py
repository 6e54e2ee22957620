"""Kernels with one array of sources and destinations, as in snapraid, and the rules that they need:
alignment of several shards, numbers of 32 bits with a sign, calls that are not reached.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from gfsmith.verify.functions import Description, ForeignError, contract_of, verify
from tests.unit.prove.objects import GCC, assemble

#: f(int nd, size_t size, void **v): v[nd] is the sum of v[0] to v[nd - 1], v[nd + 1] that of 2^i v[i], by
#: Horner's rule from v[nd - 1] on. One source is copied by another function.
RAID6 = """
  cmp $1, %edi
  je 4f
  movslq %edi, %rax
  mov (%rdx,%rax,8), %r8
  mov 8(%rdx,%rax,8), %r9
  mov $0x1d1d1d1d1d1d1d1d, %rcx
  movq %rcx, %xmm7
  pshufd $0, %xmm7, %xmm7
  pxor %xmm6, %xmm6
  xor %ecx, %ecx
  test %rsi, %rsi
  je 3f
1:
  lea -1(%rdi), %eax
  cdqe
  mov (%rdx,%rax,8), %r10
  movdqa (%r10,%rcx), %xmm0
  movdqa %xmm0, %xmm1
2:
  movdqa %xmm6, %xmm2
  pcmpgtb %xmm1, %xmm2
  paddb %xmm1, %xmm1
  pand %xmm7, %xmm2
  pxor %xmm2, %xmm1
  sub $1, %rax
  mov (%rdx,%rax,8), %r10
  pxor (%r10,%rcx), %xmm0
  pxor (%r10,%rcx), %xmm1
  test %rax, %rax
  jne 2b
  movntdq %xmm0, (%r8,%rcx)
  movntdq %xmm1, (%r9,%rcx)
  add $16, %rcx
  cmp %rsi, %rcx
  jne 1b
3:
  sfence
  ret
4:
  call memcpy
  ret
"""
WORDS = Description(
    symbol="f",
    operation="dot",
    inputs=4,
    outputs=2,
    tables="none",
    matrix="raid6",
    arguments="sources,len,shards",
    isa="sse",
    granule=16,
    aligned=16,
)


def _judge(code: str, words: Description, folder: Path) -> Report:
    text = f".text\n.globl f\n.type f, @function\nf:\n{code}\n.size f, . - f\n"
    return verify(assemble(GCC, text, folder), words, exhaustive=False)


@pytest.mark.parametrize("inputs", [2, 4, 7])
def test_raid6_is_proved(inputs: int, tmp_path: Path) -> None:
    report = _judge(RAID6, replace(WORDS, inputs=inputs), tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"matrix": "cauchy"}, "must be"),
        ({"matrix": "cauchy", "outputs": 1}, "accesses &dsts beyond its end: 8 bytes at 8, size 8"),
        ({"aligned": 8}, "must be aligned to 16 bytes"),
        ({"arguments": "any,len,shards"}, "computes with data or junk"),
        ({"arguments": "sources,len,src"}, "accesses &srcs beyond its end: 8 bytes at 32, size 32"),
        ({"inputs": 1}, "depends on memcpy"),
    ],
)
def test_other_contracts_are_not_met(change: dict[str, object], reason: str, tmp_path: Path) -> None:
    report = _judge(RAID6, replace(WORDS, **change), tmp_path)  # type: ignore[arg-type]
    assert report.status is not Status.PROVED
    assert reason in report.reason


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("mov 8(%rdx,%rax,8), %r9", "mov 16(%rdx,%rax,8), %r9", "accesses &dsts beyond its end"),
        ("mov 8(%rdx,%rax,8), %r9", "mov (%rdx,%rax,8), %r9", "must be"),
        ("lea -1(%rdi), %eax", "lea -2(%rdi), %eax", "must be"),
        ("lea -1(%rdi), %eax", "lea -5(%rdi), %eax", "accesses &dsts beyond its end"),
        ("pand %xmm7, %xmm2", "nop", "must be"),
        ("0x1d1d1d1d1d1d1d1d", "0x1b1b1b1b1b1b1b1b", "must be"),
        ("pxor (%r10,%rcx), %xmm0", "pxor 8(%r10,%rcx), %xmm0", "aligned access"),
        ("sfence", "nop", "not fenced"),
        ("je 4f", "jne 4f", "depends on memcpy"),
        ("ret\n4:", "mov %rsi, (%rdx,%rdi,8)\nret\n4:", "writes"),
    ],
)
def test_wrong_kernels_are_not_proved(old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert RAID6.count(old) == 1
    report = _judge(RAID6.replace(old, new), WORDS, tmp_path)
    assert report.status is not Status.PROVED
    assert reason in report.reason


def test_a_sum_of_sources_that_the_code_does_not_have_is_no_error(tmp_path: Path) -> None:
    """An entry into the middle of a loop: the prover compares sums that no iteration has."""
    code = RAID6.replace("  test %rsi, %rsi\n  je 3f\n", "  jmp 3f\n").replace("  sfence", "")
    code = code.replace("  cmp %rsi, %rcx\n  jne 1b\n3:", "3:\n  cmp %rsi, %rcx\n  jne 1b\n  sfence")
    assert _judge(code, replace(WORDS, inputs=2), tmp_path).status is Status.UNSUPPORTED


@pytest.mark.parametrize(("abi", "status"), [("sysv", Status.PROVED), ("go-amd64", Status.REFUTED)])
def test_the_stack_is_aligned_by_the_convention(abi: str, status: Status, tmp_path: Path) -> None:
    """Go aligns its stack to 8 bytes only."""
    code = "sub $24, %rsp\nmovdqa %xmm0, (%rsp)\nadd $24, %rsp\nret"
    words = replace(WORDS, matrix=None, operation="xor", arguments="any", abi=abi, minimum=0, maximum=0)
    report = _judge(code, words, tmp_path)
    assert report.status is status, report.reason
    assert report or "must be aligned to 16 bytes, at &stack-24" in report.reason


def test_an_unknown_number_of_32_bits_may_be_negative(tmp_path: Path) -> None:
    code = "movslq %edi, %rax\nret"
    words = replace(WORDS, matrix=None, operation="xor", arguments="len,shards", granule=1)
    report = _judge(code, replace(words, maximum=(1 << 32) - 1), tmp_path)
    assert (report.status, "may be negative" in report.reason) == (Status.UNSUPPORTED, True)
    report = _judge(code, replace(words, maximum=(1 << 31) - 1), tmp_path)
    assert "bytes are written" in report.reason


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"matrix": "raid"}, "code 'raid' is unknown; allowed: "),
        ({"inputs": None}, "matrix raid6 needs a fixed number of --inputs"),
        ({"outputs": 3}, "raid6"),
    ],
)
def test_an_invalid_code_gets_one_line(change: dict[str, object], words: str) -> None:
    with pytest.raises(ForeignError) as error:
        contract_of(replace(WORDS, **change))  # type: ignore[arg-type]
    assert words in str(error.value) and "\n" not in str(error.value)
