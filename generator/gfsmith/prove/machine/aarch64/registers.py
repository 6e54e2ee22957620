"""Registers of AArch64 and its calling conventions (Arm, Procedure Call Standard, IHI 0055; Go's ABI0)."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.prove.machine.abi import Abi

MACHINE = "AArch64"
GENERAL = (*(f"x{n}" for n in range(31)), "sp")
VECTORS = 32
VECTOR_BYTES = 16
PREDICATES = 16
#: The bytes of scalable vectors that the architecture has permitted (Arm Architecture Reference Manual,
#: B1.2.2): every multiple of 16 up to 256; newer issues permit powers of two only.
SCALABLE_BYTES = tuple(range(16, 257, 16))
STACK_ALIGNMENT = 16

#: Linux. x18 is an ordinary register there; there is no red zone.
AAPCS64 = Abi(
    name="aapcs64",
    arguments=tuple(f"x{n}" for n in range(8)),
    preserved=tuple(f"x{n}" for n in range(19, 30)),
    return_address="x30",
    stack_arguments=0,
    preserved_vectors=dict.fromkeys(range(8, 16), 8),
    result="x0",
)
#: Windows and macOS keep x18 for themselves.
AAPCS64_X18 = replace(AAPCS64, name="aapcs64-x18", preserved=("x18", *AAPCS64.preserved))
#: A goroutine's stack has no guard page. Go's linker allows 792 bytes for a chain of functions that do not
#: check it (NOSPLIT).
_GO_STACK = 792
#: Go's ABI0 for assembly functions (cmd/compile/abi-internal.md, "arm64 architecture"): all arguments are on
#: the stack, above the slot for x30. A function that calls others has its frame pointer, x29, 8 bytes below
#: sp, where the caller's x29 is saved; so signal handlers have their own stack. x28 is the goroutine; Go does
#: not use x18.
GO = Abi(
    name="go-arm64",
    arguments=(),
    preserved=("x18", "x28"),
    return_address="x30",
    stack_arguments=8,
    red_zone=8,
    deepest=_GO_STACK,
    anchored={"x29": -8},
)
#: The bytes of a Go function's frame that the kernel it calls may use: the smallest that suffices.
GO_FRAMES = (0, 512, 1024, 2048, 4096)
GO_SAVED = 160  #: those of them that lie below x26
_GO_LINK = 16  #: the bytes above sp in which the caller keeps its return address
GO_PLACE = _GO_LINK + GO_SAVED  #: the distance of x26 from sp


def go_kernel(frame: int) -> Abi:
    """Return the convention of a kernel that an assembly function of Go calls (emit/golang_arm64.py).

    It works in the caller's frame, to which x26 points. A signal handler finds the callers by sp and the
    goroutine by x28, so these never change: `deepest` keeps sp.
    """
    return Abi(
        name=f"go-arm64-kernel-{frame}",
        arguments=AAPCS64.arguments,
        preserved=("x18", "x28"),
        return_address="x30",
        stack_arguments=0,
        home=(_GO_LINK, _GO_LINK + frame),
        deepest=0,
        anchored={"x26": GO_PLACE},
        constant=("x18", "x28"),
    )


ABIS = {abi.name: abi for abi in (AAPCS64, AAPCS64_X18, GO, *map(go_kernel, GO_FRAMES))}
