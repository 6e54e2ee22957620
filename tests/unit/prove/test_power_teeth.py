"""Wrong POWER kernels are refuted for the right reason; so are randomly changed kernels that are wrong."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from gfsmith.prove.machine.contract import Contract, Layout
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.power.decode import decode
from gfsmith.prove.machine.prove import Report, prove_code
from gfsmith.prove.verdict import Status
from tests.unit.prove.aarch64.compile import NAME, assemble
from tests.unit.prove.compiled import flipped
from tests.unit.prove.power.targets import ASSEMBLER

HERE = Path(__file__).parent
TEXT = (HERE / "power" / "dot_2x1.s").read_text(encoding="utf-8")
CONTRACT = Contract(
    operation="dot",
    inputs=2,
    outputs=1,
    layout=Layout("permxor", 32, 1),
    parameters=("len", "k", "coeffs", "src", "dst"),
    abi="elfv2",
    features=("VSX207",),
    in_place=False,
    block=16,
    vector=16,
    unwind=False,
    reach_all=False,
)


def prove(image: Image, steps: int = 100_000) -> Report:
    return prove_code(CONTRACT, image, NAME, exhaustive=False, max_steps=steps)


def test_the_kernel_is_proved(tmp_path: Path) -> None:
    """The kernel from which the mutants below are made, with run-time-unrolled and counted loops."""
    report = prove(assemble(TEXT, tmp_path, ASSEMBLER))
    assert report.status is Status.PROVED, report.reason


def test_newer_instructions_are_refuted(tmp_path: Path) -> None:
    older = Contract(**{f: getattr(CONTRACT, f) for f in CONTRACT.__slots__} | {"features": ()})
    report = prove_code(older, assemble(TEXT, tmp_path, ASSEMBLER), NAME)
    assert (report.status, "needs VSX207" in report.reason) == (Status.REFUTED, True), report.reason


_RETURN = "    blr\n"
_LOAD = "    lxvd2x 32, 8, 7\n"
#: Error -> the replaced line, its replacement, and the reason of the refutation.
WRONG = {
    "tables exchanged": ("    vpermxor 0, 3, 2, 0\n", "    vpermxor 0, 2, 3, 0\n", "must be low"),
    "one source twice": ("    xxlxor 0, 33, 32\n", "    xxlxor 0, 32, 32\n", "is 0x00, must be"),
    "table of another source": ("    vpermxor 1, 5, 4, 1\n", "    vpermxor 1, 3, 2, 1\n", "must be low"),
    "halves exchanged": ("    stxvd2x 0, 4, 7\n", "    xxswapd 0, 0\n    stxvd2x 0, 4, 7\n", "byte 0 is"),
    "a vector too far": ("    addi 7, 7, 1\n", "    addi 7, 7, 2\n", "beyond its end"),
    "a block too many": ("    addi 7, 7, -4\n", "    addi 7, 7, 0\n", "beyond its end"),
    "half the last block": ("    sub 11, 3, 7\n", "    addi 11, 3, -16\n", "only|beyond|before"),
    "no tail": ("    bge 0, .L27\n", "    b .L27\n", "only"),
    "tail too wide": ("    cmpldi 1, 11, 7\n", "    cmpldi 1, 11, 6\n", "beyond its end|before its first"),
    "r14 is lost": (_RETURN, "    li 14, 0\n    blr\n", "r14 is not preserved"),
    "r13 is lost": (_RETURN, "    li 13, 0\n    blr\n", "r13 is not preserved"),
    "r2 is lost": (_RETURN, "    li 2, 0\n    blr\n", "r2 does not hold entry_r2"),
    "r28 is not restored": ("    ld 28, -32(1)\n", "", "r28 is not preserved"),
    "f31 is lost": (_RETURN, "    xxlxor 31, 31, 31\n    blr\n", "vs31 is not preserved"),
    "v20 is lost": (_RETURN, "    xxlxor 52, 52, 52\n    blr\n", "vs52 is not preserved"),
    "cr2 is lost": (_RETURN, "    cmpdi 2, 3, 0\n    blr\n", "cr2 is not preserved"),
    "a bit of cr4 is lost": (_RETURN, "    crxor 16, 16, 16\n    blr\n", "cr4lt is not preserved"),
    "lr is lost": (_RETURN, "    mtlr 3\n    blr\n", "lr is not the return address"),
    "r1 is moved": (_RETURN, "    stdu 1, -32(1)\n    blr\n", "r1 differs from its value on entry"),
    "no back chain": (_RETURN, "    addi 1, 1, -32\n    addi 1, 1, 32\n    blr\n", "back chain"),
    "r1 is misaligned": (_RETURN, "    stdu 1, -40(1)\n    addi 1, 1, 40\n    blr\n", "no multiple of 16"),
    "beyond the protected zone": ("    std 28, -32(1)\n", "    std 28, -296(1)\n", "signal handler"),
    "the caller's frame": ("    std 28, -32(1)\n", "    std 28, 24(1)\n", "caller's frame"),
    "branch on data": (_LOAD, f"{_LOAD}    mfvsrd 5, 32\n    cmpdi 5, 0\n    beqlr\n", "depends on r5"),
    "address from data": (
        "    xxswapd 1, 0\n",
        "    mffprd 9, 0\n    ldx 9, 6, 9\n    xxswapd 1, 0\n",
        "depends",
    ),
    "store to a source": ("    stxvd2x 0, 4, 7\n", "    stxvd2x 0, 8, 7\n", "not to a destination"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_refuted(name: str, tmp_path: Path) -> None:
    line, by, reason = WRONG[name]
    assert line in TEXT
    report = prove(assemble(TEXT.replace(line, by, 1), tmp_path, ASSEMBLER))
    assert report.status is Status.REFUTED, report.reason
    assert re.search(reason, report.reason), report.reason


FRAMED = """
    mflr 0
    std 0, 16(1)
    stdu 1, -64(1)
    std 31, 56(1)
    li 31, 32
    stxvd2x 63, 1, 31
    xxlxor 63, 63, 63
    lxvd2x 63, 1, 31
    ld 31, 56(1)
    addi 1, 1, 64
    ld 0, 16(1)
    mtlr 0
