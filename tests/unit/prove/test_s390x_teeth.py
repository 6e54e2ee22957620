"""Wrong s390x kernels are refuted for the right reason; so are randomly changed kernels that are wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.machine.s390x.architecture import S390x
from gfsmith.prove.verdict import Status
from tests.unit.prove.compiled import assembled, flips, listing, named, prove
from tests.unit.prove.s390x.targets import ASSEMBLER, CLANG

ISA, ABI = "vx", "s390x"
SPEC, KNOWN = named(ISA, "mad_1x1"), named(ISA, "dot_6x3_cauchy")
REACHED = named(ISA, "mad_1x6")  #: a kernel of which each instruction can be reached


@pytest.fixture(scope="module")
def text() -> str:
    return listing(SPEC, CLANG)


def _judge(text: str, folder: Path) -> Report:
    return prove(ABI)(assembled(text, folder, ASSEMBLER), SPEC)


_END = "\tlmg\t%r14, %r15, 112(%r15)\n\tbr\t%r14\n"
_RETURN = "\tbr\t%r14\n"
_TABLES = "\tvl\t%v0, 16(%r4)\n"
_REST = "\tahi\t%r0, -1\n"


def _before(line: str, *added: str) -> tuple[str, str]:
    return line, "".join(f"\t{each}\n" for each in added) + line


def _after(line: str, *added: str) -> tuple[str, str]:
    return line, line + "".join(f"\t{each}\n" for each in added)


#: Error -> the replaced text, its replacement, and the reason of the refutation.
WRONG: dict[str, tuple[tuple[str, str], str]] = {
    "tables exchanged": (("\tvperm\t%v3, %v1, %v1, %v3\n", "\tvperm\t%v3, %v0, %v0, %v3\n"), "byte 0 is"),
    "wrong nibble": (("\tvesrlb\t%v4, %v3, 4\n", "\tvesrlb\t%v4, %v3, 3\n"), "byte 0 is"),
    "signed nibble": (("\tvesrlb\t%v4, %v3, 4\n", "\tvesrab\t%v4, %v3, 7\n"), "byte 0 is"),
    "product of zero": (("\tvx\t%v2, %v3, %v2\n", "\tvx\t%v2, %v3, %v3\n"), "byte 0 is"),
    "a vector too far": (("\tvst\t%v3, 16(%r4,%r3)\n", "\tvst\t%v3, 32(%r4,%r3)\n"), "byte"),
    "a block too many": (("\taghi\t%r5, -2\n", "\taghi\t%r5, -1\n"), "beyond its end"),
    "a block too early": (("\taghik\t%r0, %r2, -64\n", "\taghik\t%r0, %r2, -48\n"), "beyond its end"),
    "one bit tested": (("\ttmll\t%r0, 64\n", "\ttmll\t%r0, 32\n"), "beyond its end|only"),
    "no tail": (("\tclgrjhe\t%r4, %r2, .LBB0_18\n", "\tj\t.LBB0_18\n"), "only"),
    "tail too long": ((_REST, ""), "beyond its end"),
    "tail too short": ((_REST, "\tahi\t%r0, -2\n"), "beyond its end|only"),
    "r6 is lost": (_before(_END, "lghi %r6, 0"), "r6 is not preserved"),
    "r7 is lost": (_before(_END, "lghi %r7, 0"), "r7 is not preserved"),
    "r13 is lost": (_before(_END, "la %r13, 1(%r13)"), "r13 is not preserved"),
    "r14 is not restored": ((_END, _RETURN), "r14 is not the return address"),
    "r15 is moved": (_before(_RETURN, "aghi %r15, -160"), "r15 differs from its value on entry"),
    "r15 is misaligned": (_before(_RETURN, "aghi %r15, -4", "aghi %r15, 4"), "no multiple of 8"),
    "r15 is raised": (_before(_RETURN, "aghi %r15, 160", "aghi %r15, -160"), "to signal handlers"),
    "f8 is lost": (_before(_END, "vzero %v8"), "v8 is not preserved"),
    "f15 is lost": (_before(_END, "vlr %v15, %v16"), "v15 is not preserved"),
    "back chain": (_before(_END, "stg %r2, 0(%r15)"), "caller's frame"),
    "above the save area": (_before(_END, "stg %r2, 160(%r15)"), "caller's frame"),
    "below the stack pointer": (_before(_END, "stg %r2, -8(%r15)"), "signal handler"),
    "return address overwritten": (_before(_END, "stg %r2, 112(%r15)"), "r14 is not the return address"),
    "branch on data": (_after(_TABLES, "lg %r5, 0(%r4)", "cgije %r5, 0, .LBB0_18"), "depends on r5"),
    "condition code of data": (_after(_TABLES, "lg %r5, 0(%r4)", "ltgr %r5, %r5"), "depends on r5"),
    "address from data": (_after(_TABLES, "lg %r5, 0(%r4)", "lg %r5, 0(%r5)"), "depends on r5"),
    "sum with data": (_after(_TABLES, "ag %r5, 0(%r4)"), "depends on memory"),
    "count from data": ((_REST, "\tlg\t%r0, 0(%r1)\n"), "depends on r0"),
    "prefetch by data": (_after(_TABLES, "lg %r5, 0(%r4)", "pfd 1, 0(%r5)"), "depends on r5"),
    "branch on a saved register": (_after(_TABLES, "cgije %r7, 0, .LBB0_18"), "depends on entry_r7"),
    "store to a source": (("\tvstl\t%v0, %r0, 0(%r3)\n", "\tvstl\t%v0, %r0, 0(%r1)\n"), "not to a dest"),
    "a pointer as data": (_before(_END, "mvc 0(8,%r3), 0(%r6)"), "writes a number or pointer"),
    "beyond the pointers": (_after(_TABLES, "lg %r5, 8(%r6)"), "beyond its end"),
}


def test_the_kernel_is_proved(text: str, tmp_path: Path) -> None:
    """The kernel from which the mutants are made; registers that it may change do not matter."""
    line, by = _before(_END, "vzero %v16", "lghi %r0, 0", "lghi %r5, 1", "vzero %v7", "stg %r2, 16(%r15)")
    for changed in (text, text.replace(line, by, 1)):
        report = _judge(changed, tmp_path)
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
    "lgr %r0, %r1\n\tbasr %r14, %r1": "no semantics",
    "vlvgg %v2, %r2, 0": "no semantics",
    "risbgn %r0, %r2, 60, 63, 0": "inserts bits",
    "mvc 32(16,%r15), 32(%r15)": "other than 8 bytes",
    "stg %r7, 16(%r15)\n\tvl %v2, 16(%r15)": "saved number|put nothing",
    "agr %r3, %r1\n\tje .LBB0_18": "condition code that is not known",
    "agr %r3, %r1\n\tjo .LBB0_18": "condition code that is not known",
    "svc 1": "no semantics",
    ".short 0": "0000",
}


@pytest.mark.parametrize("line", UNKNOWN)
def test_unknown_instructions_are_not_proved(line: str, text: str, tmp_path: Path) -> None:
    report = _judge(text.replace(_TABLES, f"{_TABLES}\t{line}\n", 1), tmp_path)
    assert report.status is not Status.PROVED
    assert re.search(UNKNOWN[line], report.reason), report.reason


def test_a_loop_over_the_low_half_of_a_length_ends_the_proof(tmp_path: Path) -> None:
    """A comparison of 32 bits depends on the sign of a number with a loop's counter, which splits no path."""
    spec = named(ISA, "mad_nx6")
    wrong, changes = re.subn(r"\tclgijle\t%r0, 15,", "\tclijle\t%r0, 15,", listing(spec, CLANG))
    assert changes == 1
    report = prove(ABI, 3000)(assembled(wrong, tmp_path, ASSEMBLER), spec)
    assert (report.status, "depends on the sign of" in report.reason) == (Status.UNSUPPORTED, True), report


