"""Proved AArch64 machine code in Plan 9 assembly: each kernel lies inside the function that Go calls.

The function loads the arguments from Go's stack (ABI0) into the registers of AAPCS64 and calls the kernel
inside it. Go's prologue makes its frame, saves x30 at the lower end, and requests more stack if necessary.
The kernel works in this frame, relative to x26, and never changes sp: so Go's tables, which know nothing of
the kernel's instructions, find the return address at sp at each of them. The kernel never changes x28 (the
goroutine) and x18 (which belongs to the system). It is proved under a convention that states this,
`go-arm64-kernel`.

ABI0 preserves no other register, and Go's epilogue restores x29 and x30.
"""

from __future__ import annotations

from gfsmith.emit.plan9 import Listing

_WORD, _WORDS_A_LINE = 4, 8
_LEAST_FRAME = 16  #: without one, Go's prologue would not save x30


def listing(code: bytes, frame: int) -> Listing:
    """Return Plan 9 assembly whose bytes are `code`. frame: bytes of the caller's frame that it uses."""
    words = [int.from_bytes(code[at : at + _WORD], "little") for at in range(0, len(code), _WORD)]
    texts = [f"WORD ${word:#010x}" for word in words]
    rows = ["; ".join(texts[n : n + _WORDS_A_LINE]) for n in range(0, len(texts), _WORDS_A_LINE)]
    return Listing(tuple(rows), frame, max(frame, _LEAST_FRAME))