"""


def test_frames_are_understood(tmp_path: Path) -> None:
    report = prove(assemble(TEXT.replace(_RETURN, FRAMED + _RETURN), tmp_path, ASSEMBLER))
    assert report.status is Status.PROVED, report.reason


def test_unknown_instructions_are_not_proved(tmp_path: Path) -> None:
    for line, reason in (
        ("bl kernel", "bl"),
        ("mfcr 12", "no semantics"),
        ("vmrghb 0, 1, 2", "no semantics"),
        ("vperm 0, 0, 1, 2", "in two tables"),
        ("bc 5, 2, .+4", "bne"),  # with a reserved hint
        ("bc 17, 0, .+4", "bdnz"),
    ):
        report = prove(assemble(TEXT.replace(_RETURN, f"    {line}\n{_RETURN}"), tmp_path, ASSEMBLER))
        assert (report.status, reason in report.reason) == (Status.UNSUPPORTED, True), report.reason


#: Place of an instruction -> the reason why a kernel with a flipped bit there is equally right.
EQUIVALENT = {
    112: "a jump that no remaining number of vectors reaches",
    272: "the bit that bdnz encodes and does not test",
    528: "the half of a vector that is not stored",
}
_EVERY = 4  #: every fourth instruction is changed, to save time


def test_flipped_bits(tmp_path: Path) -> None:
    """No kernel with a random bit of an instruction flipped is proved, except the equivalent ones."""
    image = assemble(TEXT, tmp_path, ASSEMBLER)
    function, rng = image.functions[NAME], Random(6)
    code = image.read(function.address, function.size)
    assert code is not None
    outcomes: Counter[Status] = Counter()
    proved = set()
    for place in range(0, len(code), 4):
        found = decode(code[place : place + 4], function.address + place)
        if found is None or found.form == "nop":
            continue
        bit = rng.randrange(26)
        if place // 4 % _EVERY == 0:
            report = prove(flipped(image, NAME, place + bit // 8, bit % 8), 10_000)
            outcomes[report.status] += 1
            proved |= {place} if report.status is Status.PROVED else set()
    assert proved == set(EQUIVALENT)
    assert outcomes[Status.REFUTED] > 15
