"""Instructions on general registers, after the Intel SDM, volume 2.

Numbers and addresses are added and subtracted; anything else needs plain numbers. Flags are kept as the
subtraction that made them, so that the explorer can decide a branch for all values at once.
"""

from __future__ import annotations

from collections.abc import Callable

from iced_x86 import Instruction, OpKind

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import Linear, Word, add, scale, subtract
from gfsmith.prove.machine.semantics.operands import (
    Semantics,
    address,
    forms,
    memory_size,
    read_general,
    register_size,
    write_general,
)
from gfsmith.prove.machine.state import (
    UNDEFINED,
    Alignment,
    Difference,
    Joined,
    Known,
    State,
    Value,
    constant_bytes,
    difference_flags,
)
from gfsmith.prove.verdict import Refutation

_SPAN = 1 << 64


def _size(instr: Instruction) -> int:
    if instr.op0_kind == OpKind.MEMORY:
        return memory_size(instr)
    return register_size(instr.op0_register)


def _word(state: State, instr: Instruction, number: int) -> Word:
    """Operand `number` as number or address."""
    value = read_general(state, instr, number)
    if isinstance(value, Joined):
        raise Unsupported("arithmetic on several addresses ORed")
    if isinstance(value, tuple):
        try:
            return int.from_bytes(constant_bytes(value), "little")
        except Unsupported:
            raise Refutation(f"{instr} computes with data or junk: it could decide a branch") from None
    return value


def _number(state: State, instr: Instruction, number: int) -> int:
    value = _word(state, instr, number)
    if not isinstance(value, int):
        raise Unsupported(f"{instr} on {value}")
    return value % _SPAN


def _move(state: State, instr: Instruction) -> None:
    write_general(state, instr, read_general(state, instr, 1))


def _move_zero_extended(state: State, instr: Instruction) -> None:
    value: Value | Joined
    if instr.op1_kind == OpKind.MEMORY:
        value = state.memory.load_word(address(state, instr), memory_size(instr))
    else:
        value = read_general(state, instr, 1)
    if isinstance(value, tuple):
        value = domain.merge([*value, *domain.zeros(8 - domain.size(value))])
    write_general(state, instr, value)


def _address(state: State, instr: Instruction) -> None:
    if register_size(instr.op0_register) != 8:
        raise Unsupported("lea to a 32-bit register")
    write_general(state, instr, address(state, instr))


def _wrap(value: Word, size: int) -> Word:
    return value % (1 << 8 * size) if isinstance(value, int) else value


def _add(state: State, instr: Instruction) -> None:
    left, right, size = _word(state, instr, 0), _word(state, instr, 1), _size(instr)
    state.flags = _sum_flags(left, right, size)
    write_general(state, instr, _checked(state, add(left, right), size))


def _sum_flags(left: Word, right: Word, size: int) -> Known:
    if not isinstance(left, int) or not isinstance(right, int):
        return UNDEFINED
    span, half = 1 << 8 * size, 1 << 8 * size - 1
    left, right = left % span, right % span
    total = (left + right) % span
    overflow = (~(left ^ right) & (left ^ total) & half) != 0
    return Known(left + right >= span, total == 0, total >= half, overflow)


def _checked(state: State, value: Word, size: int) -> Word:
    """A sum or difference; 64-bit ones of unknowns are left to the facts, narrower must fit."""
    if isinstance(value, int):
        return value % (1 << 8 * size)
    if size != 8:
        low, high = state.facts.range(value)
        if low < 0 or high >= 1 << 8 * size:
            raise Unsupported(f"{size}-byte arithmetic on {value}")
    return value


def _subtract(state: State, instr: Instruction) -> None:
    left, right, size = _word(state, instr, 0), _word(state, instr, 1), _size(instr)
    state.flags = Difference(left, _unsigned(right, size), size)
    if isinstance(state.flags.left, int) and isinstance(state.flags.right, int):
        state.flags = difference_flags(state.flags)
    write_general(state, instr, _checked(state, subtract(left, right), size))


