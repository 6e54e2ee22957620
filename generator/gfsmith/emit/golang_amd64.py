"""Proved x86 machine code in Plan 9 assembly.

Each kernel is two functions. The inner one is the System V kernel with exactly the proved bytes. Go calls the
outer one, which loads the arguments from Go's stack (ABI0) into System V's registers and calls the inner one.

Stack. A Go stack is a few KiB and grows only where a function's prologue requests it, as that of the outer
function does. Functions without such a prologue (NOSPLIT) may use a guaranteed number of bytes below its
frame, and the linker adds up their use. The linker and the signal handler of a profiler, which searches for
the caller, need the stack depth. Therefore pushes, pops and the allocation of spill slots are instructions of
Go's assembler, and all other code is data. The expected encodings are in this module (`_PUSH`, `_adjust`) and
are compared with the kernel's bytes; tests/system/bindings/go compares the linked result. A kernel that needs
more than NOSPLIT_BYTES lies inside its outer function, whose frame has room for the kernel's (docs/go.md).

Registers. ABI0 preserves only SP; the wrapper through which Go code calls an ABI0 function restores R14 (the
goroutine) and X15 (zero). Kernels restore rbx, rbp and r12-r15 and end with vzeroupper. Go never preempts a
goroutine in assembly: the collector does not scan these frames but waits for them, so callers keep calls
short.
"""

from __future__ import annotations

from gfsmith.emit.plan9 import Listing

#: Greatest number of stack bytes that Go's linker allows for a chain of NOSPLIT functions.
NOSPLIT_BYTES = 792

_LANDING = bytes.fromhex("f30f1efa")  # endbr64, a no-operation without CET
_TOUCH = bytes.fromhex("48890424")  # mov [rsp], rax
_RETURN = b"\xc3"
_RETURN_ADDRESS = 8  #: bytes
_SUB, _ADD = 5, 0  #: the opcode extensions of sub and add with an immediate
#: Go's name of a register that kernels save -> Go's encodings of its push and pop.
_PUSH = {
    "BX": (b"\x53", b"\x5b"),
    "BP": (b"\x55", b"\x5d"),
    "R12": (b"\x41\x54", b"\x41\x5c"),
    "R13": (b"\x41\x55", b"\x41\x5d"),
    "R14": (b"\x41\x56", b"\x41\x5e"),
    "R15": (b"\x41\x57", b"\x41\x5f"),
}
_WORDS = ((8, "QUAD"), (4, "LONG"), (2, "WORD"), (1, "BYTE"))
_WORDS_A_LINE = 4


class EmissionError(AssertionError):
    """Machine code whose prologue or epilogue differs from frame.py's."""


def _adjust(extension: int, size: int) -> bytes:
    """Return the encoding of add or sub rsp, size, with an 8-bit immediate if it fits, else 32 bits."""
    modrm = 0xC0 | extension << 3 | 4
    if size < 1 << 7:
        return bytes((0x48, 0x83, modrm, size))
    return bytes((0x48, 0x81, modrm)) + size.to_bytes(4, "little")


def _data(code: bytes) -> list[str]:
    """Return the bytes as directives, the largest first."""
    words, at = [], 0
    for size, name in _WORDS:
        while len(code) - at >= size:
            word = int.from_bytes(code[at : at + size], "little")
            words.append(f"{name} ${word:#0{2 * size + 2}x}")
            at += size
    return ["; ".join(words[n : n + _WORDS_A_LINE]) for n in range(0, len(words), _WORDS_A_LINE)]


def _allocated(code: bytes) -> int | None:
    """Return the size of the sub rsp, SIZE at the beginning of the code, or None."""
    for width in (1, 4):
        size = int.from_bytes(code[3 : 3 + width], "little")
        if size and code.startswith(_adjust(_SUB, size)):
            return size
    return None


def listing(code: bytes) -> Listing:
    """Return Plan 9 assembly whose bytes are `code`. Raises EmissionError for a frame that is not
    frame.py's."""
    if not code.startswith(_LANDING):
        raise EmissionError("the kernel does not begin with endbr64")
    rows, at = _data(_LANDING), len(_LANDING)
    pushed: list[str] = []
    while register := next((r for r, (push, _) in _PUSH.items() if code.startswith(push, at)), None):
        pushed.append(register)
        rows.append(f"PUSHQ {register}")
        at += len(_PUSH[register][0])
    room = 0
    while (size := _allocated(code[at:])) is not None:
        rows.append(f"ADJSP ${size}")
        room += size
        at += len(_adjust(_SUB, size))
        if code.startswith(_TOUCH, at):
            rows += _data(_TOUCH)
            at += len(_TOUCH)
    leave = _adjust(_ADD, room) if room else b""
    epilogue = leave + b"".join(_PUSH[r][1] for r in reversed(pushed)) + _RETURN
    if not code.endswith(epilogue):
        raise EmissionError("the kernel's epilogue does not undo its prologue")
    rows += _data(code[at : len(code) - len(epilogue)])
    rows += [f"ADJSP $-{room}"] if room else []
    rows += [*(f"POPQ {register}" for register in reversed(pushed)), "RET"]
    depth = 8 * len(pushed) + room
    return Listing(tuple(rows), depth, depth + _RETURN_ADDRESS if depth > NOSPLIT_BYTES else 0)
