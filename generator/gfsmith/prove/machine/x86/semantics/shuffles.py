"""Bytes and lanes that change their place, after the Intel SDM, volume 2."""

from __future__ import annotations

from iced_x86 import Instruction, OpKind

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Run, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import spans
from gfsmith.prove.machine.register_values import as_bytes
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.x86.registers import VECTOR_BYTES
from gfsmith.prove.machine.x86.semantics.operands import (
    Semantics,
    address,
    general_name,
    mask_bits,
    read_vector,
    register_size,
    vector_number,
    vector_size,
    write_general,
    write_vector,
)

_FULL_MASK = (1 << 64) - 1


def _duplicate(state: State, instr: Instruction) -> None:
    """movddup xmm: the low quadword twice."""
    if instr.op1_kind == OpKind.MEMORY:
        low = state.memory.load(address(state, instr), 8)
    else:
        low = read_vector(state, instr, 1, 8)
    write_vector(state, instr, domain.merge([*low, *low]))


def _broadcast(element: int) -> Semantics:
    """One element of a register or of memory, all over."""

    def broadcast(state: State, instr: Instruction) -> None:
        size = vector_size(instr)
        if instr.op1_kind == OpKind.MEMORY:
            one = state.memory.load(address(state, instr), element)
        elif register_size(instr.op1_register) <= 8:
            one = as_bytes(state, state.gpr[general_name(instr.op1_register)], element)
        else:
            one = domain.cut(state.vectors[vector_number(instr.op1_register)], 0, element)
        write_vector(state, instr, domain.merge([*one] * (size // element)))

    return broadcast


def _insert(element: int) -> Semantics:
    """pinsrb, pinsrw, pinsrd, pinsrq."""

    def insert(state: State, instr: Instruction) -> None:
        source = instr.op_count - 2
        at = instr.immediate(instr.op_count - 1) % (16 // element) * element
        old = read_vector(state, instr, 0 if instr.op_count == 3 else 1, 16)
        if instr.op_kind(source) == OpKind.MEMORY:
            new = state.memory.load(address(state, instr), element)
        else:
            new = as_bytes(state, state.gpr[general_name(instr.op_register(source))], element)
        runs = [*domain.cut(old, 0, at), *new, *domain.cut(old, at + element, 16)]
        write_vector(state, instr, domain.merge(runs))

    return insert


def _extract_word(state: State, instr: Instruction) -> None:
    at = instr.immediate(2) % 8 * 2
    runs = domain.cut(state.vectors[vector_number(instr.op1_register)], at, at + 2)
    write_general(state, instr, domain.merge([*runs, *domain.zeros(2)]))


def _extract_quarter(state: State, instr: Instruction) -> None:
    """pextrq."""
    at = 8 * (instr.immediate(2) % 2)
    write_general(state, instr, domain.cut(state.vectors[vector_number(instr.op1_register)], at, at + 8))


def _insert_part(size: int) -> Semantics:
    """vinserti128, vinserti32x4, vinserti64x4: `size` bytes of a vector, at a multiple of their number."""

    def insert(state: State, instr: Instruction) -> None:
        whole = vector_size(instr)
        old, new = read_vector(state, instr, 1, whole), read_vector(state, instr, 2, size)
        at = size * (instr.immediate(3) % (whole // size))
        runs = [*domain.cut(old, 0, at), *new, *domain.cut(old, at + size, whole)]
        write_vector(state, instr, domain.merge(runs))

    return insert


def _expand_bytes(state: State, instr: Instruction) -> None:
    """vpexpandb: the first bytes of the source, one after the other, to the places of the mask's ones."""
    size = vector_size(instr)
    if instr.op1_kind == OpKind.MEMORY:
        raise Unsupported("vpexpandb of memory, of which it reads only the bytes that it places")
    source = read_vector(state, instr, 1, size)
    old = domain.zeros(size)
    if not instr.zeroing_masking:
        old = domain.cut(state.vectors[vector_number(instr.op0_register)], 0, size)
    bits = mask_bits(state, instr) if instr.has_op_mask else (1 << size) - 1
    out: list[Run] = []
    taken = 0
    for low, high, on in spans(bits, size):
        out += domain.cut(source, taken, taken + high - low) if on else domain.cut(old, low, high)
        taken += high - low if on else 0
    write_vector(state, instr, domain.merge(out), masked=True)


def _compress_bytes(state: State, instr: Instruction) -> None:
    """vpcompressb: the bytes of the source at the mask's ones, one after the other; behind them zeros, or the
    bytes of before."""
    size = vector_size(instr)
    if instr.op0_kind == OpKind.MEMORY:
        raise Unsupported("vpcompressb to memory, of which it writes only some bytes")
    source = read_vector(state, instr, 1, size)
    bits = mask_bits(state, instr) if instr.has_op_mask else (1 << size) - 1
    out = [run for low, high, on in spans(bits, size) if on for run in domain.cut(source, low, high)]
    taken = domain.size(domain.merge(out))
    if instr.zeroing_masking:
        out += domain.zeros(size - taken)
    else:
        out += domain.cut(state.vectors[vector_number(instr.op0_register)], taken, size)
    write_vector(state, instr, domain.merge(out), masked=True)


def _extract_half(size: int) -> Semantics:
    """vextracti128, vextracti32x4, vextracti64x4: the lower or upper `size` bytes of twice as many."""

    def extract(state: State, instr: Instruction) -> None:
        at = size * (instr.immediate(2) & 1)
        runs = domain.cut(state.vectors[vector_number(instr.op1_register)], at, at + size)
        if instr.op0_kind != OpKind.MEMORY:
            write_vector(state, instr, runs)
        elif instr.has_op_mask:
            raise Unsupported(f"{instr}")
        else:
            state.memory.store_word(address(state, instr), runs, size)

    return extract


def _permute_dwords(state: State, instr: Instruction) -> None:
    """pshufd: dwords within each 128-bit lane."""
    size = vector_size(instr)
    order = instr.immediate(instr.op_count - 1)
    runs = read_vector(state, instr, 1, size)
    out: list[Run] = []
    for low in range(0, size, 16):
        for n in range(4):
            at = low + 4 * (order >> 2 * n & 3)
            out += domain.cut(runs, at, at + 4)
    write_vector(state, instr, domain.merge(out))


def _permute_lanes(state: State, instr: Instruction) -> None:
    """vperm2i128."""
    both = [*read_vector(state, instr, 1, 32), *read_vector(state, instr, 2, 32)]
    order = instr.immediate(3)
    out: list[Run] = []
    for n in range(2):
        select = order >> 4 * n
        at = 16 * (select & 3)
        out += domain.zeros(16) if select & 8 else domain.cut(tuple(both), at, at + 16)
    write_vector(state, instr, domain.merge(out))


def _shuffle_lanes(state: State, instr: Instruction) -> None:
    """vshufi64x2, vshufi32x4 zmm: two 128-bit lanes of each source."""
    size = vector_size(instr)
    if size != VECTOR_BYTES:
        raise Unsupported("vshufi of 256 bits")
    first, second = read_vector(state, instr, 1, size), read_vector(state, instr, 2, size)
    order = instr.immediate(3)
    out: list[Run] = []
    for n in range(4):
        at = 16 * (order >> 2 * n & 3)
        out += domain.cut(first if n < 2 else second, at, at + 16)
    write_vector(state, instr, domain.merge(out))


def _shift_bytes(up: bool) -> Semantics:
    """pslldq, psrldq: each 128-bit lane moves away from byte 0, or towards it."""

    def shift(state: State, instr: Instruction) -> None:
        count = min(instr.immediate(instr.op_count - 1), 16)
        source = 0 if instr.op_count == 2 else 1
        size = vector_size(instr)
        runs = read_vector(state, instr, source, size)
        out: list[Run] = []
        for low in range(0, size, 16):
            kept = domain.cut(runs, low, low + 16 - count) if up else domain.cut(runs, low + count, low + 16)
            out += [*domain.zeros(count), *kept] if up else [*kept, *domain.zeros(count)]
        write_vector(state, instr, domain.merge(out))

    return shift


def _low_words(state: State, instr: Instruction) -> None:
    """punpcklqdq xmm: the low words of both sources."""
    first, second = (read_vector(state, instr, n, 16) for n in range(2))
    write_vector(state, instr, domain.merge([*domain.cut(first, 0, 8), *domain.cut(second, 0, 8)]))


def _high_to_low(state: State, instr: Instruction) -> None:
    """movhlps xmm: the high word of the last source becomes the low word of the first one."""
    first, second = (read_vector(state, instr, n, 16) for n in range(instr.op_count - 2, instr.op_count))
    write_vector(state, instr, domain.merge([*domain.cut(second, 8, 16), *domain.cut(first, 8, 16)]))


TABLE: dict[str, Semantics] = {
    **forms(_shift_bytes(up=False), "PSRLDQ_XMM_IMM8", "VEX_VPSRLDQ_XMM_XMM_IMM8"),
    **forms(_shift_bytes(up=True), "PSLLDQ_XMM_IMM8", "VEX_VPSLLDQ_XMM_XMM_IMM8"),
    **forms(_low_words, "PUNPCKLQDQ_XMM_XMMM128"),
    **forms(_high_to_low, "MOVHLPS_XMM_XMM", "VEX_VMOVHLPS_XMM_XMM_XMM"),
    **forms(_duplicate, "MOVDDUP_XMM_XMMM64"),
    **forms(_insert(1), "PINSRB_XMM_R32M8_IMM8", "VEX_VPINSRB_XMM_XMM_R32M8_IMM8"),
    **forms(_insert(2), "PINSRW_XMM_R32M16_IMM8", "VEX_VPINSRW_XMM_XMM_R32M16_IMM8"),
    **forms(_insert(4), "PINSRD_XMM_RM32_IMM8", "VEX_VPINSRD_XMM_XMM_RM32_IMM8"),
    **forms(_insert(8), "PINSRQ_XMM_RM64_IMM8", "VEX_VPINSRQ_XMM_XMM_RM64_IMM8"),
    **forms(_extract_word, "PEXTRW_R32_XMM_IMM8", "VEX_VPEXTRW_R32_XMM_IMM8"),
    **forms(_extract_quarter, "PEXTRQ_RM64_XMM_IMM8", "VEX_VPEXTRQ_RM64_XMM_IMM8"),
    **forms(
        _insert_part(16),
        "VEX_VINSERTI128_YMM_YMM_XMMM128_IMM8",
        "EVEX_VINSERTI32X4_ZMM_K1Z_ZMM_XMMM128_IMM8",
    ),
    **forms(_insert_part(32), "EVEX_VINSERTI64X4_ZMM_K1Z_ZMM_YMMM256_IMM8"),
    **forms(
        _expand_bytes,
        "EVEX_VPEXPANDB_XMM_K1Z_XMMM128",
        "EVEX_VPEXPANDB_YMM_K1Z_YMMM256",
        "EVEX_VPEXPANDB_ZMM_K1Z_ZMMM512",
    ),
    **forms(
        _compress_bytes,
        "EVEX_VPCOMPRESSB_XMMM128_K1Z_XMM",
        "EVEX_VPCOMPRESSB_YMMM256_K1Z_YMM",
        "EVEX_VPCOMPRESSB_ZMMM512_K1Z_ZMM",
    ),
    **forms(
        _extract_half(16),
        "VEX_VEXTRACTI128_XMMM128_YMM_IMM8",
        "EVEX_VEXTRACTI32X4_XMMM128_K1Z_YMM_IMM8",
    ),
    **forms(_extract_half(32), "EVEX_VEXTRACTI64X4_YMMM256_K1Z_ZMM_IMM8"),
    **forms(_permute_dwords, "PSHUFD_XMM_XMMM128_IMM8", "VEX_VPSHUFD_YMM_YMMM256_IMM8"),
    **forms(_permute_lanes, "VEX_VPERM2I128_YMM_YMM_YMMM256_IMM8"),
    **forms(
        _shuffle_lanes,
        "EVEX_VSHUFI64X2_ZMM_K1Z_ZMM_ZMMM512B64_IMM8",
        "EVEX_VSHUFI32X4_ZMM_K1Z_ZMM_ZMMM512B32_IMM8",
    ),
    **forms(_broadcast(1), "VEX_VPBROADCASTB_YMM_XMMM8", "EVEX_VPBROADCASTB_ZMM_K1Z_R32"),
    **forms(
        _broadcast(4),
        "VEX_VPBROADCASTD_YMM_XMMM32",
        "EVEX_VPBROADCASTD_YMM_K1Z_R32",
        "EVEX_VPBROADCASTD_ZMM_K1Z_R32",
    ),
    **forms(
        _broadcast(8),
        "VEX_VPBROADCASTQ_YMM_XMMM64",
        "VEX_VBROADCASTSD_YMM_M64",
        "EVEX_VBROADCASTF32X2_ZMM_K1Z_XMMM64",
        "EVEX_VPBROADCASTQ_YMM_K1Z_XMMM64",
        "EVEX_VPBROADCASTQ_ZMM_K1Z_XMMM64",
    ),
    **forms(
        _broadcast(16),
        "VEX_VBROADCASTI128_YMM_M128",
        "EVEX_VBROADCASTI32X4_YMM_K1Z_M128",
        "EVEX_VBROADCASTI32X4_ZMM_K1Z_M128",
    ),
}
