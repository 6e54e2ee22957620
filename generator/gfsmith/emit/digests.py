"""The list of the proved machine code's digests, which the library's check of itself includes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gfsmith.emit.kernel_files import condition
from gfsmith.emit.template import render
from gfsmith.emit.x86.frame import Abi
from gfsmith.kernel.isa import ISAS
from gfsmith.kernel.spec import KernelSpec

FILE = "digests.inc"
#: Preprocessor directives before the code of each ABI, as in gfsmith_asm.h.
_CONVENTIONS = (
    (Abi.MS, "if defined(_WIN32) || defined(__CYGWIN__) || defined(GFSMITH_MS_ABI)"),
    (Abi.SYSV, "else"),
)

Coded = tuple[KernelSpec, Mapping[str, bytes]]  #: a kernel and its machine code, empty for C


@dataclass(frozen=True, slots=True)
class _Row:
    """The code of one kernel for one ABI. digest: its bytes as a list in C."""

    symbol: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class _Set:
    """An instruction set. compiled: number of kernels in C."""

    name: str
    condition: str
    compiled: int
    conventions: tuple[tuple[str, tuple[_Row, ...]], ...]


def build(kernels: Sequence[Coded]) -> dict[str, str]:
    """Return path -> text of the list."""
    present = {spec.isa.name for spec, _ in kernels}
    sets = [
        _set(name, [(spec, code) for spec, code in kernels if spec.isa.name == name])
        for name in (isa.name for isa in ISAS)
        if name in present
    ]
    return {FILE: render(f"{FILE}.j2", isas=sets)}


def _set(name: str, kernels: Sequence[Coded]) -> _Set:
    coded = [(spec.symbol, code) for spec, code in kernels if code]
    conventions = [
        (directive, tuple(_row(symbol, code[abi]) for symbol, code in coded))
        for abi, directive in _CONVENTIONS
        if coded
    ]
    return _Set(name, condition(kernels[0][0].isa), len(kernels) - len(coded), tuple(conventions))


def _row(symbol: str, code: bytes) -> _Row:
    return _Row(symbol, len(code), ", ".join(f"{byte:#04x}" for byte in hashlib.sha256(code).digest()))
