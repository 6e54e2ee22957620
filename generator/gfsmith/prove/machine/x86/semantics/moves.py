"""Whole vectors to and from registers and memory, after the Intel SDM, volume 2."""

from __future__ import annotations

from iced_x86 import Instruction, OpKind

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.alignment import is_multiple
from gfsmith.prove.machine.domain import Run, Runs, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import spans
from gfsmith.prove.machine.linear import Word, add
from gfsmith.prove.machine.register_values import as_bytes
from gfsmith.prove.machine.state import LowBits, State
from gfsmith.prove.machine.x86.registers import VECTOR_BYTES
from gfsmith.prove.machine.x86.semantics.operands import (
    Semantics,
    address,
    general_name,
    low_bits,
    mask_bits,
    mask_element,
    mask_number,
    memory_size,
    read_general,
    read_vector,
    register_size,
    vector_number,
    vector_size,
    write_general,
    write_vector,
)
from gfsmith.prove.verdict import Refutation

_FULL_MASK = (1 << 64) - 1


def _move(state: State, instr: Instruction) -> None:
    """Whole-register moves, to and from memory, with an optional write mask."""
    if instr.op0_kind == OpKind.MEMORY:
        number = vector_number(instr.op1_register)
        size = register_size(instr.op1_register)
        _store(state, instr, domain.cut(state.vectors[number], 0, size))
    elif instr.has_op_mask and instr.op1_kind == OpKind.MEMORY:
        count = low_bits(state, instr)
        if count is None:
            write_vector(state, instr, _masked_load(state, instr, vector_size(instr)))
        elif instr.zeroing_masking:
            runs = state.memory.load_end(address(state, instr), vector_size(instr), count)
            write_vector(state, instr, runs, masked=True)
        else:
            raise Unsupported("a merge with an unknown mask")
    else:
        write_vector(state, instr, read_vector(state, instr, 1, vector_size(instr)))


