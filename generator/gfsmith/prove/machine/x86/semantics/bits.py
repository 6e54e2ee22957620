"""Instructions on the bits of general registers: logic, tests and shifts, after the Intel SDM, volume 2.

The operands are plain numbers or whole bytes of data. The result for an unknown number or address is computed
only if it follows from its linear form.
"""

from __future__ import annotations

from collections.abc import Callable

from iced_x86 import Instruction, OpKind

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.alignment import join, joined, remainder
from gfsmith.prove.machine.crc32 import CRC32C, crc32
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import shift_number
from gfsmith.prove.machine.linear import Address, Linear, Word, add, base, scale, subtract, symbol
from gfsmith.prove.machine.register_values import as_bytes, checked, wrap
from gfsmith.prove.machine.state import (
    UNDEFINED,
    Alignment,
    Difference,
    Joined,
    Known,
    LowBits,
    LowHalf,
    State,
)
from gfsmith.prove.machine.substitution import field, low_bits, masked
from gfsmith.prove.machine.x86.semantics.general import SPAN, arithmetic, number, size_of, word
from gfsmith.prove.machine.x86.semantics.operands import (
    Semantics,
    general_name,
    memory_size,
    read_general,
    register_size,
    write_general,
)


def _logic_flags(result: int, size: int) -> Known:
    result %= 1 << 8 * size
    return Known(False, result == 0, result >> 8 * size - 1 == 1, False)


def _test(state: State, instr: Instruction) -> None:
    low = _low_masked(state, instr)
    if low is not None:
        _logic_result(state, low, size_of(instr))
        return
    same = instr.op1_kind == OpKind.REGISTER and instr.op0_register == instr.op1_register
    left = read_general(state, instr, 0)
    if same and isinstance(left, Linear):
        state.flags = Difference(left, 0, size_of(instr))
        return
    if same and isinstance(left, Joined):
        state.flags = Alignment(left.addresses, left.mask)
        return
    addresses = _remainder(state, instr)
    if addresses is not None:
        state.flags = Alignment(addresses.addresses, addresses.mask)
        return
    result = _masked(state, instr)
    if result is None:
        result = number(state, instr, 0) & number(state, instr, 1)
    _logic_result(state, result, size_of(instr))


def _test_byte(state: State, instr: Instruction) -> None:
    """test of the low byte of a register, which may hold an unknown of any size."""
    whole = state.gpr[general_name(instr.op0_register)] if instr.op0_kind == OpKind.REGISTER else None
    if isinstance(whole, Linear):
        _logic_result(state, masked(state, whole, instr.immediate(1) & 0xFF), 1)
    else:
        _test(state, instr)


def _masked(state: State, instr: Instruction) -> Word | None:
    """Return the AND of an unknown and a number; None for other operands."""
    left, right = read_general(state, instr, 0), read_general(state, instr, 1)
    if not isinstance(left, Linear) or not isinstance(right, int):
        return None
    return masked(state, left, right % (1 << 8 * size_of(instr)))


def _low_masked(state: State, instr: Instruction) -> Word | None:
    """Return the AND of a number and the low half of a register whose number may need more bits; None for
    other operands."""
    if instr.op0_kind != OpKind.REGISTER or register_size(instr.op0_register) < 4:
        return None
    immediate = instr.op1_kind not in (OpKind.REGISTER, OpKind.MEMORY)
    whole = state.gpr[general_name(instr.op0_register)]
    if immediate and isinstance(whole, LowHalf):
        return masked(state, whole.number, instr.immediate(1) % (1 << 32))
    if size_of(instr) != 4 or not immediate:
        return None
    if not isinstance(whole, Linear) or state.facts.range(whole)[1] < 1 << 32:
        return None
    return masked(state, whole, instr.immediate(1) % (1 << 32))


def _logic_result(state: State, result: Word, size: int) -> None:
    """Set the flags of a logical operation."""
    if isinstance(result, int):
        state.flags = _logic_flags(result, size)
    else:
        state.flags = Difference(result, 0, size, logical=True)


def _remainder(state: State, instr: Instruction) -> Joined | None:
    left, right = read_general(state, instr, 0), read_general(state, instr, 1)
    return remainder(left, right) if isinstance(right, int) else None


