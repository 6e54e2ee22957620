"""Numbers and addresses in general registers, after the Principles of Operation, chapter 7."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.invariant import junk
from gfsmith.prove.machine.linear import Word, add, scale, subtract
from gfsmith.prove.machine.modular import nearest, signed, wrap
from gfsmith.prove.machine.operands import General, general, immediate, word
from gfsmith.prove.machine.s390x.decode import Decoded, Operand, Place
from gfsmith.prove.machine.s390x.semantics import conditions
from gfsmith.prove.machine.s390x.semantics.memory import load_word
from gfsmith.prove.machine.s390x.semantics.operands import (
    SPAN,
    Semantics,
    is_constant,
    low_word,
    place,
    settled,
    write,
    write_low,
)
from gfsmith.prove.machine.state import State, constant_bytes
from gfsmith.prove.machine.substitution import field, masked, quotient

_LOW = 1 << 32
_ZEROING = 0x80  #: the flag of risbg that clears the remaining bits


def _move(state: State, instr: Decoded) -> None:
    target, source = instr.operands
    state.gpr[general(target)] = state.gpr[general(source)]


def _number(shift: int) -> Semantics:
    """lghi, lgfi, llilf; llihf, whose number is shifted."""

    def run(state: State, instr: Decoded) -> None:
        write(state, instr.operands[0], immediate(instr.operands[1]) << shift)

    return run


def _address(state: State, instr: Decoded) -> None:
    """la, lay."""
    write(state, instr.operands[0], place(state, instr.operands[1]))


def _second(state: State, operand: Operand) -> Word:
    """A register, a number, or eight bytes of memory."""
    if not isinstance(operand, Place):
        return word(state, operand)
    found = load_word(state, place(state, operand))
    if isinstance(found, tuple):
        if not is_constant(found):
            reason = f"an address, count or branch depends on memory, which holds {found}"
            raise domain.refutation(found, reason)
        return int.from_bytes(constant_bytes(found), "little")
    return found


def _arithmetic(meaning: Callable[[Word, Word], Word]) -> Semantics:
    """agr, ag, aghi, aghik, agrk, sgr, sgrk and their like: the code is that of signed numbers."""

    def run(state: State, instr: Decoded) -> None:
        target, *sources = instr.operands
        first = word(state, sources[0] if len(sources) == 2 else target)
        exact = meaning(nearest(first), nearest(_second(state, sources[-1])))
        conditions.set_sign(state, exact, 8)
        write(state, target, wrap(exact))

    return run


def _add_low(state: State, instr: Decoded) -> None:
    """ahi, ahik: of the lower 32 bits."""
    target, *sources = instr.operands
    first = low_word(state, sources[0] if len(sources) == 2 else target)
    added = immediate(sources[-1])
    if isinstance(first, int):
        exact: Word = signed(first, 4) + added
        conditions.set_sign(state, exact, 4)
        write_low(state, target, exact)
        return
    exact = add(first, added)
    low, high = state.facts.range(exact)
    if low < 0 or high >= _LOW:
        raise Unsupported(f"{instr}: {exact} may exceed 32 bits")
    conditions.forget(state)
    if state.facts.range(first)[1] < _LOW // 2 and high < _LOW // 2:
        conditions.set_sign(state, exact, 4)
    write_low(state, target, exact)


def _add_logical(state: State, instr: Decoded) -> None:
    """alghsik, algfi: the code states whether the sum carries."""
    target, *sources = instr.operands
    first, added = word(state, sources[0] if len(sources) == 2 else target), immediate(sources[-1])
    conditions.set_carry(state, wrap(first), added)
    write(state, target, wrap(add(nearest(first), added)))


def _negate(state: State, instr: Decoded) -> None:
    target, source = instr.operands
    exact = scale(nearest(word(state, source)), -1)
    conditions.set_sign(state, exact, 8)
    write(state, target, wrap(exact))


def _load_and_test(state: State, instr: Decoded) -> None:
    """ltgr."""
    target, source = instr.operands
    value = word(state, source)
    conditions.compare(state, value, 0, 8, is_signed=True)
    write(state, target, value)


def _compare(is_signed: bool) -> Semantics:
    """cgr, cg, cghi, cgfi; clgr, clg, clgfi."""

    def run(state: State, instr: Decoded) -> None:
        first, second = instr.operands
        conditions.compare(state, word(state, first), _second(state, second), 8, is_signed)

    return run


def _multiply(state: State, instr: Decoded) -> None:
    """mghi, msgfi."""
    target, source = instr.operands
    write(state, target, wrap(scale(nearest(word(state, target)), immediate(source))))


def _multiply_high(state: State, instr: Decoded) -> None:
    """mlgr: a product of 128 bits in a register and the next one. An unknown is divided, if the other factor
    is 2^64 / divisor, rounded up, and the product so small that the rounding does not show."""
    upper, source = instr.operands
    number = int(general(upper)[1:])
    if number % 2:
        raise Unsupported(f"{instr} of an odd register")
    lower = General(f"r{number + 1}")
    first, second = word(state, lower), word(state, source)
    if isinstance(first, int):
        first, second = second, first
    if not isinstance(second, int):
        raise Unsupported(f"{instr} multiplies two unknowns")
    second %= SPAN
    if isinstance(first, int):
        product = first % SPAN * second
        write(state, upper, product >> 64)
        write(state, lower, product)
        return
    low, high = state.facts.range(first)
    divisor = -(-SPAN // second) if second else 0
    if low < 0 or not divisor or high * (divisor * second - SPAN) >= SPAN:
        raise Unsupported(f"{instr} of {first} and {second}")
    whole, _ = quotient(state, first, divisor)
    write(state, upper, whole)
    write(state, lower, junk(8))


def _shift_left(state: State, instr: Decoded) -> None:
    """sllg by a number."""
    target, source, by = instr.operands
    write(state, target, wrap(scale(word(state, source), 1 << immediate(by) % 64)))


def _shift_right(state: State, instr: Decoded) -> None:
    """srlg by a number."""
    target, source, by = instr.operands
    count = immediate(by) % 64
    write(state, target, field(state, word(state, source), count, 64 - count))


def _rotate_and_select(state: State, instr: Decoded) -> None:
    """risbgn: bits from one place to another, counted from the left, of the rotated source; others become
    0."""
    target, source, *numbers = instr.operands
    first, last, by = (immediate(number) for number in numbers)
    if not last & _ZEROING or first % 64 > last % 64:
        raise Unsupported(f"{instr} inserts bits or wraps around")
    mask = (1 << 64 - first % 64) - (1 << 63 - last % 64)
    value = word(state, source)
    if isinstance(value, int):
        value %= SPAN
        turned = (value << by % 64 | value >> (64 - by) % 64) % SPAN if by % 64 else value
        write(state, target, turned & mask)
    elif by % 64:
        raise Unsupported(f"{instr} rotates {value}")
    else:
        write(state, target, masked(state, value, mask))


def _and_low(state: State, instr: Decoded) -> None:
    """nill: of the lowest 16 bits, whose result the code describes."""
    target, last = instr.operands
    mask = SPAN - (1 << 16) | immediate(last) & 0xFFFF
    value = word(state, target)
    result = masked(state, value, mask)
    if isinstance(result, int):
        conditions.set_code(state, int(result & 0xFFFF != 0))
    else:
        conditions.forget(state)
    write(state, target, result)


def _or_low(state: State, instr: Decoded) -> None:
    """oilf: of the lower 32 bits of a number."""
    target, last = instr.operands
    value = word(state, target)
    if not isinstance(value, int):
        raise Unsupported(f"{instr} on {value}")
    result = value % SPAN | immediate(last) % _LOW
    conditions.set_code(state, int(result % _LOW != 0))
    write(state, target, result)


def _test_bits(state: State, instr: Decoded) -> None:
    """tmll: of the lowest 16 bits."""
    source, last = instr.operands
    bits = immediate(last) & 0xFFFF
    conditions.set_tested(state, masked(state, word(state, source), bits), bits)


def _load_if(state: State, instr: Decoded) -> None:
    """locghi: a number if the condition holds."""
    if conditions.holds(state, instr.mask):
        write(state, instr.operands[0], immediate(instr.operands[1]))


def _load_relative(state: State, instr: Decoded) -> None:
    """larl: without a file, the address itself. The architecture executes it in one."""
    write(state, instr.operands[0], immediate(instr.operands[1]))


def _load(state: State, instr: Decoded) -> None:
    """lg."""
    target, source = instr.operands
    write(state, target, settled(load_word(state, place(state, source))))


def _prefetch(state: State, instr: Decoded) -> None:
    """pfd: never faults, but the address shows in the cache: it must not depend on data."""
    state.prefetch(place(state, instr.operands[1]))


_SUM, _DIFFERENCE = _arithmetic(add), _arithmetic(subtract)

TABLE: dict[str, Semantics] = {
    **forms(_move, "lgr r r"),
    **forms(_number(0), "lghi r #", "lgfi r #", "llilf r #"),
    **forms(_number(32), "llihf r #"),
    **forms(_address, "la r []", "lay r []"),
    **forms(_load_relative, "larl r #"),
    **forms(_load, "lg r []"),
    **forms(_SUM, "agr r r", "agrk r r r", "ag r []", "aghi r #", "aghik r r #", "agfi r #"),
    **forms(_DIFFERENCE, "sgr r r", "sgrk r r r", "sg r []"),
    **forms(_add_low, "ahi r #", "ahik r r #"),
    **forms(_add_logical, "alghsik r r #"),
    **forms(_negate, "lcgr r r"),
    **forms(_load_and_test, "ltgr r r"),
    **forms(_compare(True), "cgr r r", "cg r []", "cghi r #", "cgfi r #"),
    **forms(_compare(False), "clgr r r", "clg r []", "clgfi r #"),
    **forms(_multiply, "mghi r #", "msgfi r #"),
    **forms(_multiply_high, "mlgr r r"),
    **forms(_shift_left, "sllg r r #"),
    **forms(_shift_right, "srlg r r #"),
    **forms(_rotate_and_select, "risbgn r r # # #"),
    **forms(_and_low, "nill r #"),
    **forms(_or_low, "oilf r #"),
    **forms(_test_bits, "tmll r #"),
    **forms(_load_if, "locghi r #"),
    **forms(_prefetch, "pfd # []"),
}
