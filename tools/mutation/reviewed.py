"""Equivalent mutants that no rule covers, each read by hand."""

from __future__ import annotations

import re
from typing import NamedTuple

from mutation.classify import difference, effective


class Review(NamedTuple):
    """Mutants that no rule covers, read and found equivalent. Patterns of kernel, before and after."""

    kernel: str
    before: str
    after: str
    reason: str


REVIEWED = (
    Review(
        r"gfs_dot_2x.*",
        r"(v?gf2p8affineqb .*),0",
        r"(v?gf2p8affineqb .*),[0-9A-F]+h?",
        "the tail's loop adds the constant once per source: twice, which cancels",
    ),
    Review(
        r".*",
        r"v?psrlq .*,4",
        r"v?psrl[wd] .*,4",
        "differs in bits that come from the neighbouring byte; a mask of 0x0f follows",
    ),
    Review(
        r".*",
        r"lea rsi,\[rcx\+10h\]",
        r"lea rsi,\[rcx\+0?[9A-F]h?\]",
        "a pointer that steps by 8 is below rcx + 9 exactly if it is below rcx + 16",
    ),
    Review(
        r".*_nt .*",
        r"(.*)\[r9\+rax\](.*)",
        r"(.*)\[r11\+rax\](.*)",
        "r11 holds the first destination too: its alignment was tested",
    ),
    Review(
        r".*_nt .*",
        r"test r11,3Fh",
        r"test (qword ptr \[r8\],3Fh|r9,3Fh)",
        "r8 points to the first destination, which r9 and r11 hold",
    ),
    Review(
        r"gfs_dot_2x1__avx512.*",
        r"vpternlogd zmm5,zmm16,zmm17,96h",
        r"vpternlogd zmm18,zmm16,zmm17,96h",
        "the next instruction XORs zmm18 into zmm5: the same four are added",
    ),
    Review(
        r".*",
        r"movdqa xmm10,xmm9",
        r"pxor xmm10,xmm9",
        "xmm10 holds a nibble of the source before, which the shift by 4 that follows removes",
    ),
)


def reviewed(kernel: str, original: bytes, mutant: bytes) -> bool:
    """Whether the list has this mutant."""
    before, after = ("; ".join(map(str, effective(side))) for side in difference(original, mutant))
    return any(
        re.fullmatch(entry.kernel, kernel)
        and re.fullmatch(entry.before, before)
        and re.fullmatch(entry.after, after)
        for entry in REVIEWED
    )