def _align_down(state: State, instr: Instruction) -> bool:
    """AND of an address on the stack with -2^b: an unknown below 2^b, the same for the same address, is
    taken off."""
    left, right = read_general(state, instr, 0), read_general(state, instr, 1)
    if not isinstance(left, Linear) or not isinstance(right, int) or size_of(instr) != 8:
        return False
    place, width = base(left), -right
    if place is None or place[0] != Address("stack") or not isinstance(place[1], int):
        return False
    if width < 1 or width & width - 1:
        return False
    rest = symbol(f"({left} mod {width})")
    state.facts.assume(rest, 0, width - 1)
    aligned = subtract(left, rest)
    state.multiples[aligned] = width
    state.flags = UNDEFINED
    write_general(state, instr, aligned)
    return True


def _and(state: State, instr: Instruction) -> None:
    low = _low_masked(state, instr)
    if low is not None:
        _logic_result(state, low, size_of(instr))
        write_general(state, instr, low)
        return
    if _align_down(state, instr):
        return
    addresses = _remainder(state, instr)
    if addresses is not None:
        state.flags = Alignment(addresses.addresses, addresses.mask)
        write_general(state, instr, addresses)
        return
    result = _masked(state, instr)
    if result is None:
        _bitwise(lambda a, b: a & b)(state, instr)
        return
    _logic_result(state, result, size_of(instr))
    write_general(state, instr, result)


def _bitwise(combine: Callable[[int, int], int]) -> Semantics:
    def run(state: State, instr: Instruction) -> None:
        result = combine(number(state, instr, 0), number(state, instr, 1))
        state.flags = _logic_flags(result, size_of(instr))
        write_general(state, instr, result)

    return run


def _xor(state: State, instr: Instruction) -> None:
    if instr.op1_kind == OpKind.REGISTER and instr.op0_register == instr.op1_register:
        state.flags = _logic_flags(0, size_of(instr))
        write_general(state, instr, 0)
        return
    operands = [read_general(state, instr, n) for n in range(2)]
    if all(not isinstance(operand, tuple) or domain.is_known(operand) for operand in operands):
        _bitwise(lambda a, b: a ^ b)(state, instr)
        return
    left, right = (as_bytes(state, operand, size_of(instr)) for operand in operands)
    state.flags = UNDEFINED
    write_general(state, instr, domain.xor(left, right))


def _or(state: State, instr: Instruction) -> None:
    left, right = read_general(state, instr, 0), read_general(state, instr, 1)
    same = instr.op1_kind == OpKind.REGISTER and instr.op0_register == instr.op1_register
    if same and isinstance(left, Linear):
        state.flags = Difference(left, 0, size_of(instr))
    elif isinstance(left, Joined | Linear) and isinstance(right, Joined | Linear):
        both = join(joined(left), joined(right))
        state.flags = Alignment(both.addresses, both.mask)
        write_general(state, instr, both)
    elif isinstance(left, Linear) and isinstance(right, int) and _is_disjoint(left, right):
        result = add(left, right)
        state.flags = Difference(result, 0, size_of(instr), logical=True)
        write_general(state, instr, checked(state, result, size_of(instr)))
    else:
        _bitwise(lambda a, b: a | b)(state, instr)


def _is_disjoint(value: Linear, number: int) -> bool:
    """Return True if an unknown is a multiple of a power of two above a number: then OR adds the number."""
    return number > 0 and low_bits(value, (1 << number.bit_length()) - 1) == 0


def _not(state: State, instr: Instruction) -> None:
    """not: the flags stay."""
    size = size_of(instr)
    write_general(state, instr, ~number(state, instr, 0) % (1 << 8 * size))


def _shift_left(state: State, instr: Instruction) -> None:
    count = number(state, instr, 1) % (8 * size_of(instr))
    state.flags = UNDEFINED
    data = read_general(state, instr, 0)
    if isinstance(data, tuple):
        write_general(state, instr, shift_number(data, -count))
        return
    value = word(state, instr, 0)
    write_general(state, instr, checked(state, wrap(scale(value, 1 << count), 8), size_of(instr)))


def _shift_right(state: State, instr: Instruction) -> None:
    """shr by a constant; the flags of a shift by 0 are those of before, which are given up here."""
    size = size_of(instr)
    count = number(state, instr, 1) % (8 * size)
    state.flags = UNDEFINED
    value = read_general(state, instr, 0)
    if isinstance(value, tuple):
        write_general(state, instr, shift_number(value, count))
        return
    result = field(state, word(state, instr, 0), count, 8 * size - count)
    if count and not isinstance(result, int):
        state.flags = Difference(result, 0, size, logical=True)
    write_general(state, instr, result)


