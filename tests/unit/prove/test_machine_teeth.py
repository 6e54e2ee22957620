"""The machine-code proof rejects wrong kernels: one error each, for every check of the proof."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from gfsmith.build.generate import generate_one
from gfsmith.build.prove_kernels import shipped
from gfsmith.emit.x86.frame import Abi
from gfsmith.kernel.spec import KernelSpec, Store
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.specs import NARROW, make_spec
from tests.unit.prove.assembly import NAME, disassemble, edit, image
from tests.unit.prove.wrong import FINE, UNKNOWN, WRONG, Change

SPECS = {
    "dot": make_spec("dot", 2, 1, "avx2", unroll=1),
    "any": make_spec("dot", None, 1, "sse", unroll=1),
    "pairs": make_spec("dot", None, 2, "gfni_avx512", unroll=1),
    "horner": make_spec("horner", None, 3, "avx2", unroll=1),
    "shuffle": make_spec("horner", None, 2, "avx512", unroll=1),
    "mul": make_spec("mul", None, 1, "sse", unroll=1),
    "mad": make_spec("mad", 1, 1, "gfni_avx512", unroll=1),
    "narrow": make_spec("mad", 1, 1, NARROW[0], unroll=1),
    "fft": make_spec("fft", 4, 4, "gfni_avx512", unroll=1),
    "ifft": make_spec("ifft", 2, 2, "gfni_avx512", unroll=1),
    "fft4": make_spec("fft4", 8, 8, "gfni_avx512", unroll=1),
    "ifft4": make_spec("ifft4", 4, 4, "gfni_avx512", unroll=1),
    "fft16": make_spec("fft16", 16, 16, "gfni_avx512", unroll=1),
    "ifft16": make_spec("ifft16", 16, 16, "gfni_avx512", unroll=1),
    "refft16": make_spec("refft16", 16, 16, "gfni_avx512", unroll=1),
    "from lines": make_spec("ifft4lines", 8, 8, "gfni_avx2", unroll=1),
    "to lines": make_spec("fft4lines", 8, 8, "gfni_avx2", unroll=1),
    "products from lines": make_spec("ifft4scaled", 8, 8, "gfni_avx2", unroll=1),
    "products to lines": make_spec("fft4scaled", 8, 8, "gfni_avx2", unroll=1),
    "from two lines": make_spec("ifft4lines", 8, 8, "gfni_avx512", unroll=1),
    "to two lines": make_spec("fft4lines", 8, 8, "gfni_avx512", unroll=1),
    "products": make_spec("ifft4scaled", 4, 4, "gfni_avx512", unroll=1),
    "products behind": make_spec("fft4scaled", 4, 4, "gfni_avx512", unroll=1),
    "stream": make_spec("xor", 2, 1, "avx2", unroll=1, store=Store.STREAMING),
}


@cache
def lines(base: str, abi: str) -> tuple[str, ...]:
    return tuple(disassemble(generate_one(SPECS[base]).code[Abi(abi)]))


def prove(spec: KernelSpec, abi: str, text: list[str], folder: Path, unwind: bool = False) -> Report:
    contract = replace(shipped(spec, abi), unwind=unwind)
    return prove_code(contract, image("\n".join(text), folder), NAME, exhaustive=False)


def answer(change: Change, folder: Path) -> Report:
    text = edit(list(lines(change.base, change.abi)), change.old, change.new, change.nth)
    return prove(SPECS[change.base], change.abi, text, folder)


def _name(change: Change) -> str:
    return f"{change.what} ({change.base}, {change.abi})"


@pytest.mark.parametrize("abi", ["sysv", "ms"])
@pytest.mark.parametrize("base", SPECS)
def test_unchanged(base: str, abi: str, tmp_path: Path) -> None:
    report = prove(SPECS[base], abi, list(lines(base, abi)), tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("change", WRONG, ids=_name)
def test_refuted(change: Change, tmp_path: Path) -> None:
    report = answer(change, tmp_path)
    assert (report.status, change.says in report.reason) == (Status.REFUTED, True), report


@pytest.mark.parametrize("change", UNKNOWN, ids=_name)
def test_unsupported(change: Change, tmp_path: Path) -> None:
    report = answer(change, tmp_path)
    assert (report.status, change.says in report.reason) == (Status.UNSUPPORTED, True), report


@pytest.mark.parametrize("change", FINE, ids=_name)
def test_still_proved(change: Change, tmp_path: Path) -> None:
    report = answer(change, tmp_path)
    assert report.status is Status.PROVED, report.reason


#: Steps of a loop that takes pairs of sources from the last one on, of which the kernel's constants prevent
#: an edit as text: sub r10, 16; cmp r10, -8; jne; mov r11, [rcx+r10+8].
_STEP, _ONE_LEFT, _PAIR = "4983ea10", "4983faf875", "4e8b5c1108"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (_STEP, "4983ea08", "beyond its end"),
        (_ONE_LEFT, "4983faf874", "beyond its end"),
        (_ONE_LEFT, "4983faf075", "beyond its end"),
        (_PAIR, "4e8b5c1110", "beyond its end"),
        (_PAIR, "4e8b5c1100", "must be"),
    ],
)
def test_pairs_from_the_last_source(old: str, new: str, says: str) -> None:
    spec = make_spec("horner", None, 2, "gfni_avx512", unroll=1)
    code, wrong = generate_one(spec).code[Abi.SYSV], bytes.fromhex(new)
    assert len(old) == len(new) and bytes.fromhex(old) in code
    contract = replace(contract_of(spec, "sysv"), unwind=False)
    assert prove_code(contract, raw(NAME, code), NAME, exhaustive=False)
    report = prove_code(
        contract, raw(NAME, code.replace(bytes.fromhex(old), wrong, 1)), NAME, exhaustive=False
    )
    assert report.status is not Status.PROVED and says in report.reason, report


def test_the_order_of_the_sources_is_proved(tmp_path: Path) -> None:
    contract = contract_of(SPECS["horner"], "sysv")
    assert contract.descending
    code = image("\n".join(lines("horner", "sysv")), tmp_path)
    other = replace(contract, descending=False, unwind=False)
    report = prove_code(other, code, NAME, exhaustive=False)
    assert (report.status, "must be" in report.reason) == (Status.REFUTED, True), report


def test_narrow_evex_needs_the_declared_features(tmp_path: Path) -> None:
    contract = contract_of(SPECS["narrow"], "sysv")
    without = tuple(feature for feature in contract.features if feature != "AVX512VL")
    assert without != contract.features
    code = image("\n".join(lines("narrow", "sysv")), tmp_path)
    report = prove_code(replace(contract, features=without, unwind=False), code, NAME, exhaustive=False)
    assert (report.status, "AVX512VL" in report.reason) == (Status.REFUTED, True), report


PUSH = "push rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0"
POP = "pop rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbx"


@pytest.mark.parametrize(
    "push, pop, right",
    [
        (PUSH, POP, True),
        ("push rbx", "pop rbx", False),
        (PUSH.replace("8", "16"), POP.replace("8", "16"), False),
        (PUSH.replace("rbx, 0", "r12, 0"), POP, False),
        (PUSH, "pop rbx", False),
    ],
)
def test_unwind_information(push: str, pop: str, right: bool, tmp_path: Path) -> None:
    text = edit(edit(list(lines("mul", "sysv")), "push rbx", push), "pop rbx", pop)
    report = prove(SPECS["mul"], "sysv", [".cfi_startproc", *text, ".cfi_endproc"], tmp_path, unwind=True)
    assert (report.status is Status.PROVED, "unwind" in report.reason) == (right, not right), report


@pytest.mark.parametrize("operation", ["dot", "mad", "mul", "xor", "horner"])
@pytest.mark.parametrize("isa", ["gfni_avx512", "avx512"])
def test_masked_tails_are_proved_at_once_and_one_by_one(isa: str, operation: str) -> None:
    """Both methods agree, and the first does not fall back to the second."""
    spec = make_spec(operation, None, 2 if operation == "horner" else 1, isa, unroll=1)
    contract = contract_of(spec, "sysv")
    code = generate_one(spec).code[Abi.SYSV]
    at_once = prove_code(contract, raw(NAME, code), NAME, exhaustive=False)
    one_by_one = prove_code(replace(contract, tail=None), raw(NAME, code), NAME, exhaustive=False)
    assert at_once.status is Status.PROVED, at_once.reason
    assert one_by_one.status is Status.PROVED, one_by_one.reason
    assert 4 * at_once.steps < one_by_one.steps