def _unsigned(value: Word, size: int) -> Word:
    return value % (1 << 8 * size) if isinstance(value, int) else value


def _compare(state: State, instr: Instruction) -> None:
    left, right, size = _word(state, instr, 0), _word(state, instr, 1), _size(instr)
    state.flags = Difference(_unsigned(left, size), _unsigned(right, size), size)


def _logic_flags(result: int, size: int) -> Known:
    result %= 1 << 8 * size
    return Known(False, result == 0, result >> 8 * size - 1 == 1, False)


def _test(state: State, instr: Instruction) -> None:
    same = instr.op1_kind == OpKind.REGISTER and instr.op0_register == instr.op1_register
    left = read_general(state, instr, 0)
    if same and isinstance(left, Linear):
        state.flags = Difference(left, 0, _size(instr))
        return
    right = read_general(state, instr, 1)
    if isinstance(right, int) and isinstance(left, Joined | Linear) and right + 1 & right == 0:
        addresses = left.addresses if isinstance(left, Joined) else frozenset({left})
        state.flags = Alignment(addresses, right)
        return
    both = _number(state, instr, 0) & _number(state, instr, 1)
    state.flags = _logic_flags(both, _size(instr))


def _bitwise(combine: Callable[[int, int], int]) -> Semantics:
    def run(state: State, instr: Instruction) -> None:
        result = combine(_number(state, instr, 0), _number(state, instr, 1))
        state.flags = _logic_flags(result, _size(instr))
        write_general(state, instr, result)

    return run


def _xor(state: State, instr: Instruction) -> None:
    if instr.op1_kind == OpKind.REGISTER and instr.op0_register == instr.op1_register:
        state.flags = _logic_flags(0, _size(instr))
        write_general(state, instr, 0)
        return
    _bitwise(lambda a, b: a ^ b)(state, instr)


def _or(state: State, instr: Instruction) -> None:
    left, right = read_general(state, instr, 0), read_general(state, instr, 1)
    same = instr.op1_kind == OpKind.REGISTER and instr.op0_register == instr.op1_register
    if same and isinstance(left, Linear):
        state.flags = Difference(left, 0, _size(instr))
    elif isinstance(left, Joined | Linear) and isinstance(right, Joined | Linear):
        addresses = frozenset[Word]()
        for side in (left, right):
            addresses |= side.addresses if isinstance(side, Joined) else {side}
        state.flags = UNDEFINED
        write_general(state, instr, Joined(addresses))
    else:
        _bitwise(lambda a, b: a | b)(state, instr)


def _shift_left(state: State, instr: Instruction) -> None:
    count = _number(state, instr, 1) % (8 * _size(instr))
    value = _word(state, instr, 0)
    state.flags = UNDEFINED
    write_general(state, instr, _checked(state, _wrap(scale(value, 1 << count), 8), _size(instr)))


def _shift_right(state: State, instr: Instruction) -> None:
    count = _number(state, instr, 1) % (8 * _size(instr))
    state.flags = UNDEFINED
    write_general(state, instr, _number(state, instr, 0) >> count)


def _step(by: int) -> Semantics:
    """inc and dec: the carry flag stays."""

    def run(state: State, instr: Instruction) -> None:
        value, size = _word(state, instr, 0), _size(instr)
        carry = state.flag("cf")
        if isinstance(value, int):
            full = _sum_flags(value, by, size)
            state.flags = Known(carry, full.zf, full.sf, full.of)
        else:
            state.flags = UNDEFINED
        write_general(state, instr, _checked(state, add(value, by), size))

    return run


def _multiply(state: State, instr: Instruction) -> None:
    """imul with three operands, or two with an immediate."""
    factor = instr.immediate(2)
    factor = factor - _SPAN if factor >> 63 else factor
    state.flags = UNDEFINED
    write_general(state, instr, _checked(state, scale(_word(state, instr, 1), factor), 8))


