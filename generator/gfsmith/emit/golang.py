"""Proved x86 machine code as a Go package: Plan 9 assembly, prototypes, and the list of kernels.

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

from collections.abc import Sequence
from dataclasses import dataclass

from gfsmith.emit import packaged
from gfsmith.emit.packaged import Proved
from gfsmith.emit.template import render

#: Greatest number of stack bytes that Go's linker allows for a chain of NOSPLIT functions.
NOSPLIT_BYTES = 792

_LANDING = bytes.fromhex("f30f1efa")  # endbr64, a no-operation without CET
_TOUCH = bytes.fromhex("48890424")  # mov [rsp], rax
_RETURN = b"\xc3"
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


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines of a kernel in Plan 9 assembly, and the bytes that it uses below its return address."""

    rows: tuple[str, ...]
    depth: int

    @property
    def inside(self) -> bool:
        """True if the kernel lies inside the function that Go calls, since it needs a part of its frame."""
        return self.depth > NOSPLIT_BYTES

    @property
    def frame(self) -> int:
        """The bytes that such a kernel uses of the frame: its stack and the return address."""
        return self.depth + 8


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
    return Listing(tuple(rows), 8 * len(pushed) + room)


def files(kernels: Sequence[Proved], package: str) -> dict[str, str]:
    """Return path -> text of a Go package with these kernels, which must satisfy `takes`."""
    specs = [spec for spec, _ in kernels]
    isas, matrices, rows = packaged.isas(specs), packaged.matrices(specs), packaged.entries(kernels)
    listings = {row.spec.symbol: listing(row.code) for row in rows}
    found = {
        "kernels.go": render("golang_kernels.go.j2", package=package, matrices=matrices),
        "kernels_amd64.go": render("golang_amd64.go.j2", package=package, isas=isas, rows=rows),
        "kernels_other.go": render("golang_other.go.j2", package=package),
        "kernels_test.go": render("golang_test.go.j2", package=package),
    }
    for number, isa in enumerate(isas):
        own = [row for row in rows if row.isa == number]
        text = render("golang_kernels.s.j2", isa=isa, rows=own, listings=listings)
        found[f"{isa.name}_amd64.s"] = text
    return found
