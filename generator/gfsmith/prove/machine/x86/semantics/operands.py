"""Reading and writing an instruction's operands."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from iced_x86 import (
    Code,
    EncodingKind,
    Instruction,
    MemorySizeExt,
    OpKind,
    Register,
    RegisterExt,
)

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.alignment import is_multiple
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.lanes import spans
from gfsmith.prove.machine.linear import Linear, Word, add, scale
from gfsmith.prove.machine.register_values import narrow
from gfsmith.prove.machine.state import LowBits, Opaque, State, Value
from gfsmith.prove.machine.x86.registers import GENERAL, VECTOR_BYTES

Semantics = Callable[[State, Instruction], None]


#: Legacy loads of 16 bytes that take any address.
_UNALIGNED = frozenset({Code.MOVDQU_XMM_XMMM128, Code.MOVUPS_XMM_XMMM128})

#: Aligned by definition: moves.py checks their addresses against the promises of the contract.
_ALIGNED = frozenset({Code.MOVDQA_XMM_XMMM128, Code.MOVAPS_XMM_XMMM128, Code.MOVNTDQA_XMM_M128})

#: iced numbers full registers in this order.
_FULL = {getattr(Register, name.upper()): name for name in GENERAL}


@lru_cache(maxsize=1024)
def general_name(register: int) -> str:
    """The 64-bit register that a general register is part of."""
    name = _FULL.get(RegisterExt.full_register(register))  # type: ignore[arg-type]
    if name is None:
        raise Unsupported(f"register {register} is not a general register")
    if register in (Register.AH, Register.BH, Register.CH, Register.DH):
        raise Unsupported("high byte registers")
    return name


@lru_cache(maxsize=1024)
def register_size(register: int) -> int:
    return RegisterExt.size(register)  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def vector_number(register: int) -> int:
    if not RegisterExt.is_vector_register(register):  # type: ignore[arg-type]
        raise Unsupported(f"register {register} is not a vector register")
    return RegisterExt.number(register)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def mask_number(register: int) -> int:
    if not RegisterExt.is_k(register):  # type: ignore[arg-type]
        raise Unsupported(f"register {register} is not a mask register")
    return RegisterExt.number(register)  # type: ignore[arg-type]


def address(state: State, instr: Instruction) -> Word:
    """base + index * scale + displacement, or the absolute address of a rip-relative operand."""
    if instr.segment_prefix != Register.NONE:
        raise Unsupported("segment override")
    if instr.is_ip_rel_memory_operand:
        if instr.memory_base != Register.RIP:
            raise Unsupported("32-bit addressing")
        return state.memory.relative(instr.ip, instr.next_ip, instr.ip_rel_memory_address)
    displacement = instr.memory_displacement
    total: Word = displacement - (1 << 64) if displacement >> 63 else displacement
    if instr.memory_base != Register.NONE:
        total = add(total, _part(state, instr.memory_base))
    if instr.memory_index != Register.NONE:
        index = _part(state, instr.memory_index)
        total = add(total, scale(index, instr.memory_index_scale))
    return total % (1 << 64) if isinstance(total, int) else total


def _part(state: State, register: int) -> Word:
    if register_size(register) != 8:
        raise Unsupported("32-bit or vector addressing")
    return state.word(general_name(register))


def read_general(state: State, instr: Instruction, number: int) -> Value | Opaque:
    """Operand `number` of a general instruction: register, memory or immediate, at its size."""
    kind = instr.op_kind(number)
    if kind == OpKind.REGISTER:
        register = instr.op_register(number)
        return narrow(state, state.gpr[general_name(register)], register_size(register))
    if kind == OpKind.MEMORY:
        return state.memory.load_word(address(state, instr), memory_size(instr))
    value = instr.immediate(number)
    return value - (1 << 64) if value >> 63 else value


def write_general(state: State, instr: Instruction, value: Value | Opaque) -> None:
    """Write operand 0: 32-bit results clear the upper half, smaller ones leave the rest."""
    if instr.op0_kind == OpKind.MEMORY:
        if isinstance(value, Opaque):
            raise Unsupported(f"{value} is stored")
        state.memory.store_word(address(state, instr), value, memory_size(instr))
        return
    register = instr.op0_register
    name, size = general_name(register), register_size(register)
    state.gpr[name] = widen(state.gpr[name], value, size)


def widen(old: Value | Opaque, value: Value | Opaque, size: int) -> Value | Opaque:
    """A full register after its low `size` bytes were written."""
    if isinstance(value, tuple):
        have = min(domain.size(value), size)
        value = domain.cut(value, 0, have) + domain.zeros(size - have)
    if size == 8:
        return value % (1 << 64) if isinstance(value, int) else value
    if size == 4:
        if isinstance(value, tuple):
            return domain.merge([*value, (4, domain.ZERO)])
        return value % (1 << 32) if isinstance(value, int) else value
    if isinstance(old, int) and isinstance(value, int):
        keep = -1 << 8 * size
        return (old & keep | value % (1 << 8 * size)) % (1 << 64)
    upper = domain.constant_runs((old % (1 << 64)).to_bytes(8, "little")) if isinstance(old, int) else old
    lower = value
    if isinstance(lower, int):
        lower = domain.constant_runs((lower % (1 << 8 * size)).to_bytes(size, "little"))
    if isinstance(upper, Linear):
        upper = domain.unknown(domain.UNCLEAR, 8)
    if not isinstance(upper, tuple) or not isinstance(lower, tuple):
        raise Unsupported("part of an address is overwritten")
    return domain.merge([*lower, *domain.cut(upper, size, 8)])


def memory_size(instr: Instruction) -> int:
    return MemorySizeExt.size(instr.memory_size)


def vector_size(instr: Instruction) -> int:
    """Bytes of the vector register that operand 0 or 1 is."""
    for number in range(min(2, instr.op_count)):
        if instr.op_kind(number) == OpKind.REGISTER:
            register = instr.op_register(number)
            if RegisterExt.is_vector_register(register):
                return register_size(register)
    raise Unsupported(f"{instr} has no vector operand")


def read_vector(state: State, instr: Instruction, number: int, size: int) -> Runs:
    """`size` bytes of a vector operand: register, memory, or a broadcast element."""
    if instr.op_kind(number) == OpKind.REGISTER:
        return domain.cut(state.vectors[vector_number(instr.op_register(number))], 0, size)
    place = address(state, instr)
    if instr.is_broadcast:
        element = MemorySizeExt.element_size(instr.memory_size)
        return domain.merge([*state.memory.load(place, element)] * (size // element))
    if _must_align(instr, size):
        _check_alignment(state, place, size)
    return state.memory.load(place, size)


def _must_align(instr: Instruction, size: int) -> bool:
    """Legacy SSE operands of 16 bytes fault if they are not aligned, but for the unaligned moves."""
    if instr.encoding != EncodingKind.LEGACY or size != 16:
        return False
    return memory_size(instr) == 16 and instr.code not in _UNALIGNED | _ALIGNED


def _check_alignment(state: State, place: Word, size: int) -> None:
    if not is_multiple(state, place, size):
        raise Unsupported(f"an aligned access at {place}")


def write_vector(state: State, instr: Instruction, runs: Runs, masked: bool = False) -> None:
    """Write operand 0, a register: VEX and EVEX clear the bytes above the result, SSE keeps them.

    masked: the caller has applied the write mask.
    """
    number = vector_number(instr.op0_register)
    size = domain.size(runs)
    if instr.has_op_mask and not masked:
        runs = blend(state, instr, runs, element=mask_element(instr))
    if instr.encoding == EncodingKind.LEGACY:
        above = domain.cut(state.vectors[number], size, VECTOR_BYTES)
    else:
        above = domain.zeros(VECTOR_BYTES - size)
        state.dirty = state.dirty or size > 16
    state.vectors[number] = domain.merge([*runs, *above]) if above else runs


def mask_element(instr: Instruction) -> int:
    """Return the number of bytes that one mask bit selects."""
    info = instr.op_code()
    text = info.instruction_string.split()[0]
    if text.endswith(("8", "b", "B")):
        return 1
    return MemorySizeExt.element_size(instr.memory_size) or (8 if text.endswith(("q", "Q", "64")) else 4)


def low_bits(state: State, instr: Instruction) -> Word | None:
    """Return the number of first bytes that a write mask selects, if it is an unknown; None otherwise."""
    mask = state.masks[mask_number(instr.op_mask)] if instr.has_op_mask else None
    if not isinstance(mask, LowBits):
        return None
    if mask_element(instr) != 1:
        raise Unsupported("an unknown mask of elements wider than a byte")
    return mask.count


def mask_bits(state: State, instr: Instruction) -> int:
    return state.mask_int(mask_number(instr.op_mask))


def blend(state: State, instr: Instruction, runs: Runs, element: int) -> Runs:
    """The new bytes where the mask is 1; 0 or the old ones elsewhere."""
    bits = mask_bits(state, instr)
    size = domain.size(runs)
    old = domain.zeros(size)
    if not instr.zeroing_masking:
        old = domain.cut(state.vectors[vector_number(instr.op0_register)], 0, size)
    out: list[domain.Run] = []
    for low, high, on in spans(bits, size // element):
        out += domain.cut(runs if on else old, low * element, high * element)
    return domain.merge(out)
