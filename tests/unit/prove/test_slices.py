"""Arguments of Go and of Rust: slices, coefficients by value, a len that the function rounds down. Right
functions are proved, and no wrong variant is.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from gfsmith.verify.functions import Description, verify
from tests.unit.prove.objects import GCC, assemble

#: f(in, out [][]byte, start, n int): out[0] = in[0] + in[1], from start on.
SUM = """
  mov 64(%rsp), %rax
  shr $4, %rax
  test %rax, %rax
  jz 2f
  mov 8(%rsp), %rcx
  mov (%rcx), %rdx
  mov 24(%rcx), %rcx
  mov 32(%rsp), %rsi
  mov (%rsi), %rsi
  mov 56(%rsp), %rdi
  add %rdi, %rdx
  add %rdi, %rcx
  add %rdi, %rsi
1:
  movdqu (%rdx), %xmm0
  movdqu (%rcx), %xmm1
  xorpd %xmm1, %xmm0
  movdqu %xmm0, (%rsi)
  add $16, %rdx
  add $16, %rcx
  add $16, %rsi
  dec %rax
  jnz 1b
2:
  ret
"""
SLICES = Description(
    symbol="f",
    operation="xor",
    inputs=2,
    outputs=1,
    tables="none",
    arguments="src:slice,dst:slice,start,len",
    isa="sse",
    abi="go-amd64",
    granule=16,
    maximum=(1 << 63) - 1,
)

#: f(low, high, in, out []byte): out = c in; aligned loads and stores if both shards are aligned.
PRODUCT = """
  mov 8(%rsp), %rsi
  mov 32(%rsp), %rdx
  movdqu (%rsi), %xmm6
  movdqu (%rdx), %xmm7
  mov $15, %ebx
  movq %rbx, %xmm8
  pxor %xmm5, %xmm5
  pshufb %xmm5, %xmm8
  mov 56(%rsp), %rsi
  mov 64(%rsp), %r9
  mov 80(%rsp), %rdx
  mov %rsi, %rax
  mov %rdx, %rbx
  and $15, %rax
  and $15, %rbx
  or %rax, %rbx
  cmp $0, %rbx
  jnz 2f
  sub $16, %r9
  js 3f
1:
  movdqa (%rsi), %xmm0
  movdqa %xmm0, %xmm1
  movdqa %xmm6, %xmm2
  movdqa %xmm7, %xmm3
  psrlq $4, %xmm1
  pand %xmm8, %xmm0
  pand %xmm8, %xmm1
  pshufb %xmm0, %xmm2
  pshufb %xmm1, %xmm3
  pxor %xmm2, %xmm3
  movdqa %xmm3, (%rdx)
  add $16, %rsi
  add $16, %rdx
  sub $16, %r9
  jns 1b
  ret
2:
  and $-16, %r9
  jz 3f
4:
  movdqu (%rsi), %xmm0
  movdqa %xmm0, %xmm1
  movdqa %xmm6, %xmm2
  movdqa %xmm7, %xmm3
  psrlq $4, %xmm1
  pand %xmm8, %xmm0
  pand %xmm8, %xmm1
  pshufb %xmm0, %xmm2
  pshufb %xmm1, %xmm3
  pxor %xmm2, %xmm3
  movdqu %xmm3, (%rdx)
  add $16, %rsi
  add $16, %rdx
  sub $16, %r9
  jnz 4b
3:
  ret
