"""Numbers that the prover does not follow make a kernel unsupported; data in their place refute it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Unsupported, constant_runs, refutation, unknown, variable
from gfsmith.prove.machine.invariant import vague
from gfsmith.prove.machine.linear import Address, symbol
from gfsmith.prove.machine.prove import contract_of, prove_code
from gfsmith.prove.verdict import Refutation, Status
from tests.support.specs import make_spec
from tests.unit.prove.assembly import NAME, image

SPEC = make_spec("xor", 2, 1, "avx2", unroll=1)


def kernel(before: str = "", first: str = "", last: str = "", after: str = "", end: str = "") -> str:
    """Return the sum of two sources, byte by byte. before: runs before the loop, first and last: at the begin
    and the end of an iteration, with the sum in rdx, after: behind the loop, end: before the return."""
    return f"""endbr64
    test rdi, rdi
    je end
    mov r9, [r8]
    mov r10, [rcx]
    mov r11, [rcx+8]
    xor eax, eax
    {before}
    each:
    {first}
    movzx edx, byte ptr [r10+rax]
    vmovd xmm0, edx
    movzx edx, byte ptr [r11+rax]
    vmovd xmm1, edx
    vpxor xmm0, xmm0, xmm1
    vmovd edx, xmm0
    mov [r9+rax], dl
    add rax, 1
    {last}
    cmp rax, rdi
    jb each
    {after}
    end:
    vzeroupper
    {end}
    ret
    """


USED = "cmp rsi, 3\nje end"
NOT_FOLLOWED = {
    "position in the frame": kernel("mov [rsp-16], rax", "mov rax, [rsp-16]", "mov [rsp-16], rax"),
    "number doubled": kernel("mov esi, 1", last="add rsi, rsi", after=USED),
    "part of an address overwritten": kernel("mov rsi, r9\nmov sil, 0", after=USED),
    "saved register exchanged": kernel("xor esi, esi", last="mov rcx, rbx\nmov rbx, rsi\nmov rsi, rcx"),
}
WRONG = {
    "data in a register": kernel(last="mov rsi, rdx", after=USED),
    "data in a slot": kernel(last="mov [rsp-16], rdx", after=f"mov rsi, [rsp-16]\n{USED}"),
    "a number, then data": kernel("xor esi, esi", last="mov rsi, rdx", after=USED),
}


def _status(text: str, folder: Path) -> tuple[Status, str]:
    report = prove_code(contract_of(SPEC, "sysv"), image(text, folder), NAME, exhaustive=False)
    return report.status, report.reason


def test_the_kernel_is_proved(tmp_path: Path) -> None:
    status, reason = _status(kernel(), tmp_path)
    assert status is Status.PROVED, reason


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_code_that_is_not_followed_is_not_refuted(name: str, tmp_path: Path) -> None:
    status, reason = _status(NOT_FOLLOWED[name], tmp_path)
    assert (status, "does not follow" in reason) == (Status.UNSUPPORTED, True), reason


@pytest.mark.parametrize("name", WRONG)
def test_wrong_code_is_refuted(name: str, tmp_path: Path) -> None:
    status, reason = _status(WRONG[name], tmp_path)
    assert status is Status.REFUTED, reason


NUMBERS = (0, symbol("t"), symbol(Address("src", 0)), constant_runs(bytes(8)), unknown(domain.UNCLEAR, 8))
DATA = (((8, variable("src", 0, 0)),), unknown(domain.JUNK, 8))


@pytest.mark.parametrize("held", NUMBERS, ids=repr)
def test_numbers_are_unclear(held: object) -> None:
    assert domain.is_unclear(vague((0, held), 8))
    assert isinstance(refutation(vague((held, 16), 8), ""), Unsupported)


@pytest.mark.parametrize("held", DATA, ids=repr)
def test_data_are_junk(held: object) -> None:
    for values in ((0, held), (held, unknown(domain.UNCLEAR, 8))):
        assert not domain.is_unclear(vague(values, 8))
        assert isinstance(refutation(vague(values, 8), ""), Refutation)
