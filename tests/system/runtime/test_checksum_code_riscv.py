"""The compiled checksum functions of RISC-V with Zbc: proved from the code of three compilers, and errors in
it."""

from __future__ import annotations

import pytest

from gfsmith.prove.checksum.machine import FEATURES, functions
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.verdict import Status
from tests.support import checksum_routines
from tests.system.runtime.compiled_checksums import Change, Functions, flipped, image_of

ROUTINES = functions(routine for routine in checksum_routines.ROUTINES if routine.set == "zbc")
FUNCTIONS = Functions("lp64d", ROUTINES)
COMPILERS = {
    "clang-19": ("clang-19", "--target=riscv64-linux-gnu"),
    "clang-14": ("clang-14", "--target=riscv64-linux-gnu"),
    "gcc": ("riscv64-linux-gnu-gcc",),
}
NOP, SHORT_NOP = 0x00000013, 0x0001
_OTHER = r"\(x(?!2\)|10\))"  #: a base that is not the stack pointer, nor the table's address
image = image_of("riscv", COMPILERS)


@pytest.mark.parametrize("symbol", ROUTINES)
def test_proved(image: Image, symbol: str) -> None:
    report = FUNCTIONS.prove(symbol, image)
    assert report.status is Status.PROVED, report.reason
    assert report.covered == report.instructions


@pytest.mark.parametrize(("feature", "other"), [("ZBB", "ZBC"), ("ZBC", "ZBB")])
def test_no_extension_is_used_without_its_feature(
    image: Image, feature: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FEATURES, "zbc", (other,))
    report = FUNCTIONS.prove("gfs_reduce_normal__zbc", image)
    assert report.status is Status.REFUTED and f"needs {feature}" in report.reason


def _moved(word: int) -> int:
    """Make addi of 0 of an instruction with one source."""
    return word & 0x000F8F80 | NOP


def _twice(word: int) -> int:
    """Double the number of addi."""
    return word & 0xFFFFF | 2 * word & 0xFFF00000


def _sized(whole: Change, short: Change) -> Change:
    """Return the change of an instruction of 4 bytes, and of a compressed one."""
    return lambda word: whole(word) if word & 3 == 3 else short(word)


#: Errors: a pattern of the instructions in which one is made, and the change of the encoding (Unprivileged
#: ISA, chapters 16, 28 and 37).
WRONG: dict[str, tuple[str, Change]] = {
    "the other half of a product": (r"clmulh? ", flipped(13)),
    "another factor": (r"clmul ", flipped(20)),
    "a missing product": (r"clmulh ", lambda word: NOP),
    "constants of another distance": (r"ld x\d+,\d+\(x10\)", flipped(24)),
    "the other word of constants": (r"ld x\d+,\d+\(x10\)", flipped(23)),
    "data of another place": (r"ld x\d+,\d+" + _OTHER, flipped(24)),
    "data a byte further": (r"ld x\d+,\d+" + _OTHER, flipped(20)),
    "a result in another place": (r"sd x\d+,\d+" + _OTHER, flipped(10)),
    "a sum without a summand": (r"(c\.)?xor ", _sized(lambda word: NOP, lambda word: SHORT_NOP)),
    "bytes in their order": (r"rev8 ", _moved),
    "a shift by another number of bits": (r"(c\.)?srli ", _sized(flipped(20), flipped(2))),
    "a step twice as long": (r"addi (x\d+),\1,\d+$", _twice),
    "the other way of a branch": (r"(c\.)?(beq|bne|blt|bge)", _sized(flipped(12), flipped(13))),
}


@pytest.mark.parametrize("error", WRONG)
def test_errors_are_refuted(image: Image, error: str) -> None:
    """Some errors make code that the prover cannot follow to its end."""
    found = FUNCTIONS.with_errors(image, *WRONG[error])
    assert found[Status.REFUTED] > found[Status.UNSUPPORTED]