def _shift_right_double(state: State, instr: Instruction) -> None:
    """shrd by a constant: bits of operand 1 enter from above."""
    low, high = (as_bytes(state, read_general(state, instr, n), 8) for n in range(2))
    count = instr.immediate(2) % 64
    state.flags = UNDEFINED
    shifted = shift_number(domain.merge([*low, *high]), count)
    write_general(state, instr, domain.cut(shifted, 0, 8))


def _shift_without_flags(left: bool) -> Semantics:
    """shlx, shrx."""

    def shift(state: State, instr: Instruction) -> None:
        value, count = number(state, instr, 1), number(state, instr, 2) % 64
        write_general(state, instr, value << count if left else value >> count)

    return shift


def _crc32(state: State, instr: Instruction) -> None:
    """crc32: the register is the low half of operand 0; the flags stay."""
    register = as_bytes(state, read_general(state, instr, 0), 4)
    data = read_general(state, instr, 1)
    size = memory_size(instr) if instr.op1_kind == OpKind.MEMORY else register_size(instr.op1_register)
    result = crc32(CRC32C, register, as_bytes(state, data, size))
    write_general(state, instr, domain.merge([*result, *domain.zeros(size_of(instr) - 4)]))


def _zero_high_bits(state: State, instr: Instruction) -> None:
    """bzhi: bits from index (the low byte of operand 2) on are cleared."""
    if _keeps_low_bits(state, instr):
        return
    index = number(state, instr, 2) & 0xFF
    value = number(state, instr, 1)
    size = size_of(instr)
    result = value if index >= 8 * size else value & (1 << index) - 1
    state.flags = Known(index >= 8 * size, result == 0, result >> 8 * size - 1 == 1, False)
    write_general(state, instr, result)


def _keeps_low_bits(state: State, instr: Instruction) -> bool:
    """bzhi of all ones by an unknown below 64."""
    count, ones = read_general(state, instr, 2), read_general(state, instr, 1)
    if not isinstance(count, Linear) or not isinstance(ones, int) or ones % SPAN != SPAN - 1:
        return False
    low, high = state.facts.range(count)
    if low < 0 or high >= 64:
        raise Unsupported(f"bzhi by {count}")
    state.flags = UNDEFINED
    write_general(state, instr, LowBits(count))
    return True


def _shift_arithmetic(state: State, instr: Instruction) -> None:
    """sarx."""
    value = number(state, instr, 1)
    signed = value - SPAN if value >> 63 else value
    write_general(state, instr, signed >> number(state, instr, 2) % 64)


def _set_bit(state: State, instr: Instruction) -> None:
    """bts on a register: the old bit becomes the carry."""
    if instr.op0_kind == OpKind.MEMORY:
        raise Unsupported("bts on memory, which reaches beyond its operand")
    value, bit = number(state, instr, 0), number(state, instr, 1) % (8 * size_of(instr))
    state.flags = Known(bool(value >> bit & 1), None, None, None)
    write_general(state, instr, value | 1 << bit)


TABLE: dict[str, Semantics] = {
    **arithmetic("AND", _and),
    **arithmetic("OR", _or),
    **arithmetic("XOR", _xor),
    **forms(_xor, "XOR_RM8_IMM8", "XOR_AL_IMM8"),
    **forms(_test, "TEST_RM64_R64", "TEST_RM64_IMM32", "TEST_RM32_R32", "TEST_RAX_IMM32"),
    **forms(_test_byte, "TEST_RM8_IMM8", "TEST_AL_IMM8"),
    **forms(_not, "NOT_RM64", "NOT_RM32"),
    **forms(_shift_left, "SHL_RM64_IMM8", "SHL_RM64_1", "SHL_RM32_IMM8"),
    **forms(_shift_right, "SHR_RM64_IMM8", "SHR_RM64_1", "SHR_RM32_IMM8"),
    **forms(_crc32, "CRC32_R64_RM64", "CRC32_R32_RM32", "CRC32_R32_RM16", "CRC32_R32_RM8"),
    **forms(_zero_high_bits, "VEX_BZHI_R64_RM64_R64"),
    **forms(_shift_right_double, "SHRD_RM64_R64_IMM8"),
    **forms(_shift_without_flags(left=True), "VEX_SHLX_R64_RM64_R64"),
    **forms(_shift_without_flags(left=False), "VEX_SHRX_R64_RM64_R64"),
    **forms(_shift_arithmetic, "VEX_SARX_R64_RM64_R64"),
    **forms(_set_bit, "BTS_RM64_R64"),
}