"""
HALVES = replace(
    SLICES,
    operation="dot",
    inputs=1,
    tables="nibble",
    arguments="low:slice,high:slice,src0:slice,dst0:slice",
)


def _judge(code: str, words: Description, folder: Path) -> Report:
    text = f".text\n.globl f\n.type f, @function\nf:\n{code}\n.size f, . - f\n"
    return verify(assemble(GCC, text, folder), words, exhaustive=False)


@pytest.mark.parametrize(("code", "words"), [(SUM, SLICES), (PRODUCT, HALVES)], ids=["sum", "product"])
def test_right_functions_are_proved(code: str, words: Description, tmp_path: Path) -> None:
    report = _judge(code, words, tmp_path)
    assert report.status is Status.PROVED, report.reason
    assert report.covered == report.instructions


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dec %rax\n  jnz", "add $-1, %rax\n  jnz"),
        ("dec %rax\n  jnz", "sub $1, %rax\n  ja"),
        (
            "test %rax, %rax\n  jz 2f",
            "mov $1, %r8d\n  cmp $1, %rax\n  cmovae %rax, %r8\n  jb 2f\n  mov %r8, %rax",
        ),
    ],
)
def test_other_ways_to_count_are_proved(old: str, new: str, tmp_path: Path) -> None:
    assert SUM.count(old) == 1
    report = _judge(SUM.replace(old, new), SLICES, tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("dec %rax", "add $-2, %rax", ""),
        ("dec %rax", "add $1, %rax", ""),
        ("test %rax, %rax", "cmp $2, %rax\n  cmovb %rcx, %rax\n  test %rax, %rax", ""),
        ("test %rax, %rax", "mov $4, %r8d\n  cmp $9, %rax\n  cmovae %r8, %rax\n  test %rax, %rax", ""),
        ("add %rdi, %rsi", "nop", "before its first byte"),
        ("add %rdi, %rcx", "add %rdx, %rcx", "no address of the contract"),
        ("mov 24(%rcx), %rcx", "mov 48(%rcx), %rcx", "accesses &srcs beyond its end: 8 bytes at 48, size 48"),
        ("mov 24(%rcx), %rcx", "mov (%rcx), %rcx", "must be src[0]"),
        ("mov 64(%rsp), %rax", "mov 24(%rsp), %rax", "computes with data or junk"),
        ("mov 32(%rsp), %rsi", "mov 40(%rsp), %rsi", "depends on rsi"),
        ("shr $4", "shr $3", "beyond its end"),
        ("shr $4", "shr $5", "bytes are written"),
        ("jz 2f", "nop", "accesses &src[0] beyond its end"),
        ("ret", "mov %rax, %rbp\nret", "rbp is not preserved"),
        ("ret", "mov %rax, 8(%rsp)\nret", "writes the caller's frame"),
        ("jnz 1b", "mov %rax, -8(%rsp)\njnz 1b", "where a signal handler may write"),
    ],
)
def test_wrong_sums_are_not_proved(old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert SUM.count(old) == 1
    report = _judge(SUM.replace(old, new), SLICES, tmp_path)
    assert report.status is not Status.PROVED
    assert reason in report.reason


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("movdqu (%rdx), %xmm7", "movdqu (%rsi), %xmm7", "must be"),
        ("movdqu (%rdx), %xmm7", "movdqu 16(%rsi), %xmm7", "accesses &low beyond its end"),
        ("movdqu (%rdx), %xmm7", "movdqu 1(%rdx), %xmm7", "accesses &high beyond its end"),
        ("and $15, %rax", "and $7, %rax", "different numbers of low bits"),
        ("or %rax, %rbx", "mov %rax, %rbx", "must be aligned to 16 bytes"),
        ("jnz 2f", "jz 2f", "must be aligned to 16 bytes"),
        ("js 3f", "jns 3f", "accesses &src[0] beyond its end"),
        ("jns 1b", "js 1b", "accesses &src[0] beyond its end"),
        ("and $-16, %r9", "and $-32, %r9", "bytes are written"),
    ],
)
def test_wrong_products_are_not_proved(old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert PRODUCT.count(old) == 1
    report = _judge(PRODUCT.replace(old, new), HALVES, tmp_path)
    assert report.status is not Status.PROVED
    assert reason in report.reason


def test_a_table_of_copies_is_read_part_by_part(tmp_path: Path) -> None:
    """The second copy of a half is as good as the first; the other half is not."""
    code = PRODUCT.replace("mov 32(%rsp), %rdx", "mov %rsi, %rdx").replace("56(%rsp)", "32(%rsp)")
    code = code.replace("64(%rsp)", "40(%rsp)").replace("80(%rsp)", "56(%rsp)")
    words = replace(HALVES, tables="klauspost-nibble", arguments="tables:slice,src0:slice,dst0:slice")
    for low, high, status in ((0, 32, "proved"), (16, 48, "proved"), (0, 16, "refuted"), (32, 48, "refuted")):
        text = code.replace("(%rsi), %xmm6", f"{low}(%rsi), %xmm6").replace(
            "(%rdx), %xmm7", f"{high}(%rdx), %xmm7"
        )
        assert _judge(text, words, tmp_path).status.value == status, (low, high)


def test_a_start_may_be_restricted_to_multiples(tmp_path: Path) -> None:
    """Code that loses the low bits of `start` is right for multiples only."""
    code = SUM.replace("add %rdi, %rdx", "shr $3, %rdi\nshl $3, %rdi\nadd %rdi, %rdx")
    assert _judge(code, SLICES, tmp_path).status is not Status.PROVED
    report = _judge(code, replace(SLICES, start_granule=8), tmp_path)
    assert report.status is Status.PROVED, report.reason


def test_all_coefficients_may_be_one(tmp_path: Path) -> None:
    """out += in"""
    code = SUM.replace("movdqu (%rcx), %xmm1", "movdqu (%rsi), %xmm1").replace("mov 24(%rcx), %rcx", "nop")
    code = code.replace("add %rdi, %rcx", "nop").replace("add $16, %rcx", "nop")
    words = replace(SLICES, operation="mad", inputs=1, tables="ones")
    assert _judge(code, words, tmp_path).status is Status.PROVED
    assert "must be" in _judge(code, replace(words, operation="dot"), tmp_path).reason


#: f(in: &[&[u8]], out: &mut [&mut [u8]]): out[0] = in[0] + in[1]; len is that of the slices.
RUST_SUM = """
  cmp $2, %rsi
  jb 2f
  mov 8(%rdx), %rax
  mov (%rdi), %r8
  mov 16(%rdi), %r9
  mov (%rdx), %rdx
  xor %r10d, %r10d
  test %rax, %rax
  jz 2f
