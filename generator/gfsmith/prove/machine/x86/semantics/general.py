"""Instructions on general registers, after the Intel SDM, volume 2.

Numbers and addresses are added and subtracted; anything else needs plain numbers. Flags are kept as the
subtraction that made them, so that the explorer can decide a branch for all values at once.
"""

from __future__ import annotations

from iced_x86 import Instruction, OpKind

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import shift_number
from gfsmith.prove.machine.linear import Linear, Word, add, scale, subtract
from gfsmith.prove.machine.register_values import checked, narrow
from gfsmith.prove.machine.state import (
    UNDEFINED,
    Alignment,
    Difference,
    Joined,
    Known,
    LowHalf,
    Opaque,
    State,
    Value,
    constant_bytes,
    difference_flags,
    sum_flags,
)
from gfsmith.prove.machine.x86.semantics.operands import (
    Semantics,
    address,
    general_name,
    memory_size,
    read_general,
    register_size,
    write_general,
)

SPAN = 1 << 64


def size_of(instr: Instruction) -> int:
    if instr.op0_kind == OpKind.MEMORY:
        return memory_size(instr)
    return register_size(instr.op0_register)


def word(state: State, instr: Instruction, number: int) -> Word:
    """Operand `number` as number or address."""
    value = read_general(state, instr, number)
    if isinstance(value, Opaque):
        raise Unsupported(f"arithmetic on {value}")
    if isinstance(value, tuple):
        try:
            return int.from_bytes(constant_bytes(value), "little")
        except Unsupported:
            reason = f"{instr} computes with data or junk: it could decide a branch"
            raise domain.refutation(value, reason) from None
    return value


def number(state: State, instr: Instruction, number: int) -> int:
    value = word(state, instr, number)
    if not isinstance(value, int):
        raise Unsupported(f"{instr} on {value}")
    return value % SPAN


def _move(state: State, instr: Instruction) -> None:
    write_general(state, instr, read_general(state, instr, 1))


def _move_low_half(state: State, instr: Instruction) -> None:
    """mov of 32 bits, also of an unknown number that may have more."""
    registers = instr.op0_kind == instr.op1_kind == OpKind.REGISTER
    whole = state.gpr[general_name(instr.op1_register)] if registers else None
    try:
        _move(state, instr)
    except Unsupported:
        if not isinstance(whole, Linear):
            raise
        state.gpr[general_name(instr.op0_register)] = LowHalf(whole)


def _move_zero_extended(state: State, instr: Instruction) -> None:
    value: Value | Opaque
    if instr.op1_kind == OpKind.MEMORY:
        value = state.memory.load_word(address(state, instr), memory_size(instr))
    else:
        value = read_general(state, instr, 1)
    if isinstance(value, tuple):
        value = domain.merge([*value, *domain.zeros(8 - domain.size(value))])
    write_general(state, instr, value)


def _sign_extended(state: State, value: Value | Opaque) -> Word:
    """Return a number of 32 bits with its sign, as one of 64 bits; an unknown must not be negative."""
    if isinstance(value, Opaque):
        raise Unsupported(f"the sign of {value}")
    if isinstance(value, tuple):
        value = int.from_bytes(constant_bytes(value), "little")
    if isinstance(value, int):
        return (value - (1 << 32) if value >> 31 else value) % SPAN
    if state.facts.range(value)[1] >= 1 << 31:
        raise Unsupported(f"{value} may be negative as a number of 32 bits")
    return value


def _move_sign_extended(state: State, instr: Instruction) -> None:
    """movsxd."""
    write_general(state, instr, _sign_extended(state, read_general(state, instr, 1)))


def _extend_accumulator(state: State, instr: Instruction) -> None:
    """cdqe."""
    state.gpr["rax"] = _sign_extended(state, narrow(state, state.gpr["rax"], 4))


def _address(state: State, instr: Instruction) -> None:
    place, size = address(state, instr), register_size(instr.op0_register)
    write_general(state, instr, checked(state, place, size))


def _doubled(state: State, instr: Instruction) -> bool:
    """Addition of data and themselves: a shift to the left by a bit."""
    left = read_general(state, instr, 0)
    if not isinstance(left, tuple) or domain.is_known(left) or left != read_general(state, instr, 1):
        return False
    state.flags = UNDEFINED
    write_general(state, instr, shift_number(left, -1))
    return True