def test_vectors_need_their_feature(text: str, tmp_path: Path) -> None:
    contract = contract_of(SPEC, ABI)
    older = replace(contract, features=())
    report = prove_code(older, assembled(text, tmp_path, ASSEMBLER), SPEC.symbol)
    assert (report.status, "needs VX" in report.reason) == (Status.REFUTED, True), report.reason


def test_constants_are_read_through_relocations(tmp_path: Path) -> None:
    text = listing(KNOWN, CLANG)
    first, other = re.findall(r"larl\t%r\d+, (\.LCPI\d+_\d+)\n", text)[:2]
    proved = prove(ABI)(assembled(text, tmp_path, ASSEMBLER), KNOWN)
    assert proved.status is Status.PROVED, proved.reason
    exchanged = text.replace(f", {first}\n", f", {other}\n")
    missing = text.replace(f", {first}\n", ", elsewhere\n")
    report = prove(ABI)(assembled(exchanged, tmp_path, ASSEMBLER), KNOWN)
    assert (report.status, "must be" in report.reason) == (Status.REFUTED, True), report.reason
    report = prove(ABI)(assembled(missing, tmp_path, ASSEMBLER), KNOWN)
    assert (report.status, "depends on elsewhere" in report.reason) == (Status.UNSUPPORTED, True), report


#: Place of an instruction -> the reason why a kernel with a flipped bit there is equally right.
EQUIVALENT: dict[int, str] = {}


def test_flipped_bits(tmp_path: Path) -> None:
    """No kernel with a random bit of an instruction flipped is proved, except the equivalent ones."""
    image = assembled(listing(REACHED, CLANG), tmp_path, ASSEMBLER)
    outcomes, proved = flips(image, REACHED, S390x(), prove(ABI, 10_000), every=3)
    assert proved == set(EQUIVALENT)
    assert outcomes[Status.REFUTED] > 5