def _masked_load(state: State, instr: Instruction, size: int) -> Runs:
    """Bytes whose mask bit is 0 are not read."""
    place, element = address(state, instr), mask_element(instr)
    out: list[Run] = []
    for low, high, on in spans(mask_bits(state, instr), size // element):
        length = (high - low) * element
        out += state.memory.load(add(place, low * element), length) if on else domain.zeros(length)
    return domain.merge(out)


def _store(state: State, instr: Instruction, runs: Runs) -> None:
    place = address(state, instr)
    count = low_bits(state, instr)
    if count is not None:
        state.memory.store_end(place, runs, count)
    elif instr.has_op_mask:
        element = mask_element(instr)
        for low, high, on in spans(mask_bits(state, instr), domain.size(runs) // element):
            if on:
                part = domain.cut(runs, low * element, high * element)
                state.memory.store_word(add(place, low * element), part, (high - low) * element)
    else:
        state.memory.store_word(place, runs, domain.size(runs))


def _aligned_move(state: State, instr: Instruction) -> None:
    """Like a move, but an unaligned address faults."""
    if OpKind.MEMORY in (instr.op0_kind, instr.op1_kind):
        _require_multiple(state, address(state, instr), memory_size(instr))
    _move(state, instr)


def _stream(state: State, instr: Instruction) -> None:
    """A store around the cache; it faults if unaligned."""
    _aligned_move(state, instr)
    state.unfenced = True


def _require_multiple(state: State, place: Word, size: int) -> None:
    if not is_multiple(state, place, size):
        raise Refutation(f"an access that must be aligned to {size} bytes, at {place}")


def _low_move(size: int) -> Semantics:
    """movd, movq: the low bytes of a vector register, the rest cleared."""

    def move(state: State, instr: Instruction) -> None:
        if instr.op0_kind == OpKind.REGISTER and register_size(instr.op0_register) == 16:
            if instr.op1_kind == OpKind.MEMORY:
                low = state.memory.load(address(state, instr), size)
            elif register_size(instr.op1_register) == 16:
                low = read_vector(state, instr, 1, size)
            else:
                low = as_bytes(state, state.gpr[general_name(instr.op1_register)], size)
            write_vector(state, instr, domain.merge([*low, *domain.zeros(16 - size)]))
            return
        low = domain.cut(state.vectors[vector_number(instr.op1_register)], 0, size)
        if instr.op0_kind == OpKind.MEMORY:
            state.memory.store_word(address(state, instr), low, size)
        else:
            write_general(state, instr, low)

    return move


def _high_quarter(state: State, instr: Instruction) -> None:
    """movhps: bytes 8..15 from or to memory."""
    if instr.op0_kind == OpKind.MEMORY:
        runs = domain.cut(state.vectors[vector_number(instr.op1_register)], 8, 16)
        state.memory.store_word(address(state, instr), runs, 8)
        return
    low = read_vector(state, instr, 0 if instr.op_count == 2 else 1, 8)
    high = state.memory.load(address(state, instr), 8)
    write_vector(state, instr, domain.merge([*low, *high]))


def _clear_upper(state: State, instr: Instruction) -> None:
    """vzeroupper: zmm0-15 keep their low 16 bytes."""
    for number in range(16):
        low = domain.cut(state.vectors[number], 0, 16)
        state.vectors[number] = domain.merge([*low, *domain.zeros(VECTOR_BYTES - 16)])
    state.dirty = False


def _mask_from_general(state: State, instr: Instruction) -> None:
    value = read_general(state, instr, 1)
    if not isinstance(value, int | LowBits):
        raise Unsupported("a mask that is not a number")
    state.masks[mask_number(instr.op0_register)] = value & _FULL_MASK if isinstance(value, int) else value


def _short_mask_from_general(size: int) -> Semantics:
    """kmovw, kmovd: the bits for `size` bytes, the others cleared."""

    def move(state: State, instr: Instruction) -> None:
        value = read_general(state, instr, 1)
        if not isinstance(value, int):
            raise Unsupported("a mask that is not a number")
        state.masks[mask_number(instr.op0_register)] = value % (1 << size)

    return move


TABLE: dict[str, Semantics] = {
    **forms(
        _move,
        "MOVDQU_XMM_XMMM128",
        "MOVDQU_XMMM128_XMM",
        "MOVUPS_XMM_XMMM128",
        "MOVUPS_XMMM128_XMM",
        "VEX_VMOVDQU_XMM_XMMM128",
        "VEX_VMOVUPS_YMM_YMMM256",
        "VEX_VMOVUPD_YMM_YMMM256",
        "VEX_VMOVDQU_YMM_YMMM256",
        "VEX_VMOVDQU_XMMM128_XMM",
        "VEX_VMOVUPS_YMMM256_YMM",
        "VEX_VMOVDQU_YMMM256_YMM",
        "EVEX_VMOVDQU8_XMM_K1Z_XMMM128",
        "EVEX_VMOVDQU8_YMM_K1Z_YMMM256",
        "EVEX_VMOVDQU8_YMMM256_K1Z_YMM",
        "EVEX_VMOVDQU8_ZMM_K1Z_ZMMM512",
        "EVEX_VMOVDQU8_ZMMM512_K1Z_ZMM",
        "EVEX_VMOVDQU64_ZMM_K1Z_ZMMM512",
        "EVEX_VMOVDQU64_ZMMM512_K1Z_ZMM",
    ),
    **forms(
        _aligned_move,
        "MOVDQA_XMM_XMMM128",
        "MOVDQA_XMMM128_XMM",
        "MOVAPS_XMM_XMMM128",
        "MOVAPS_XMMM128_XMM",
        "MOVNTDQA_XMM_M128",
        "VEX_VMOVDQA_XMM_XMMM128",
        "VEX_VMOVDQA_XMMM128_XMM",
        "VEX_VMOVAPD_YMM_YMMM256",
        "VEX_VMOVDQA_YMM_YMMM256",
        "VEX_VMOVDQA_YMMM256_YMM",
        "VEX_VMOVNTDQA_XMM_M128",
        "VEX_VMOVNTDQA_YMM_M256",
        "EVEX_VMOVDQA64_YMM_K1Z_YMMM256",
        "EVEX_VMOVDQA64_ZMM_K1Z_ZMMM512",
    ),
    **forms(
        _stream,
        "MOVNTDQ_M128_XMM",
        "VEX_VMOVNTDQ_M128_XMM",
        "VEX_VMOVNTDQ_M256_YMM",
        "EVEX_VMOVNTDQ_M256_YMM",
        "EVEX_VMOVNTDQ_M512_ZMM",
    ),
    **forms(
        _low_move(4),
        "MOVD_XMM_RM32",
        "MOVD_RM32_XMM",
        "VEX_VMOVD_XMM_RM32",
        "VEX_VMOVD_RM32_XMM",
    ),
    **forms(
        _low_move(8),
        "MOVQ_XMM_RM64",
        "MOVQ_RM64_XMM",
        "MOVQ_XMM_XMMM64",
        "MOVQ_XMMM64_XMM",
        "VEX_VMOVQ_XMM_RM64",
        "VEX_VMOVQ_RM64_XMM",
        "VEX_VMOVQ_XMM_XMMM64",
        "VEX_VMOVQ_XMMM64_XMM",
    ),
    **forms(
        _high_quarter,
        "MOVHPS_XMM_M64",
        "MOVHPS_M64_XMM",
        "VEX_VMOVHPS_XMM_XMM_M64",
        "VEX_VMOVHPS_M64_XMM",
    ),
    **forms(_clear_upper, "VEX_VZEROUPPER"),
    **forms(_mask_from_general, "VEX_KMOVQ_KR_R64"),
    **forms(_short_mask_from_general(16), "VEX_KMOVW_KR_R32"),
    **forms(_short_mask_from_general(32), "VEX_KMOVD_KR_R32"),
}
