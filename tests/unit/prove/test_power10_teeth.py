"""Wrong POWER10 kernels are refuted for the right reason; so are randomly changed kernels that are wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.prove.machine.power.architecture import Power
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.unit.prove.compiled import assembled, flips, listing, named, prove
from tests.unit.prove.power.targets import ASSEMBLER_10, CLANG

ISA, ABI = "vsx_p10", "elfv2"
SPEC = named(ISA, "xor_3x1")
REACHED = named(ISA, "mad_1x6")  #: a kernel of which each instruction can be reached


@pytest.fixture(scope="module")
def text() -> str:
    return listing(SPEC, CLANG)


def _judge(text: str, folder: Path) -> Report:
    return prove(ABI)(assembled(text, folder, ASSEMBLER_10), SPEC)


_RETURN = "\tblr\n"
_COUNT = "\tsldi 3, 7, 56\n"
_SUM = "\txxeval 34, 34, 35, 40, 105\n"
_STORE = "\tstxvx 34, 4, 5\n"
_PART = "\tstxvl 0, 4, 3\n"
#: xxeval 34, 34, 35, 40, 105 at the end of 64 bytes, where the assembler would insert a nop.
_CROSSING = "\t.p2align 6\n" + "\tnop\n" * 15 + "\t.long 0x05000069\n\t.long 0x8842421d\n"


def _before(line: str, *added: str) -> tuple[str, str]:
    return line, "".join(f"\t{each}\n" for each in added) + line


#: Error -> the replaced text, its replacement, and the reason of the refutation.
WRONG: dict[str, tuple[tuple[str, str], str]] = {
    "one source twice": ((_SUM, "\txxeval 34, 34, 34, 40, 105\n"), "byte 0 is"),
    "sum of two": ((_SUM, "\txxlxor 34, 34, 35\n"), "byte 0 is"),
    "halves exchanged": ((_STORE, "\tstxvd2x 34, 4, 5\n"), "byte 0 is"),
    "halves loaded exchanged": (("\tlxvx 34, 8, 5\n", "\tlxvd2x 34, 8, 5\n"), "byte 0 is"),
    "a vector too far": (("\tlxv 39, 112(12)\n", "\tlxv 39, 128(12)\n"), "beyond its end|byte"),
    "a block too many": (("\taddi 7, 3, -64\n", "\taddi 7, 3, -32\n"), "beyond its end|only"),
    "no tail": (("\tbge 0, .LBB0_14\n", "\tb .LBB0_14\n"), "only"),
    "tail too long": (_before(_COUNT, "addi 7, 7, 1"), "beyond its end"),
    "tail too short": (_before(_COUNT, "addi 7, 7, -1"), "only"),
    "the count not shifted": ((_COUNT, "\tmr 3, 7\n"), "only"),
    "store of one byte more": (
        _before(_PART, "lis 8, 256", "sldi 8, 8, 32", "add 3, 3, 8"),
        "beyond its end",
    ),
    "the count of data": ((_COUNT, "\tmfvsrd 3, 34\n"), "depends on r3"),
    "store to a source": ((_PART, "\tstxvl 0, 8, 3\n"), "not to a destination"),
    "bytes that are not stored": (_before(_PART, "xxspltib 0, 1"), "is 0x01"),
    "r29 is not restored": (("\tld 29, -24(1)", "\t#"), "r29 is not preserved"),
    "r2 is lost": (_before(_RETURN, "li 2, 0"), "r2 does not hold entry_r2"),
    "f31 is lost": (_before(_RETURN, "xxspltib 31, 0"), "vs31 is not preserved"),
    "v20 is lost": (_before(_RETURN, "xxeval 52, 32, 33, 34, 105"), "vs52 is not preserved"),
    "across a boundary": ((_SUM, _CROSSING), "crosses a multiple of 64"),
}


def test_the_kernel_is_proved(text: str, tmp_path: Path) -> None:
    report = _judge(text, tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_refuted(name: str, text: str, tmp_path: Path) -> None:
    (line, by), reason = WRONG[name]
    assert line in text
    report = _judge(text.replace(line, by, 1), tmp_path)
    assert report.status is Status.REFUTED, report.reason
    assert re.search(reason, report.reason), report.reason


#: Instructions without a meaning -> a part of the reason.
UNKNOWN = {
    "xxeval 34, 34, 35, 40, 150": "another function",
    "plxv 34, 0(8)": r"\.long 0x04",
    "pld 9, 0(6)": r"\.long 0x04",
    "paddi 9, 9, 1": r"\.long 0x06",
    "lxvp 34, 0(8)": r"\.long|no semantics",
    "vpermr 2, 2, 3, 4": r"\.long|no semantics",
}


@pytest.mark.parametrize("line", UNKNOWN)
def test_unknown_instructions_are_not_proved(line: str, text: str, tmp_path: Path) -> None:
    report = _judge(text.replace(_SUM, f"{_SUM}\t{line}\n", 1), tmp_path)
    assert report.status is Status.UNSUPPORTED, report.reason
    assert re.search(UNKNOWN[line], report.reason), report.reason


@pytest.mark.parametrize("features", [("VSX207",), ("VSX207", "VSX300")])
def test_newer_instructions_need_their_feature(features: tuple[str, ...], text: str, tmp_path: Path) -> None:
    contract = contract_of(SPEC, ABI)
    older = replace(contract, features=features)
    report = prove_code(older, assembled(text, tmp_path, ASSEMBLER_10), SPEC.symbol)
    needed = "needs VSX310" if "VSX300" in features else "needs VSX300"
    assert (report.status, needed in report.reason) == (Status.REFUTED, True), report.reason


def test_prefixed_instructions_need_an_aligned_section(text: str, tmp_path: Path) -> None:
    """In a section that is no multiple of 64 bytes, an instruction of eight bytes may cross a boundary."""
    image = assembled(text, tmp_path, ASSEMBLER_10)
    pieces = tuple(piece._replace(alignment=16) for piece in image.pieces)
    report = prove(ABI)(replace(image, pieces=pieces), SPEC)
    assert (report.status, "not aligned" in report.reason) == (Status.REFUTED, True), report.reason


#: Place of an instruction -> the reason why a kernel with a flipped bit there is equally right.
EQUIVALENT = {
    460: "the bit that bdnz encodes and does not test",
    476: "a hint of a branch",
    656: "an address that no second iteration uses",
}


def test_flipped_bits(tmp_path: Path) -> None:
    """No kernel with a random bit of an instruction flipped is proved, except the equivalent ones."""
    image = assembled(listing(REACHED, CLANG), tmp_path, ASSEMBLER_10)
    outcomes, proved = flips(image, REACHED, Power(), prove(ABI, 10_000), every=4)
    assert proved == set(EQUIVALENT)
    assert outcomes[Status.REFUTED] > 10
