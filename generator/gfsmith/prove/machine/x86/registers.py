"""Registers of x86-64 and the calling conventions: System V's, Microsoft's and that of Go's assembly."""

from __future__ import annotations

from gfsmith.prove.machine.abi import Abi

GENERAL = (
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
)  # fmt: skip
VECTORS = 32
VECTOR_BYTES = 64
MASKS = 8

#: Pages of x86-64, of which the guard page of a stack is one.
_PAGE = 4096
#: A caller's stack pointer is a multiple of 16 before the return address is pushed.
_CALLED = (8, 16)
_ENDBR64 = bytes.fromhex("f30f1efa")

SYSV = Abi(
    name="sysv",
    arguments=("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
    preserved=("rbx", "rbp", "r12", "r13", "r14", "r15"),
    return_address=0,
    stack_arguments=8,
    red_zone=128,
    guard=_PAGE,
    stack_multiple=_CALLED,
    landing=_ENDBR64,
    result="rax",
)
MS = Abi(
    name="ms",
    arguments=("rcx", "rdx", "r8", "r9"),
    preserved=("rbx", "rbp", "rsi", "rdi", "r12", "r13", "r14", "r15"),
    return_address=0,
    stack_arguments=40,
    preserved_vectors=dict.fromkeys(range(6, 16), 16),
    home=(8, 40),
    guard=_PAGE,
    stack_multiple=_CALLED,
    landing=_ENDBR64,
    result="rax",
)
#: A goroutine's stack has no guard page. Go's linker allows 792 bytes for a chain of functions that do not
#: check it (NOSPLIT).
_GO_STACK = 792
#: Go's ABI0 for assembly functions (Go, "A Quick Guide to Go's Assembler"; cmd/compile/abi-internal.md): all
#: arguments are on the stack; only rsp and the frame pointer are preserved. There is no red zone, and the
#: stack is aligned to 8 bytes.
GO = Abi(
    name="go-amd64",
    arguments=(),
    preserved=("rbp",),
    return_address=0,
    stack_arguments=8,
    guard=_PAGE,
    deepest=_GO_STACK,
)
ABIS = {abi.name: abi for abi in (SYSV, MS, GO)}
