"""The compiled checksum functions of POWER8: proved from the code of two compilers, and errors in it."""

from __future__ import annotations

import pytest

from gfsmith.prove.checksum.machine import functions
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.verdict import Status
from tests.support import checksum_routines
from tests.system.runtime.compiled_checksums import Change, Functions, flipped, image_of

ROUTINES = functions(routine for routine in checksum_routines.ROUTINES if routine.set == "vpmsumd")
FUNCTIONS = Functions("elfv2", ROUTINES)
COMPILERS = {
    "clang-19": ("clang-19", "--target=powerpc64le-linux-gnu"),
    "gcc": ("powerpc64le-linux-gnu-gcc",),
}
NOP = 0x60000000
image = image_of("power", COMPILERS)


@pytest.mark.parametrize("symbol", ROUTINES)
def test_proved(image: Image, symbol: str) -> None:
    report = FUNCTIONS.prove(symbol, image)
    assert report.status is Status.PROVED, report.reason


def _twice(word: int) -> int:
    """Double the number of addi."""
    return word & ~0xFFFF | 2 * word & 0xFFFF


#: Additions of numbers that no linker replaces: those are far greater.
_ADDI = r"addi r\d+, r\d+, (\d|0x[0-9a-f]{2})$"
#: Errors: a pattern of the instructions in which one is made, and the change of the encoding (Power ISA).
WRONG: dict[str, tuple[str, Change]] = {
    "another factor": (r"vpmsumd ", flipped(11)),
    "a missing product": (r"vpmsumd ", lambda word: NOP),
    "constants or data of another place": (r"li ", flipped(4)),
    "data of another place": (_ADDI, flipped(4)),
    "a sum without a summand": (r"xxlxor ", lambda word: NOP),
    "words in their order": (r"xxswapd ", lambda word: word ^ 0x300),
    "bytes in their order": (r"vperm ", lambda word: NOP),
    "a shift by another number of bits": (r"sldi |rldicl |rldimi ", flipped(11)),
    "a step twice as long": (_ADDI, _twice),
    "the other way of a branch": (r"(beq|bne)", flipped(24)),
    "the other end of a loop": (r"(bdnz|bdz) ", flipped(22)),
}


@pytest.mark.parametrize("error", WRONG)
def test_errors_are_refuted(image: Image, error: str) -> None:
    """Some errors make code that the prover cannot follow to its end."""
    found = FUNCTIONS.with_errors(image, *WRONG[error])
    assert found[Status.REFUTED] > found[Status.UNSUPPORTED]
