"""The compiled checksum functions of AArch64: proved from the code of two compilers, and errors in it."""

from __future__ import annotations

import pytest

from gfsmith.prove.checksum.machine import functions
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.verdict import Status
from tests.support import checksum_routines
from tests.system.runtime.compiled_checksums import Change, Functions, flipped, image_of

ROUTINES = functions(routine for routine in checksum_routines.ROUTINES if routine.set in ("pmull", "crc"))
FUNCTIONS = Functions("aapcs64", ROUTINES)
COMPILERS = {
    "clang-19": ("clang-19", "--target=aarch64-linux-gnu"),
    "gcc": ("aarch64-linux-gnu-gcc",),
}
NOP = 0xD503201F
image = image_of("aarch64", COMPILERS)


@pytest.mark.parametrize("symbol", ROUTINES)
def test_proved(image: Image, symbol: str) -> None:
    report = FUNCTIONS.prove(symbol, image)
    assert report.status is Status.PROVED, report.reason
    assert report.covered == report.instructions


def _twice(word: int) -> int:
    """Double the immediate of an addition."""
    immediate = word >> 10 & 0xFFF
    return word & ~(0xFFF << 10) | (2 * immediate & 0xFFF) << 10


#: Errors: a pattern of the instructions in which one is made, and the change of the encoding (Arm ARM, C4.1).
WRONG: dict[str, tuple[str, Change]] = {
    "the other words of a product": (r"pmull2? ", flipped(30)),
    "constants of another distance": (r"ldr q\d+, \[x0", flipped(10)),
    "data of another place": (r"ldp q\d+, q\d+, \[x[48]", flipped(15)),
    "a sum without a summand": (r"eor v", lambda word: NOP),
    "bytes in their order": (r"rev64 ", lambda word: NOP),
    "bytes of another place": (r"ext ", flipped(11)),
    "a shift by another number of bits": (r"eor x.*ls[lr]|extr ", flipped(10)),
    "another polynomial": (r"crc32", flipped(12)),
    "crc32 of other bytes": (r"crc32c?[bh] ", flipped(10)),
    "bytes without crc32": (r"crc32", lambda word: NOP),
    "a step twice as long": (r"add x\d+, x\d+, #", _twice),
    "the other way of a branch": (r"(cbn?z|tbn?z) ", flipped(24)),
    "another condition": (r"b\.", flipped(0)),
}


@pytest.mark.parametrize("error", WRONG)
def test_errors_are_refuted(image: Image, error: str) -> None:
    """Some errors make code that the prover cannot follow to its end."""
    found = FUNCTIONS.with_errors(image, *WRONG[error])
    assert found[Status.REFUTED] > found[Status.UNSUPPORTED]
