"""Emission of .S files: the bytes of the kernel, with their disassembly as comments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gfsmith.emit.template import render
from gfsmith.emit.x86 import decode
from gfsmith.emit.x86.asm import Data, Ins, Mark, Note, Unwind
from gfsmith.emit.x86.encode import Encoded, assemble, padding
from gfsmith.emit.x86.frame import Abi, Frame
from gfsmith.emit.x86.kernel import emit
from gfsmith.ir import Program
from gfsmith.kernel.isa import Encoding
from gfsmith.kernel.spec import KernelSpec

BODY_ALIGNMENT = 32


@dataclass(frozen=True, slots=True)
class MachineKernel:
    """A kernel's bytes for each ABI, its source text and its intended instructions."""

    code: dict[Abi, bytes]
    source: str
    body: tuple[Encoded, ...]


def _bytes(item: Encoded) -> str:
    return ".byte " + ",".join(f"0x{byte:02x}" for byte in item.code)


def _row(item: Encoded) -> list[str]:
    """Return the source lines of one assembled line."""
    line = item.line
    if isinstance(line, Ins):
        return [f"    {_bytes(item):<56} # {line}"]
    if isinstance(line, Mark):
        rows = [f"    {_bytes(item):<56} # padding"] if item.code else []
        return [*rows, f"# {line.label}:"]
    if isinstance(line, Data):
        return [f"    {_bytes(item)} # {line.text}"]
    if isinstance(line, Note):
        return [f"# {line.text}"]
    assert isinstance(line, Unwind)
    rows = [f"    GFSMITH_CFI({line.cfi})"] if line.cfi else []
    return rows + ([f"    GFSMITH_SEH({line.seh})"] if line.seh else [])


def _rows(items: Sequence[Encoded]) -> list[str]:
    return [row for item in items for row in _row(item)]


def _join(items: Sequence[Encoded]) -> bytes:
    return b"".join(item.code for item in items)


@dataclass(frozen=True, slots=True)
class _Framed:
    """Prologue and epilogue of one ABI, ready for the template."""

    prologue: list[Encoded]
    gap: bytes
    epilogue: list[Encoded]


def _frame(frame: Frame) -> _Framed:
    prologue, epilogue = assemble(frame.prologue().lines), assemble(frame.epilogue().lines)
    for part in (prologue, epilogue):
        decode.check(part)
    gap = padding(-len(_join(prologue)) % BODY_ALIGNMENT)
    return _Framed(prologue, gap, epilogue)


def _template_part(framed: _Framed) -> dict[str, list[str]]:
    gap = [f"    {_bytes(Encoded(Note(''), 0, framed.gap))} # padding"] if framed.gap else []
    return {"prologue": _rows(framed.prologue) + gap, "epilogue": _rows(framed.epilogue)}


def _clobbers(spec: KernelSpec, vectors: set[int]) -> str:
    kind = {16: "xmm", 32: "ymm", 64: "zmm"}[spec.isa.vector_bytes]
    mask = ", k1" if spec.isa.encoding is Encoding.EVEX else ""
    return f"rax, rcx, rdx, rsi, rdi, r8-r11, flags, {len(vectors)} {kind} registers{mask}"


def build(spec: KernelSpec, program: Program) -> MachineKernel:
    """Assemble the kernel for both ABIs and check every byte against the intended instructions.

    Raises SpecError if the program does not fit into the registers, decode.EncodingError if the encoder and
    iced-x86 disagree.
    """
    body = emit(spec, program)
    encoded = assemble(body.asm.lines)
    decode.check(encoded)
    upper = spec.isa.encoding is not Encoding.LEGACY
    frames = {abi: _frame(Frame(abi, body.saved, body.vectors, upper, body.scratch)) for abi in Abi}
    code = {abi: _join(f.prologue) + f.gap + _join(encoded) + _join(f.epilogue) for abi, f in frames.items()}
    source = render(
        "x86_kernel.S.j2",
        spec=spec,
        sysv=_template_part(frames[Abi.SYSV]),
        ms=_template_part(frames[Abi.MS]),
        body=_rows(encoded),
        clobbers=_clobbers(spec, body.vectors),
    )
    return MachineKernel(code, source, tuple(encoded))