def _add(state: State, instr: Instruction) -> None:
    if _doubled(state, instr):
        return
    left, right, size = word(state, instr, 0), word(state, instr, 1), size_of(instr)
    if isinstance(left, int) and isinstance(right, int):
        state.flags = sum_flags(left, right, size)
    else:
        state.flags = Difference(left, scale(right, -1), size, summed=True)
    write_general(state, instr, checked(state, add(left, right), size))


def _subtract(state: State, instr: Instruction) -> None:
    _write_difference(state, instr, word(state, instr, 0), word(state, instr, 1))


def _negate(state: State, instr: Instruction) -> None:
    """neg: 0 minus the operand, with the flags of this subtraction."""
    _write_difference(state, instr, 0, word(state, instr, 0))


def _write_difference(state: State, instr: Instruction, left: Word, right: Word) -> None:
    size = size_of(instr)
    state.flags = Difference(left, _unsigned(right, size), size)
    if isinstance(state.flags.left, int) and isinstance(state.flags.right, int):
        state.flags = difference_flags(state.flags)
    write_general(state, instr, checked(state, subtract(left, right), size))


def _unsigned(value: Word, size: int) -> Word:
    return value % (1 << 8 * size) if isinstance(value, int) else value


def _compare(state: State, instr: Instruction) -> None:
    low = read_general(state, instr, 0)
    if isinstance(low, Joined) and read_general(state, instr, 1) == 0:
        state.flags = Alignment(low.addresses, low.mask)
        return
    left, right, size = word(state, instr, 0), word(state, instr, 1), size_of(instr)
    state.flags = Difference(_unsigned(left, size), _unsigned(right, size), size)


def _step(by: int) -> Semantics:
    """inc and dec: the carry flag stays, and is given up for an unknown."""

    def run(state: State, instr: Instruction) -> None:
        value, size = word(state, instr, 0), size_of(instr)
        carry = state.flag("cf")
        if isinstance(value, int):
            full = sum_flags(value, by, size)
            state.flags = Known(carry, full.zf, full.sf, full.of)
        else:
            state.flags = Difference(add(value, by), 0, size, logical=True)
        write_general(state, instr, checked(state, add(value, by), size))

    return run


def _multiply(state: State, instr: Instruction) -> None:
    """imul with three operands, or two with an immediate."""
    factor = instr.immediate(2)
    factor = factor - SPAN if factor >> 63 else factor
    state.flags = UNDEFINED
    write_general(state, instr, checked(state, scale(word(state, instr, 1), factor), 8))


def _nothing(state: State, instr: Instruction) -> None:
    """No-ops."""


def _prefetch(state: State, instr: Instruction) -> None:
    """Never faults, but the address shows in the cache: it must not depend on data."""
    state.prefetch(address(state, instr))


def _fence(state: State, instr: Instruction) -> None:
    state.unfenced = False


def arithmetic(name: str, meaning: Semantics) -> dict[str, Semantics]:
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
        "MOV_RM16_R16",
        "MOV_RM8_R8",
        "MOV_R32_IMM32",
        "MOV_R64_IMM64",
        "MOV_RM64_IMM32",
        "MOV_R8_IMM8",
    ),
    **forms(_move_low_half, "MOV_R32_RM32", "MOV_RM32_R32"),
    **forms(_move_zero_extended, "MOVZX_R32_RM8", "MOVZX_R32_RM16"),
    **forms(_move_sign_extended, "MOVSXD_R64_RM32"),
    **forms(_extend_accumulator, "CDQE"),
    **forms(_address, "LEA_R64_M", "LEA_R32_M"),
    **arithmetic("ADD", _add),
    **arithmetic("SUB", _subtract),
    **arithmetic("CMP", _compare),
    **forms(_step(1), "INC_RM64", "INC_RM32"),
    **forms(_step(-1), "DEC_RM64", "DEC_RM32"),
    **forms(_negate, "NEG_RM64"),
    **forms(_multiply, "IMUL_R64_RM64_IMM8", "IMUL_R64_RM64_IMM32"),
    **forms(_nothing, "NOPD", "NOPW", "NOP_RM16", "NOP_RM32"),
    **forms(_prefetch, "PREFETCHT0_M8", "PREFETCHT1_M8", "PREFETCHT2_M8", "PREFETCHNTA_M8"),
    **forms(_fence, "SFENCE"),
}