1:
  movdqu (%r8,%r10), %xmm0
  movdqu (%r9,%r10), %xmm1
  pxor %xmm1, %xmm0
  movdqu %xmm0, (%rdx,%r10)
  add $16, %r10
  cmp %rax, %r10
  jb 1b
2:
  ret
"""
RUST = replace(SLICES, arguments="src:rust,dst:rust", abi=None)
ENTRY = replace(
    SLICES, operation="dot", inputs=1, tables="affine", arguments="entry,src0:rust,dst0:rust", abi=None
)
#: f(matrix: u64, in: &[u8], out: &mut [u8]): out = c in.
BY_VALUE = """
  vmovq %rdi, %xmm7
  vpbroadcastq %xmm7, %ymm7
  test %rdx, %rdx
  jz 2f
1:
  vmovdqu (%rsi), %ymm0
  vgf2p8affineqb $0, %ymm7, %ymm0, %ymm0
  vmovdqu %ymm0, (%rcx)
  add $32, %rsi
  add $32, %rcx
  sub $32, %rdx
  jnz 1b
2:
  vzeroupper
  ret
"""


def test_slices_of_rust_have_their_lengths(tmp_path: Path) -> None:
    report = _judge(RUST_SUM, RUST, tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("mov 8(%rdx), %rax", "mov (%rdx), %rax", ""),
        ("mov 8(%rdx), %rax", "mov %rcx, %rax", "beyond its end"),
        ("mov 8(%rdx), %rax", "mov 24(%rdx), %rax", "accesses &dsts beyond its end"),
        ("mov 8(%rdx), %rax", "mov 12(%rdi), %rax", "beside a pointer"),
        ("mov 16(%rdi), %r9", "mov 8(%rdi), %r9", ""),
        ("cmp $2, %rsi", "cmp $3, %rsi", "bytes are written"),
    ],
)
def test_wrong_uses_of_slices_of_rust_are_not_proved(old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert RUST_SUM.count(old) == 1
    report = _judge(RUST_SUM.replace(old, new), RUST, tmp_path)
    assert report.status is not Status.PROVED
    assert reason in report.reason


def test_slices_of_go_promise_no_length_of_their_elements(tmp_path: Path) -> None:
    code = SUM.replace("mov 64(%rsp), %rax", "mov 32(%rsp), %rsi\n  mov 8(%rsi), %rax")
    assert "beside a pointer" in _judge(code, SLICES, tmp_path).reason


def test_a_coefficient_may_be_a_value(tmp_path: Path) -> None:
    words = replace(ENTRY, isa="gfni_avx2", granule=32)
    report = _judge(BY_VALUE, words, tmp_path)
    assert report.status is Status.PROVED, report.reason
    for old, new in (("vmovq %rdi", "vmovq %rsi"), ("vmovq %rdi", "vmovd %edi"), ("$0,", "$1,")):
        assert _judge(BY_VALUE.replace(old, new), words, tmp_path).status is not Status.PROVED, new


@pytest.mark.parametrize(("code", "words"), [(SUM, SLICES), (PRODUCT, HALVES)], ids=["sum", "product"])
def test_a_function_may_round_len_down(code: str, words: Description, tmp_path: Path) -> None:
    report = _judge(code, replace(words, rounds_down=True), tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize(
    ("code", "words", "old", "new"),
    [
        # These are right for multiples of 16.
        (SUM, SLICES, "shr $4, %rax", "add $15, %rax\n  shr $4, %rax"),
        (SUM, SLICES, "dec %rax", "dec %rax\n  movb $0, (%rsi)"),
        (PRODUCT, HALVES, "sub $16, %r9\n  js 3f", "sub $1, %r9\n  js 3f\n  sub $15, %r9"),
    ],
)
def test_a_function_must_round_len_down(
    code: str, words: Description, old: str, new: str, tmp_path: Path
) -> None:
    assert code.count(old) == 1
    report = _judge(code.replace(old, new), replace(words, rounds_down=True), tmp_path)
    assert report.status is not Status.PROVED


def test_a_second_destination_may_be_an_argument(tmp_path: Path) -> None:
    code = """
  test %rcx, %rcx
  jz 2f
