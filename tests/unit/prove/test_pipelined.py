"""The machine-code proof of pipelined kernels: the kernels it proves, and mutants with one error each."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from gfsmith.build.generate import generate_one
from gfsmith.emit.x86.frame import Abi
from gfsmith.kernel.spec import KernelSpec, Store, Walk
from gfsmith.prove.machine.contract import Contract
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.specs import make_known_pipelined, make_pipelined
from tests.unit.prove.assembly import NAME, disassemble, edit, image
from tests.unit.prove.wrong import Change

SPECS = {
    "rows": make_pipelined("gfni_avx512", 1, 2, Walk.ROWS, shuffled=True),
    "block": make_pipelined("gfni_avx512", 2, 2, Walk.TOGETHER),
    "stream": make_pipelined("gfni_avx512", 1, 2, Walk.ROWS, store=Store.STREAMING),
    "parts": make_pipelined("gfni_avx2", 7, 1, Walk.ROWS),
    "fixed": replace(make_pipelined("gfni_avx512", 2, 2, Walk.ROWS), inputs=3),
}
#: Without mutants: its constants cannot be assembled again from a listing.
KNOWN = make_known_pipelined("gfni_avx512", "cauchy", 3, 2, 2)

PREFETCH = "mov r11, [rbx]\nprefetcht0 [r11+rax]"
ROW1 = "vmovdqu8 [r11+rax+64], zmm0"

WRONG = [
    Change("a load through a prefetch pointer", "rows", "prefetcht0 [r11+rax]",
           "vpxord zmm1, zmm1, [r11+rax]", "only good for prefetching"),
    Change("a narrow load through one", "rows", "prefetcht0 [r11+rax]", "mov r11, [r11+rax]",
           "only good for prefetching"),
    Change("a store through one", "rows", "prefetcht0 [r11+rax]", "vmovdqu8 [r11+rax], zmm0",
           "not to a destination"),
    Change("pointers beyond the end of the array", "rows", "mov rbx, rsi", "lea rbx, [rsi+8]",
           "accesses &srcs beyond its end"),
    Change("pointers taken twice as fast", "block", "add rbx, 16", "add rbx, 24",
           "accesses &srcs beyond its end"),
    Change("a source from where prefetch pointers are", "rows", "mov r11, [r10]", "mov r11, [rbx]",
           "only good for prefetching"),
    Change("the caller's rbx", "rows", "mov rbx, rsi", "nop", "no address of the contract"),
    Change("an address that depends on data", "rows", "prefetcht0 [r11+rax]",
           "movq r11, xmm0\nprefetcht0 [r11+rax]", "depends on r11"),
    Change("an address that depends on coefficients", "rows", "prefetcht0 [r11+rax]",
           "mov r11, [r9]\nprefetcht0 [r11+rax]", "depends on r11"),
    Change("a row at another's place", "rows", ROW1, "vmovdqu8 [r11+rax], zmm0", "must be"),
    Change("a caller's register is lost", "rows", "pop rbx", "add rsp, 8", "rbx is not preserved"),
    Change("no fence", "stream", "sfence", "nop", "not fenced"),
    Change("a load through a pointer of a fixed kernel", "fixed", "prefetcht0 [r11+rax]",
           "vpxord zmm1, zmm1, [r11+rax]", "only good for prefetching"),
    Change("a pointer of a fixed kernel beyond the end", "fixed", "mov r11, [rcx+64]",
           "mov r11, [rcx+72]", "accesses &srcs beyond its end"),
    Change("a source through a pointer of a fixed kernel", "fixed", "mov rsi, [rcx]", "mov rsi, [rcx+24]",
           "only good for prefetching"),
]  # fmt: skip

#: Neither refuted nor proved: for a proof, the position would have to advance in an iteration of its own.
UNKNOWN = [
    Change("a row is not stored", "rows", ROW1, "nop", "from start to end"),
    Change(
        "a part of a row is not stored", "parts", "vmovdqu [r11+rax+32], ymm0", "nop", "from start to end"
    ),
]


@cache
def lines(base: str) -> tuple[str, ...]:
    return tuple(disassemble(generate_one(SPECS[base]).code[Abi.SYSV]))


def prove(spec: KernelSpec, text: list[str], folder: Path) -> Report:
    contract = contract_of(spec, "sysv")
    fields = {name: getattr(contract, name) for name in Contract.__dataclass_fields__}
    unwound = Contract(**{**fields, "unwind": False})
    return prove_code(unwound, image("\n".join(text), folder), NAME, exhaustive=False)


def _name(change: Change) -> str:
    return f"{change.what} ({change.base})"


@pytest.mark.parametrize("base", SPECS)
def test_unchanged(base: str, tmp_path: Path) -> None:
    report = prove(SPECS[base], list(lines(base)), tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("change", WRONG, ids=_name)
def test_refuted(change: Change, tmp_path: Path) -> None:
    report = prove(SPECS[change.base], edit(list(lines(change.base)), change.old, change.new), tmp_path)
    assert (report.status, change.says in report.reason) == (Status.REFUTED, True), report


@pytest.mark.parametrize("change", UNKNOWN, ids=_name)
def test_not_proved(change: Change, tmp_path: Path) -> None:
    report = prove(SPECS[change.base], edit(list(lines(change.base)), change.old, change.new), tmp_path)
    assert (report.status, change.says in report.reason) == (Status.UNSUPPORTED, True), report


@pytest.mark.parametrize("abi", Abi, ids=lambda abi: str(abi.value))
@pytest.mark.parametrize("spec", [*SPECS.values(), KNOWN], ids=lambda spec: spec.symbol)
def test_as_it_ships(spec: KernelSpec, abi: Abi) -> None:
    """The kernels with their unwind tables, also with every length up to four blocks separately."""
    code = generate_one(spec).code[abi]
    exhaustive = spec is SPECS["block"]
    assert prove_code(contract_of(spec, abi.value), raw(NAME, code), NAME, exhaustive=exhaustive)


def test_a_pointer_of_a_known_matrix_beyond_the_end() -> None:
    """The last of the nine pointers is read at 64 bytes; its displacement is one byte."""
    code = generate_one(KNOWN).code[Abi.SYSV]
    read = bytes.fromhex("4c8b5940")  # mov r11, [rcx+64]
    assert code.count(read) == 1
    report = prove_code(contract_of(KNOWN, "sysv"), raw(NAME, code.replace(read, read[:3] + b"H")), NAME)
    assert report.status is Status.REFUTED and "accesses &srcs beyond its end" in report.reason


def test_pointers_that_advance_between_iterations(tmp_path: Path) -> None:
    text = edit(
        edit(list(lines("rows")), "mov rbx, rsi", "nop"), "xor eax, eax", "xor eax, eax\nmov rbx, rsi"
    )
    report = prove(SPECS["rows"], text, tmp_path)
    assert report.status is Status.REFUTED and "accesses &srcs beyond its end" in report.reason


def test_a_row_done_twice_instead_of_another(tmp_path: Path) -> None:
    """Line 1 is computed first, and again in place of line 0."""
    text = edit(list(lines("rows")), "vmovdqu8 zmm1, [r11+rax]", "vmovdqu8 zmm1, [r11+rax+64]")
    report = prove(SPECS["rows"], edit(text, "vmovdqu8 [r11+rax], zmm0", ROW1), tmp_path)
    assert report.status in (Status.REFUTED, Status.UNSUPPORTED), report
    assert "written" in report.reason or "from start to end" in report.reason


def test_a_kernel_that_is_not_pipelined_has_no_such_pointers(tmp_path: Path) -> None:
    """The same code under the contract of kernels.inc fails: its array ends with the sources."""
    spec = SPECS["rows"]
    contract = contract_of(spec, "sysv")
    fields = {name: getattr(contract, name) for name in Contract.__dataclass_fields__}
    plain = Contract(**{**fields, "unwind": False, "ahead": 0})
    report = prove_code(plain, image("\n".join(lines("rows")), tmp_path), NAME, exhaustive=False)
    assert report.status is Status.REFUTED and "accesses &srcs beyond its end" in report.reason
