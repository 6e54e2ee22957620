"""The compiled functions that encode and fold in one loop: errors in their C code, refuted by the proof."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

import pytest

from gfsmith.ir.folding import ENCODES, Routine
from gfsmith.lower.checksum.routines import routines
from gfsmith.prove.checksum.machine import prove_machine
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from tests.support.folders import product
from tests.support.levels import share
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="there is no such function")

(ROUTINE,) = (routine for routine in routines() if routine.operation == "encode2")
(WORDS,) = (routine for routine in routines() if routine.words)
CORE = ROOT / "runtime" / "core"

#: Errors: the start of the name of the function, and a pattern with its replacement. The function is for two
#: destinations.
WRONG = {
    "constants of another distance": ("encode2", r"crc->folds\[2\]", "crc->folds[1]"),
    "the other word": ("encode_message", r"v2, v1, 0x11", "v2, v1, 0x00"),
    "lines in another order": ("encode_message", r"__m512i v3, __m512i v4", "__m512i v4, __m512i v3"),
    "a line that is not folded": ("encode_message", r"\(v4, v8, v9", "(v3, v8, v9"),
    "a source in the message of another one": (
        "encode2_two",
        r"(message \+ 64, v1), x1_0, x1_1",
        r"\1, x0_0, x0_1",
    ),
    "messages exchanged": (
        "encode2",
        r"message \+ 64, v1, sum\[2\], sum\[3\]",
        "message + 0, v1, sum[2], sum[3]",
    ),
    "another destination in a message": ("encode2", r"v1, sum\[2\], sum\[3\]", "v1, sum[0], sum[1]"),
    "a message twice": ("encode2_one", r"(    gfs_encode_message\S* .*\n)", r"\1\1"),
    "no message": ("encode2_one", r"    gfs_encode_message\S* .*\n", ""),
    "the matrix of another row": ("encode2_two", r"\(c0_1, table \+ 8\)", "(c0_1, table + 0)"),
    "the matrix of another source": ("encode2_two", r"\(c1_0, table \+ 16\)", "(c1_0, table + 0)"),
    "a sum before its last source": ("encode2", r"\(left & 1\) != 0", "(left & 1) > 1"),
    "sources twice": ("encode2", r"(left & 4\) != 0\) \{\n.*\n.*)from \+ 2", r"\1from + 0"),
    "a sum that goes on": (
        "encode2",
        r"    for \(size_t at([\s\S]*)        (__m512i sum\[\] = .*\n)",
        r"    \2    for (size_t at\1",
    ),
    "another destination": ("encode2", r"to = from\[1\] \+ at", "to = from[0] + at"),
    "a line twice": (
        "encode2",
        r"stream_si512\(\(__m512i \*\)\(void \*\)\(to \+ 64\)",
        "stream_si512((__m512i *)(void *)(to)",
    ),
    "half of a step": ("encode2", r"at \+= 128", "at += 64"),
    "a step too many": ("encode2", r"at < len", "at <= len"),
    "a load too far ahead": ("encode2_one", r"\(data0 \+ 64\)\);\n    data0", "(data0 + 128));\n    data0"),
    "a line between two": ("encode2_two", r"\(data1\)\);", "(data1 + 1));"),
}

#: The same for the function that advances sources by words.
WRONG_WORDS = {
    "a line twice": ("encode4_crc32c", r"\(state, from\[1\] \+ at, 64\)", "(state, from[1] + at, 0)"),
    "a line of another source": ("encode4_crc32c", r"from\[5\] \+ at, 64", "from[1] + at, 64"),
    "a line left out": ("encode4_crc32c", r"state = gfs_encode_words\S*\(state, from\[1\] \+ at, 64\);", ""),
    "registers exchanged": ("encode4_crc32c", r"(&state, message) \+ 64", r"\1 + 320"),
    "a register in another message": ("encode4_crc32c", r"memcpy\(message \+ 64", "memcpy(message + 0"),
    "half a register": ("encode4_crc32c", r"(memcpy\(message \+ 64, &state, sizeof state)", r"\1 / 2"),
    "no register": ("encode4_crc32c", r"memcpy\(message \+ 320, &state, sizeof state\);", ""),
    "a message beside a register": ("encode4_crc32c", "encode4_half", "encode4_two"),
    "a source without a message": ("encode4_crc32c", "encode4_two", "encode4_half"),
    "a source that is not added": (
        "encode4_half",
        r", _mm512_gf2p8affine_epi64_epi8\(x1_0, c1_0, 0\), 0x96",
        ", _mm512_setzero_si512(), 0x96",
    ),
    "a word left out": ("encode_words_crc32c", r"data \+= 8;", "data += 16;"),
    "words in another order": ("encode_words_crc32c", r"data \+= place;", "data += 64 - place;"),
}


def _function(text: str, name: str) -> tuple[int, int]:
    """Return the start and the end of a function."""
    start = next(
        re.finditer(rf"^static [^;]*?\bgfs_{name}(?:_{ROUTINE.order})?__{ROUTINE.set}\(", text, re.MULTILINE)
    ).start()
    return start, text.index("\n}\n", start)


def _proved(folder: Path, text: str, routine: Routine = ROUTINE) -> Report:
    """Return the verdict on a function with other generated text, as gcc compiles it."""
    (folder / "crc_kernels.inc").write_text(text)
    include = [f"-I{path}" for path in (folder, CORE / "src", CORE / "include", ROOT / "gen_out")]
    source, target = folder / "crc_kernels.c", folder / "crc_kernels.o"
    source.write_bytes((CORE / "src" / "crc_kernels.c").read_bytes())
    subprocess.run(
        ["gcc", "-O2", "-std=c11", "-fPIC", "-c", *include, str(source), "-o", str(target)], check=True
    )
    return prove_machine(routine.symbol, (routine,), load(target, None), "sysv")


def test_the_function_is_proved(tmp_path: Path) -> None:
    product("libgfsmith.a", "lib")
    assert _proved(tmp_path, (ROOT / "gen_out" / "crc_kernels.inc").read_text())


def _with(error: tuple[str, str, str]) -> str:
    """Return the generated text with an error."""
    product("libgfsmith.a", "lib")
    name, pattern, replacement = error
    text = (ROOT / "gen_out" / "crc_kernels.inc").read_text()
    start, end = _function(text, name)
    changed, count = re.subn(pattern, replacement, text[start:end], count=1)
    assert count == 1
    return text[:start] + changed + text[end:]


@pytest.mark.parametrize("error", share(WRONG, 2))
def test_errors_are_refuted(error: str, tmp_path: Path) -> None:
    assert _proved(tmp_path, _with(WRONG[error])).status is not Status.PROVED


@pytest.mark.parametrize("error", share(WRONG_WORDS, 2))
def test_errors_in_words_are_refuted(error: str, tmp_path: Path) -> None:
    assert _proved(tmp_path, _with(WRONG_WORDS[error]), WORDS).status is not Status.PROVED


def test_every_number_of_destinations_has_a_function() -> None:
    encodes = [routine for routine in routines() if routine.operation in ENCODES]
    assert [routine.operation for routine in encodes if not routine.check] == list(ENCODES)
