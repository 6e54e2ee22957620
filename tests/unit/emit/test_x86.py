"""The x86 encoder: GFNI forms compared with the GNU assembler, and wrong bytes are detected."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.emit.x86 import decode
from gfsmith.emit.x86.asm import Asm, Ins, Label, Mark, Mem, Operand, Reg
from gfsmith.emit.x86.encode import Encoded, assemble, encode, padding
from gfsmith.emit.x86.kernel import emit
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import ISAS
from tests.support.specs import make_program, make_spec

_BYTES = {"xmm": 16, "ymm": 32, "zmm": 64}
_SIZES = {8: "qword", 16: "xmmword", 32: "ymmword", 64: "zmmword"}


def _gfni_forms() -> Iterator[Ins]:
    """Yield legacy, VEX and EVEX forms, low and high registers, memory, broadcast, masks."""
    for name in ("gf2p8affineqb", "gf2p8affineinvqb", "gf2p8mulb"):
        immediate: tuple[Operand, ...] = () if name.endswith("mulb") else (0x63,)
        for register, source in (("xmm0", "xmm1"), ("xmm9", "xmm2"), ("xmm3", "xmm14")):
            yield Ins(name, (Reg(register), Reg(source), *immediate))
        for mem in (Mem("rax", 16), Mem("r13", 16, "r9", 16), Mem("r12", 16, None, -4096)):
            yield Ins(name, (Reg("xmm5"), mem, *immediate))
        for kind, size in _BYTES.items():
            highs = (31,) if kind == "zmm" else (15, 31)
            for high in (2, *highs):
                registers = (Reg(f"{kind}{high}"), Reg(f"{kind}7"))
                yield Ins(f"v{name}", (*registers, Reg(f"{kind}{high - 1}"), *immediate))
                for mem in (Mem("rdx", size, "rcx", 3 * size), Mem("r12", size, None, size + 1)):
                    yield Ins(f"v{name}", (*registers, mem, *immediate))
                masked = (*registers, Mem("rbp", size, None, 2 * size), *immediate)
                yield Ins(f"v{name}", masked, "k3", zeroing=True)
                yield Ins(f"v{name}", masked, "k1")
                if immediate:
                    for displacement in (8, 8 * 127, 8 * 128, 4):
                        mem = Mem("rdx", 8, None, displacement, broadcast=size // 8)
                        yield Ins(f"v{name}", (*registers, mem, *immediate))


FORMS = list(_gfni_forms())
HERE = Mark(Label("here"))


def _gas(ins: Ins) -> str:
    """Return the instruction in GNU as's Intel syntax."""
    words = []
    for operand in ins.operands:
        text = str(operand)
        if isinstance(operand, Mem) and not operand.broadcast:
            text = f"{_SIZES[operand.size]} ptr {text}"
        elif isinstance(operand, Mem):
            text = f"qword bcst {text.split('{')[0]}"
        words.append(text)
    if ins.mask:
        words[0] += f"{{{ins.mask}}}" + ("{z}" if ins.zeroing else "")
    return f"{ins.name} {', '.join(words)}"


def test_gfni_forms_are_those_of_gnu_as(tmp_path: Path) -> None:
    source = tmp_path / "forms.s"
    lines = [".intel_syntax noprefix", *map(_gas, FORMS)]
    source.write_text("\n".join(lines) + "\n")
    subprocess.run(["as", "-o", tmp_path / "forms.o", source], check=True)
    copy = ["objcopy", "-O", "binary", "-j", ".text", tmp_path / "forms.o", tmp_path / "forms.bin"]
    subprocess.run(copy, check=True)
    assert (tmp_path / "forms.bin").read_bytes() == b"".join(encode(ins) for ins in FORMS)


@pytest.mark.parametrize("ins", FORMS, ids=str)
def test_gfni_forms_decode_to_the_intended_instructions(ins: Ins) -> None:
    decode.check([Encoded(ins, 0, encode(ins))])


def test_broadcast_of_a_product_is_refused() -> None:
    mem = Mem("rdx", 8, broadcast=8)
    with pytest.raises(SyntaxError, match="no embedded broadcast"):
        encode(Ins("vgf2p8mulb", (Reg("zmm1"), Reg("zmm2"), mem)))


@pytest.mark.parametrize("isa", [isa.name for isa in ISAS if isa.arch is Arch.X86_64])
def test_a_changed_bit_in_any_instruction_is_detected(isa: str) -> None:
    """Every single-bit change of a kernel's bytes decodes to another instruction than the intended one.

    The exceptions are changes that select another encoding of the same instruction.
    """
    spec = make_spec("dot", 2, 1, isa, unroll=1)
    encoded = assemble(emit(spec, make_program(spec)).asm.lines)
    decode.check(encoded)
    noticed = same = 0
    for number, item in enumerate(encoded):
        if not isinstance(item.line, Ins):
            continue
        for bit in range(8 * len(item.code)):
            wrong = bytearray(item.code)
            wrong[bit // 8] ^= 1 << bit % 8
            changed = [*encoded[:number], replace(item, code=bytes(wrong)), *encoded[number + 1 :]]
            try:
                decode.check(changed)
            except decode.EncodingError:
                noticed += 1
            else:
                same += 1
                assert decode.lift(bytes(wrong), item.offset, _places(encoded)) is not None
    assert noticed > 20 * same
    assert noticed > 500


def _places(encoded: list[Encoded]) -> dict[int, str]:
    return {
        item.offset + len(item.code): item.line.label.name
        for item in encoded
        if not isinstance(item.line, Ins) and hasattr(item.line, "label")
    }


@pytest.mark.parametrize("distance", [10, 120, 126, 127, 128, 140, 4000])
@pytest.mark.parametrize("forward", [True, False])
def test_jumps_reach(distance: int, forward: bool) -> None:
    asm, target = Asm(), Label("target")
    if forward:
        asm.ins("jb", target)
    else:
        asm.mark(target)
    for _ in range(distance):
        asm.ins("ret")
    if forward:
        asm.mark(target)
    else:
        asm.ins("jb", target)
    encoded = assemble(asm.lines)
    decode.check(encoded)
    jump = next(item for item in encoded if isinstance(item.line, Ins) and item.line.target)
    reach = distance if forward else distance + 2
    assert len(jump.code) == (2 if reach <= (127 if forward else 128) else 6)


@pytest.mark.parametrize("length", range(1, 40))
def test_padding_is_no_ops(length: int) -> None:
    code = padding(length)
    assert len(code) == length
    decode.check([Encoded(HERE, 0, code)])
    with pytest.raises(decode.EncodingError, match="does not consist of no-ops"):
        decode.check([Encoded(HERE, 0, code[:-1] + b"\xc3" if length == 1 else b"\xc3" * length)])


@pytest.mark.parametrize(("inputs", "saved"), [(2, ()), (3, ()), (4, ("rbx",))])
def test_pointers_replace_arguments_before_registers_are_saved(inputs: int, saved: tuple[str, ...]) -> None:
    spec = make_spec("xor", inputs, 1, "gfni_avx512", unroll=1)
    assert emit(spec, make_program(spec)).saved == saved