def _zero_high_bits(state: State, instr: Instruction) -> None:
    """bzhi: bits from index (the low byte of operand 2) on are cleared."""
    index = _number(state, instr, 2) & 0xFF
    value = _number(state, instr, 1)
    size = _size(instr)
    result = value if index >= 8 * size else value & (1 << index) - 1
    state.flags = Known(index >= 8 * size, result == 0, result >> 8 * size - 1 == 1, False)
    write_general(state, instr, result)


def _shift_arithmetic(state: State, instr: Instruction) -> None:
    """sarx."""
    value = _number(state, instr, 1)
    signed = value - _SPAN if value >> 63 else value
    write_general(state, instr, signed >> _number(state, instr, 2) % 64)


def _set_bit(state: State, instr: Instruction) -> None:
    """bts on a register: the old bit becomes the carry."""
    if instr.op0_kind == OpKind.MEMORY:
        raise Unsupported("bts on memory, which reaches beyond its operand")
    value, bit = _number(state, instr, 0), _number(state, instr, 1) % (8 * _size(instr))
    state.flags = Known(bool(value >> bit & 1), None, None, None)
    write_general(state, instr, value | 1 << bit)


def _nothing(state: State, instr: Instruction) -> None:
    """No-ops."""


def _prefetch(state: State, instr: Instruction) -> None:
    """Never faults, but the address shows in the cache: it must not depend on data."""
    address(state, instr)


def _fence(state: State, instr: Instruction) -> None:
    state.unfenced = False


def _arithmetic(name: str, meaning: Semantics) -> dict[str, Semantics]:
    return forms(
        meaning,
        f"{name}_RM64_R64",
        f"{name}_R64_RM64",
        f"{name}_RM64_IMM8",
        f"{name}_RM64_IMM32",
        f"{name}_RAX_IMM32",
        f"{name}_RM32_R32",
        f"{name}_R32_RM32",
        f"{name}_RM32_IMM8",
        f"{name}_RM32_IMM32",
    )


TABLE: dict[str, Semantics] = {
    **forms(
        _move,
        "MOV_R64_RM64",
        "MOV_RM64_R64",
        "MOV_R32_RM32",
        "MOV_RM32_R32",
        "MOV_RM16_R16",
        "MOV_RM8_R8",
        "MOV_R32_IMM32",
        "MOV_R64_IMM64",
        "MOV_RM64_IMM32",
        "MOV_R8_IMM8",
    ),
    **forms(_move_zero_extended, "MOVZX_R32_RM8", "MOVZX_R32_RM16"),
    **forms(_address, "LEA_R64_M"),
    **_arithmetic("ADD", _add),
    **_arithmetic("SUB", _subtract),
    **_arithmetic("CMP", _compare),
    **_arithmetic("AND", _bitwise(lambda a, b: a & b)),
    **_arithmetic("OR", _or),
    **_arithmetic("XOR", _xor),
    **forms(_test, "TEST_RM64_R64", "TEST_RM64_IMM32", "TEST_RM32_R32", "TEST_RAX_IMM32"),
    **forms(_shift_left, "SHL_RM64_IMM8", "SHL_RM64_1"),
    **forms(_shift_right, "SHR_RM64_IMM8", "SHR_RM64_1"),
    **forms(_step(1), "INC_RM64"),
    **forms(_step(-1), "DEC_RM64"),
    **forms(_multiply, "IMUL_R64_RM64_IMM8", "IMUL_R64_RM64_IMM32"),
    **forms(_zero_high_bits, "VEX_BZHI_R64_RM64_R64"),
    **forms(_shift_arithmetic, "VEX_SARX_R64_RM64_R64"),
    **forms(_set_bit, "BTS_RM64_R64"),
    **forms(_nothing, "NOPD", "NOPW", "NOP_RM16", "NOP_RM32"),
    **forms(_prefetch, "PREFETCHT0_M8", "PREFETCHT1_M8", "PREFETCHT2_M8", "PREFETCHNTA_M8"),
    **forms(_fence, "SFENCE"),
}
