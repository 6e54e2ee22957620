"""Prologues and epilogues of kernels: System V and Microsoft x64.

Both have the same body. It finds len, k, coeffs, src, dst in rdi, rsi, rdx, rcx, r8, where System V passes
them. The Microsoft prologue moves them there and saves the registers that only this ABI preserves: rsi, rdi
and xmm6-15.
"""

from __future__ import annotations

from enum import StrEnum

from gfsmith.emit.x86.asm import Asm, Mem


class Abi(StrEnum):
    """Calling conventions; the value is the name in PROOFS.json."""

    SYSV = "sysv"
    MS = "ms"


_MS_SAVED_VECTORS = range(6, 16)
_MS_ARGUMENTS = (("rdi", "rcx"), ("rsi", "rdx"), ("rdx", "r8"), ("rcx", "r9"))
_DWARF_XMM0 = 17  #: the number of xmm0 in DWARF tables (System V ABI for x86-64, figure 3.36)
_PAGE = 4080  #: bytes: less than a page, and a multiple of 16
_SHADOW_AND_RETURN = 40  #: the fifth argument is above the return address and 32 bytes of home space


class Frame:
    """Prologue and epilogue for one ABI, the saved general registers and the used vector registers.

    scratch: bytes at rsp for the body, a multiple of 16; saved vectors lie above.
    """

    def __init__(
        self, abi: Abi, saved: tuple[str, ...], vectors: set[int], upper: bool, scratch: int = 0
    ) -> None:
        self.abi = abi
        self._pushed = (("rsi", "rdi") if abi is Abi.MS else ()) + saved
        self._vectors = sorted(v for v in vectors if v in _MS_SAVED_VECTORS) if abi is Abi.MS else []
        self._upper = upper
        self._scratch = scratch
        self._room = scratch + self._vector_room()

    def _vector_room(self) -> int:
        """Return the stack bytes for the vectors, such that rsp is a multiple of 16 after the allocation."""
        if not self._vectors:
            return 0
        above = 8 + 8 * len(self._pushed)
        return 16 * len(self._vectors) + above % 16

    def prologue(self) -> Asm:
        asm = Asm()
        asm.ins("endbr64")
        for register in self._pushed:
            asm.ins("push", register)
            asm.unwind(
                f".cfi_adjust_cfa_offset 8; .cfi_rel_offset {register}, 0",
                f".seh_pushreg {register}",
            )
        self._allocate(asm)
        for place, vector in self._places():
            asm.ins("movaps", Mem("rsp", 16, None, place), f"xmm{vector}")
            asm.unwind(
                f".cfi_rel_offset {_DWARF_XMM0 + vector}, {place}",
                f".seh_savexmm xmm{vector}, {place}",
            )
        asm.unwind("", ".seh_endprologue")
        if self.abi is Abi.MS:
            for target, source in _MS_ARGUMENTS:
                asm.ins("mov", target, source)
            depth = self._room + 8 * len(self._pushed) + _SHADOW_AND_RETURN
            asm.ins("mov", "r8", Mem("rsp", 8, None, depth))
        return asm

    def _allocate(self, asm: Asm) -> None:
        """Allocate stack page by page: Windows maps the next page when the one above is touched."""
        left = self._room
        while left:
            size = min(left, _PAGE)
            asm.ins("sub", "rsp", size)
            asm.unwind(f".cfi_adjust_cfa_offset {size}", f".seh_stackalloc {size}")
            left -= size
            if left:
                asm.ins("mov", Mem("rsp", 8), "rax")

    def _places(self) -> list[tuple[int, int]]:
        """Return offset from rsp and number of each saved vector."""
        return [(self._scratch + 16 * n, vector) for n, vector in enumerate(self._vectors)]

    def epilogue(self) -> Asm:
        """Return the end of a kernel, which returns 0, so that a call can end with a jump to the kernel."""
        asm = Asm()
        asm.ins("xor", "eax", "eax")
        if self._upper:
            asm.ins("vzeroupper")
        for place, vector in self._places():
            asm.ins("movaps", f"xmm{vector}", Mem("rsp", 16, None, place))
            asm.unwind(f".cfi_restore {_DWARF_XMM0 + vector}")
        if self._room:
            asm.ins("add", "rsp", self._room)
            asm.unwind(f".cfi_adjust_cfa_offset -{self._room}")
        for register in reversed(self._pushed):
            asm.ins("pop", register)
            asm.unwind(f".cfi_adjust_cfa_offset -8; .cfi_restore {register}")
        asm.ins("ret")
        return asm
