"""The compiled checksum functions of AArch64: proved from the code of two compilers, and errors in it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from gfsmith.lower.checksums import routines
from gfsmith.prove.checksum.machine import functions, prove_machine
from gfsmith.prove.machine.aarch64.decode import decode
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from tests.support.folders import shared_folder
from tests.support.paths import ROOT

FUNCTIONS = functions(routine for routine in routines() if routine.set in ("pmull", "crc"))
ABI = "aapcs64"
COMPILERS = {
    "clang-19": ("clang-19", "--target=aarch64-linux-gnu"),
    "gcc": ("aarch64-linux-gnu-gcc",),
}
WORD = 4  #: bytes of an instruction
NOP = 0xD503201F


@pytest.fixture(scope="module", params=COMPILERS)
def image(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The routines as a compiler compiles them for the library."""
    command = COMPILERS[request.param]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    core = ROOT / "runtime" / "core"
    target = shared_folder(tmp_path_factory) / f"crc_kernels-{request.param}.o"
    include = [f"-I{path}" for path in (core / "src", core / "include", ROOT / "gen_out")]
    source = core / "src" / "crc_kernels.c"
    flags = ["-O2", "-std=c11", "-fPIC", "-c", *include]
    subprocess.run([*command, *flags, str(source), "-o", str(target)], check=True)
    return load(target, None)


def prove(symbol: str, image: Image) -> Report:
    return prove_machine(symbol, FUNCTIONS[symbol], image, ABI)


@pytest.mark.parametrize("symbol", FUNCTIONS)
def test_proved(image: Image, symbol: str) -> None:
    report = prove(symbol, image)
    assert report.status is Status.PROVED, report.reason
    assert report.covered == report.instructions


def _flipped(bit: int) -> Callable[[int], int]:
    return lambda word: word ^ 1 << bit


def _twice(word: int) -> int:
    """Double the immediate of an addition."""
    immediate = word >> 10 & 0xFFF
    return word & ~(0xFFF << 10) | (2 * immediate & 0xFFF) << 10


#: Errors: a pattern of the instructions in which one is made, and the change of the encoding (Arm ARM, C4.1).
WRONG: dict[str, tuple[str, Callable[[int], int]]] = {
    "the other words of a product": (r"pmull2? ", _flipped(30)),
    "constants of another distance": (r"ldr q\d+, \[x0", _flipped(10)),
    "data of another place": (r"ldp q\d+, q\d+, \[x[48]", _flipped(15)),
    "a sum without a summand": (r"eor v", lambda word: NOP),
    "bytes in their order": (r"rev64 ", lambda word: NOP),
    "bytes of another place": (r"ext ", _flipped(11)),
    "a shift by another number of bits": (r"eor x.*ls[lr]|extr ", _flipped(10)),
    "another polynomial": (r"crc32", _flipped(12)),
    "crc32 of other bytes": (r"crc32c?[bh] ", _flipped(10)),
    "bytes without crc32": (r"crc32", lambda word: NOP),
    "a step twice as long": (r"add x\d+, x\d+, #", _twice),
    "the other way of a branch": (r"(cbn?z|tbn?z) ", _flipped(24)),
    "another condition": (r"b\.", _flipped(0)),
}


def _places(image: Image, symbol: str, pattern: str) -> list[int]:
    function = image.functions[symbol]
    found = []
    for place in range(function.address, function.address + function.size, WORD):
        code = image.read(place, WORD)
        instr = decode(code, place) if code is not None else None
        if instr is not None and re.match(pattern, instr.text):
            found.append(place)
    return found


def _changed(image: Image, place: int, change: Callable[[int], int]) -> Image:
    """Return the image with another instruction at a place."""
    segment = image.segment_at(place)
    assert segment is not None
    at = place - segment.address
    word = change(int.from_bytes(segment.data[at : at + WORD], "little"))
    data = segment.data[:at] + word.to_bytes(WORD, "little") + segment.data[at + WORD :]
    new = replace(segment, data=data)
    return replace(image, segments=tuple(new if s is segment else s for s in image.segments))


@pytest.mark.parametrize("error", WRONG)
def test_errors_are_refuted(image: Image, error: str) -> None:
    """The error at the first and at the last place of every function. Some errors make code that the prover
    cannot follow to its end."""
    pattern, change = WRONG[error]
    found = Counter[Status]()
    for symbol in FUNCTIONS:
        places = _places(image, symbol, pattern)
        for place in sorted({*places[:1], *places[-1:]}):
            report = prove(symbol, _changed(image, place, change))
            assert report.status is not Status.PROVED, f"{symbol} at {place:#x}"
            found[report.status] += 1
    assert found[Status.REFUTED] > found[Status.UNSUPPORTED]