1:
  movdqu (%rdi), %xmm0
  movdqu %xmm0, (%rsi)
  movdqu %xmm0, (%rdx)
  add $16, %rdi
  add $16, %rsi
  add $16, %rdx
  sub $16, %rcx
  jnz 1b
2:
  ret
"""
    words = replace(RUST, inputs=1, outputs=2, arguments="src0,dst0,dst1,len")
    assert _judge(code, words, tmp_path).status is Status.PROVED
    once = code.replace("movdqu %xmm0, (%rdx)", "movdqu %xmm0, (%rsi)")
    assert "of dst[1] only 0" in _judge(once, words, tmp_path).reason


def test_an_argument_may_be_a_number_or_unknown(tmp_path: Path) -> None:
    """Branches may depend on a public number and on a known one; a struct has no contents."""
    code = """
  test %esi, %esi
  je 1f
  nop
1:
  test %rdx, %rdx
  jz 3f
2:
  movdqu (%rdi), %xmm0
  movdqu %xmm0, (%rcx)
  add $16, %rdi
  add $16, %rcx
  sub $16, %rdx
  jnz 2b
3:
  ret
"""
    words = replace(RUST, inputs=1, arguments="src0,{},len,dst0")
    status = {
        text: _judge(code, replace(words, arguments=words.arguments.format(text)), tmp_path).status
        for text in ("any", "public", "0", "1")
    }
    assert status == {
        "any": Status.REFUTED,
        "public": Status.PROVED,
        "0": Status.PROVED,
        "1": Status.PROVED,
    }
    read = replace(RUST, inputs=1, arguments="object,src0,len,dst0")
    assert "data is read from &object" in _judge("mov (%rdi), %rax\nret", read, tmp_path).reason


def test_or_adds_a_number_below_a_multiple(tmp_path: Path) -> None:
    """A compiler writes i | 16 for i + 16 if i is a multiple of 32."""
    code = """
  xor %eax, %eax
  test %rsi, %rsi
  jz 2f
1:
  mov %rax, %r8
  or $16, %r8
  movdqu (%rdi,%rax), %xmm0
  movdqu (%rdi,%r8), %xmm1
  movdqu %xmm0, (%rdx,%rax)
  movdqu %xmm1, (%rdx,%r8)
  add $32, %rax
  cmp %rsi, %rax
  jb 1b
2:
  ret
"""
    words = replace(RUST, inputs=1, arguments="src0,len,dst0", granule=32)
    assert _judge(code, words, tmp_path).status is Status.PROVED
    for wrong in ("or $48, %r8", "or $8, %r8", "or $-16, %r8"):
        report = _judge(code.replace("or $16, %r8", wrong), words, tmp_path)
        assert report.status is not Status.PROVED, wrong
