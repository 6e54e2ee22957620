"""Equivalent mutants that no rule covers. A person has read each."""

from __future__ import annotations

import re
from typing import NamedTuple

from tools.mutation.classify import difference, effective


class Review(NamedTuple):
    """Mutants that no rule covers, read and found equivalent. Patterns: the kernel; "before -> after"."""

    kernel: str
    change: str
    reason: str


REVIEWED = (
    Review(
        r"gfs_dot_2x.*",
        r"(v?gf2p8affineqb .*),0 -> \1,[0-9A-F]+h?",
        "the tail's loop adds the constant once per source: twice, which cancels",
    ),
    Review(
        r".*",
        r"(v?)psrlq (.*),4 -> \1psrl[wd] \2,4",
        "differs in bits that come from the neighbouring byte; a mask of 0x0f follows",
    ),
    Review(
        r".*",
        r"lea rsi,\[rcx\+10h\] -> lea rsi,\[rcx\+0?[9A-F]h?\]",
        "a pointer that steps by 8 is below rcx + 9 exactly if it is below rcx + 16",
    ),
    Review(
        r".*_nt .*",
        r"(.*)\[r9\+rax\](.*) -> \1\[r11\+rax\]\2",
        "r11 holds the first destination too: its alignment was tested",
    ),
    Review(
        r".*_nt .*",
        r"test r11,([013]Fh) -> test (qword ptr \[r8\]|r9),\1",
        "r8 points to the first destination, which r9 and r11 hold",
    ),
    Review(
        r"gfs_dot_2x1__avx512.*",
        r"vpternlogd zmm5,zmm16,zmm17,96h -> vpternlogd zmm18,zmm16,zmm17,96h",
        "the next instruction XORs zmm18 into zmm5: the same four are added",
    ),
    Review(
        r".*__sse.*",
        r"movdqa (xmm\d+,xmm\d+) -> pxor \1",
        "the target holds a nibble of the previous source, which the following shift by 4 removes",
    ),
    Review(
        r".*__sse.*",
        r"pxor xmm\d+,(xmm\d+) -> pxor xmm\d+,\1",
        "the half product is added to the other half product, which the next instruction adds to the sum",
    ),
    Review(
        r"gfs_dot_2x1__gfni_(sse|avx2).*",
        r"v?pxor (xmm\d),(\1,)?\1 -> v?pxor \1,(xmm\d,)?xmm\d",
        "clears a register before words 0 and 1 are inserted: the other words are not stored",
    ),
    Review(
        r".*",
        r"mov \[r11\],r10w -> mov \[r11\],r10b",
        "lengths 2 and 3: the second store, of the last two bytes, writes the other byte",
    ),
    Review(
        r".*__avx2.*",
        r"vpbroadcastd ymm0,xmm0 -> vpbroadcast[bw] ymm0,xmm0",
        "all four broadcast bytes are 0x0f",
    ),
    Review(
        r".*__sse.*",
        r"test rdi,rdi -> test r11,rdi",
        "r11 holds 0x0f0f0f0f and rdi is below 16: their AND is rdi",
    ),
)


def reviewed(kernel: str, original: bytes, mutant: bytes) -> bool:
    """Return whether the list contains this mutant."""
    before, after = ("; ".join(map(str, effective(side))) for side in difference(original, mutant))
    return any(
        re.fullmatch(entry.kernel, kernel) and re.fullmatch(entry.change, f"{before} -> {after}")
        for entry in REVIEWED
    )
