"""Vector arithmetic over GF(2), after the Intel SDM, volume 2."""

from __future__ import annotations

from iced_x86 import Instruction, OpKind

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Form, Run, Runs, Table, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import add_bytes, groups, known, look_up_runs, shift_right, signs
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.x86.semantics import lanes
from gfsmith.prove.machine.x86.semantics.operands import (
    Semantics,
    read_vector,
    vector_size,
    write_vector,
)

_FULL_MASK = (1 << 64) - 1


def _sources(state: State, instr: Instruction, size: int) -> tuple[Runs, Runs]:
    """The two inputs: operands 0 and 1 in SSE, 1 and 2 in VEX and EVEX."""
    first = 0 if _destructive(instr) else 1
    return (
        read_vector(state, instr, first, size),
        read_vector(state, instr, first + 1, size),
    )


def _destructive(instr: Instruction) -> bool:
    vectors = instr.op_count - (instr.op_kind(instr.op_count - 1) == OpKind.IMMEDIATE8)
    return vectors == 2


def _xor(state: State, instr: Instruction) -> None:
    left, right = _sources(state, instr, vector_size(instr))
    same = instr.op_kind(instr.op_count - 1) == OpKind.REGISTER and instr.op_register(
        instr.op_count - 1
    ) == instr.op_register(instr.op_count - 2)
    write_vector(state, instr, domain.zeros(domain.size(left)) if same else domain.xor(left, right))


def _and(state: State, instr: Instruction) -> None:
    write_vector(state, instr, domain.and_(*_sources(state, instr, vector_size(instr))))


def _ternary(state: State, instr: Instruction) -> None:
    """vpternlog: only the XOR of all three (0x96)."""
    if instr.immediate(3) != 0x96:
        raise Unsupported(f"vpternlog with {instr.immediate(3):#x}")
    size = vector_size(instr)
    a, b, c = (read_vector(state, instr, n, size) for n in range(3))
    write_vector(state, instr, domain.xor(domain.xor(a, b), c))


def _shuffle_bytes(state: State, instr: Instruction) -> None:
    """pshufb: the table is the first source, the index the second."""
    size = vector_size(instr)
    table, index = _sources(state, instr, size)
    out: list[Run] = []
    for low, high, lane in groups(table, size, 16):
        part = domain.cut(index, low, high)
        uniform = lanes.uniform(lane)
        if uniform is None:
            out += look_up_runs(state, lane, part, lanes.selects)
        else:
            out += [(length, lanes.unless_signed(uniform, piece)) for length, piece in part]
    write_vector(state, instr, domain.merge(out))


def _affine(state: State, instr: Instruction) -> None:
    """x is the first source, the matrices the second; the immediate is added."""
    size = vector_size(instr)
    x, matrices = _sources(state, instr, size)
    immediate = instr.immediate(instr.op_count - 1) & 0xFF
    out: list[Run] = []
    for low, high, matrix in groups(matrices, size, 8):
        for length, piece in domain.cut(x, low, high):
            product = lanes.affine(state, matrix, piece)
            out.append((length, Form(product.constant ^ immediate, product.atoms)))
    write_vector(state, instr, domain.merge(out))


def _multiply(state: State, instr: Instruction) -> None:
    """gf2p8mulb: one side is the coefficient's product entry."""
    size = vector_size(instr)
    left, right = _sources(state, instr, size)
    if isinstance(left[0][1], Table):
        left, right = right, left
    out: list[Run] = []
    for low, high, group in groups(right, size, 8):
        for length, piece in domain.cut(left, low, high):
            out.append((length, lanes.product(state, group, piece)))
    write_vector(state, instr, domain.merge(out))


def _carryless(state: State, instr: Instruction) -> None:
    """pclmulqdq: in every lane, a word of the first source times a word of the second one."""
    size = vector_size(instr)
    left, right = _sources(state, instr, size)
    order = instr.immediate(instr.op_count - 1)
    first, second = (domain.WORD * (order >> bit & 1) for bit in (0, 4))
    out: list[Run] = []
    for low in range(0, size, 2 * domain.WORD):
        factors = (
            domain.cut(runs, low + at, low + at + domain.WORD)
            for runs, at in ((left, first), (right, second))
        )
        out += domain.carryless(*factors)
    write_vector(state, instr, domain.merge(out))


def _shift_right(element: int, arithmetic: bool = False) -> Semantics:
    def shift(state: State, instr: Instruction) -> None:
        count = instr.immediate(instr.op_count - 1)
        source = 0 if instr.op_count == 2 else 1
        runs = read_vector(state, instr, source, vector_size(instr))
        write_vector(state, instr, shift_right(runs, element, count, arithmetic))

    return shift


def _greater(state: State, instr: Instruction) -> None:
    """pcmpgtb of known bytes, or of 0 and any bytes: bit 7 of these, in every bit."""
    left, right = _sources(state, instr, vector_size(instr))
    if left == domain.zeros(domain.size(left)):
        write_vector(state, instr, signs(right))
        return
    signed = zip(memoryview(known(left)).cast("b"), memoryview(known(right)).cast("b"), strict=True)
    write_vector(state, instr, domain.constant_runs(bytes(255 * (a > b) for a, b in signed)))


def _add_bytes(state: State, instr: Instruction) -> None:
    """paddb."""
    left, right = _sources(state, instr, vector_size(instr))
    write_vector(state, instr, add_bytes(left, right))


def _family(meaning: Semantics, sse: str, vex: str, evex: str, operands: str) -> dict[str, Semantics]:
    """The SSE, VEX.128, VEX.256, EVEX.256 and EVEX.512 forms of one instruction. `evex` has the element
    of an embedded broadcast, such as B32; empty names are left out."""
    table: dict[str, Semantics] = {}
    if sse:
        table[f"{sse}_XMM_XMMM128{operands}"] = meaning
    if vex:
        for kind, bits in (("XMM", 128), ("YMM", 256)):
            table[f"VEX_{vex}_{kind}_{kind}_{kind}M{bits}{operands}"] = meaning
    if evex:
        name, _, element = evex.partition(":")
        for kind, bits in (("YMM", 256), ("ZMM", 512)):
            table[f"EVEX_{name}_{kind}_K1Z_{kind}_{kind}M{bits}{element}{operands}"] = meaning
    return table


def _shifts(name: str, meaning: Semantics, element: str) -> dict[str, Semantics]:
    return forms(
        meaning,
        f"{name}_XMM_IMM8",
        f"VEX_V{name}_XMM_XMM_IMM8",
        f"VEX_V{name}_YMM_YMM_IMM8",
        f"EVEX_V{name}_YMM_K1Z_YMMM256{element}_IMM8",
        f"EVEX_V{name}_ZMM_K1Z_ZMMM512{element}_IMM8",
    )


TABLE: dict[str, Semantics] = {
    **_family(_xor, "PXOR", "VPXOR", "VPXORD:B32", ""),
    **_family(_xor, "", "", "VPXORQ:B64", ""),
    **_family(_xor, "XORPD", "VXORPD", "VXORPD:B64", ""),
    **_family(_xor, "XORPS", "VXORPS", "", ""),
    **_family(_and, "PAND", "VPAND", "VPANDD:B32", ""),
    **_family(_and, "", "", "VPANDQ:B64", ""),
    **_family(_shuffle_bytes, "PSHUFB", "VPSHUFB", "VPSHUFB", ""),
    **_family(_affine, "GF2P8AFFINEQB", "VGF2P8AFFINEQB", "VGF2P8AFFINEQB:B64", "_IMM8"),
    **_family(_multiply, "GF2P8MULB", "VGF2P8MULB", "VGF2P8MULB", ""),
    **_family(_greater, "PCMPGTB", "VPCMPGTB", "", ""),
    **_family(_add_bytes, "PADDB", "VPADDB", "VPADDB", ""),
    **_family(_ternary, "", "", "VPTERNLOGD:B32", "_IMM8"),
    **_family(_ternary, "", "", "VPTERNLOGQ:B64", "_IMM8"),
    **forms(_ternary, "EVEX_VPTERNLOGQ_XMM_K1Z_XMM_XMMM128B64_IMM8"),
    **forms(
        _carryless,
        "PCLMULQDQ_XMM_XMMM128_IMM8",
        "VEX_VPCLMULQDQ_XMM_XMM_XMMM128_IMM8",
        "VEX_VPCLMULQDQ_YMM_YMM_YMMM256_IMM8",
        "EVEX_VPCLMULQDQ_ZMM_ZMM_ZMMM512_IMM8",
    ),
    **_shifts("PSRLQ", _shift_right(8), "B64"),
    **_shifts("PSRLW", _shift_right(2), ""),
    **_shifts("PSRAW", _shift_right(2, arithmetic=True), ""),
}
