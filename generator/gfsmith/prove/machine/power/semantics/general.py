"""Numbers and addresses in general registers, after the Power ISA, book I, 3.3.9 and 3.3.14.

The carry is modelled for subfic and subfe of a register from itself: no other form that sets or reads it is
known.
"""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.alignment import join, joined, remainder
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.instruction_table import forms
from gfsmith.prove.machine.lanes import shift_number
from gfsmith.prove.machine.linear import Linear, Word, scale, subtract
from gfsmith.prove.machine.modular import signed, total, wrap
from gfsmith.prove.machine.operands import Immediate, general, immediate, word
from gfsmith.prove.machine.power.decode import Bit, Decoded
from gfsmith.prove.machine.power.semantics.conditions import (
    CARRY,
    compare,
    compare_with_zero,
    forget,
    holds,
    set_field,
)
from gfsmith.prove.machine.power.semantics.operands import (
    SPAN,
    Semantics,
    as_bytes,
    holds_data,
    number,
    read,
    write,
)
from gfsmith.prove.machine.state import Alignment, Joined, State
from gfsmith.prove.machine.substitution import field, low_bits

_SPECIAL = {"mtctr": "ctr", "mfctr": "ctr", "mtlr": "lr", "mflr": "lr"}


def _nearest(value: Word) -> Word:
    """A number that is added to something unknown, nearest to 0."""
    return signed(value) if isinstance(value, int) else value


def _add(shift: int) -> Semantics:
    """add, addi; addis, whose number is shifted; li and lis, which add to nothing."""

    def run(state: State, instr: Decoded) -> None:
        target, *sources = instr.operands
        values = [_nearest(word(state, source)) for source in sources]
        last = values[-1]
        values[-1] = scale(last, 1 << shift)
        write(state, target, total(values[0], values[1]) if len(values) == 2 else wrap(values[0]))

    return run


def _add_with_carry(state: State, instr: Decoded) -> None:
    """addic., which compares as well; the carry is not known afterwards."""
    _add(0)(state, instr)
    forget(state, CARRY)
    compare_with_zero(state, instr)


def _subtract(state: State, instr: Decoded) -> None:
    """subf: operand 2 - operand 1."""
    target, taken, first = instr.operands
    write(state, target, wrap(subtract(_nearest(word(state, first)), _nearest(word(state, taken)))))


def _subtract_from(state: State, instr: Decoded) -> None:
    """subfic: a number - operand 1. The carry is set if it does not borrow."""
    target, taken, first = instr.operands
    left, right = immediate(first), word(state, taken)
    compare(state, CARRY, left % SPAN, right, 8, is_signed=False)
    write(state, target, wrap(subtract(left, _nearest(right))))


def _carry_mask(state: State, instr: Decoded) -> None:
    """subfe of a register from itself: 0 if the carry is set, all ones otherwise."""
    target, left, right = instr.operands
    if left != right:
        raise Unsupported(f"{instr} of two registers")
    borrows = holds(state, Bit(CARRY, "lt"))
    write(state, target, SPAN - 1 if borrows else 0)


def _negate(state: State, instr: Decoded) -> None:
    target, source = instr.operands
    write(state, target, wrap(scale(_nearest(word(state, source)), -1)))


def _multiply(state: State, instr: Decoded) -> None:
    """mulld, mulli: at most one factor is unknown."""
    target, *sources = instr.operands
    left, right = (word(state, source) for source in sources)
    if isinstance(left, int):
        left, right = right, left
    if not isinstance(right, int):
        raise Unsupported(f"{instr} multiplies two unknowns")
    write(state, target, wrap(scale(left, signed(right))))


def _move(state: State, instr: Decoded) -> None:
    target, source = instr.operands
    state.gpr[general(target)] = state.gpr[general(source)]


def _to_special(state: State, instr: Decoded) -> None:
    state.gpr[_SPECIAL[instr.mnemonic]] = state.gpr[general(instr.operands[0])]


def _from_special(state: State, instr: Decoded) -> None:
    state.gpr[general(instr.operands[0])] = state.gpr[_SPECIAL[instr.mnemonic]]


def _nothing(state: State, instr: Decoded) -> None:
    """No-ops."""


def _touch(state: State, instr: Decoded) -> None:
    """dcbt: never faults, but the address shows in the cache: it must not depend on data."""
    for operand in instr.operands[:2]:
        state.prefetch(word(state, operand))


def _rotated(runs: Runs, by: int) -> Runs:
    """Data rotated left by some bits."""
    if by % 8 == 0:
        first = 8 - by // 8
        return domain.merge([*domain.cut(runs, first, 8), *domain.cut(runs, 0, first)])
    return domain.xor(shift_number(runs, -by), shift_number(runs, 64 - by))


def _bits(runs: Runs, low: int, high: int) -> Runs:
    """Data of which only bits from `low` on and below `high` are kept; the others are 0."""
    if low % 8 == 0 and high % 8 == 0:
        kept = domain.cut(runs, low // 8, high // 8)
        return domain.merge([*domain.zeros(low // 8), *kept, *domain.zeros(8 - high // 8)])
    mask = (1 << high) - (1 << low)
    return domain.and_(runs, domain.constant_runs(mask.to_bytes(8, "little")))


def _rotate(state: State, value: Word, by: int, clear: int) -> Word:
    """Rotated left by some bits, the upper ones cleared."""
    width = 64 - clear
    if isinstance(value, int):
        value %= SPAN
        return (value << by | value >> 64 - by) & (1 << width) - 1
    low, high = state.facts.range(value)
    if low >= 0 and high < 1 << 64 - by:
        return field(state, scale(value, 1 << by), 0, width)
    if clear < 64 - by:
        raise Unsupported(f"{value} is rotated by {by}")
    return field(state, value, 64 - by, width)


def _rotate_clear_left(state: State, instr: Decoded) -> None:
    """rldicl; clrldi, which does not rotate, and clrlwi, which counts from the middle."""
    target, source, *numbers = (*instr.operands,)
    by, clear = (immediate(n) for n in numbers) if len(numbers) == 2 else (0, immediate(numbers[0]))
    if instr.form.startswith("clrlwi"):
        clear += 32
    if holds_data(state, source):
        write(state, target, _bits(_rotated(as_bytes(read(state, source), 8), by), 0, 64 - clear))
        return
    write(state, target, _rotate(state, word(state, source), by, clear))


def _shift_left(state: State, instr: Decoded) -> None:
    """sldi."""
    target, source, by = instr.operands
    count = immediate(by)
    if holds_data(state, source):
        write(state, target, shift_number(as_bytes(read(state, source), 8), -count))
        return
    write(state, target, wrap(scale(word(state, source), 1 << count)))


def _rotate_clear_right(state: State, instr: Decoded) -> None:
    """rldicr: adjacent bits of the source as the first ones, up to bit `last`; all others become 0. With a
    dot, it compares as well."""
    target, source, by, last = instr.operands
    width = immediate(last) + 1
    low = (64 - width - immediate(by)) % 64
    if low + width > 64:
        raise Unsupported(f"{instr} wraps around")
    value = word(state, source)
    if not state.memory.is_aligned(value, 1 << low) or immediate(by):
        value = scale(field(state, value, low, width), 1 << 64 - width)
    write(state, target, value)
    if instr.mnemonic.endswith("."):
        compare_with_zero(state, instr)


def _insert(state: State, instr: Decoded) -> None:
    """rldimi: the source's low bits are put into the target's from `by` on, below its first ones."""
    target, source, by, above = instr.operands
    low, high = immediate(by), 64 - immediate(above)
    if low >= high:
        raise Unsupported(f"{instr} wraps around")  # to all bits where both are the same
    if holds_data(state, target) or holds_data(state, source):
        old, new = as_bytes(read(state, target), 8), as_bytes(read(state, source), 8)
        kept = domain.xor(old, _bits(old, low, high))
        write(state, target, domain.xor(kept, _bits(_rotated(new, low), low, high)))
        return
    mask = (1 << high) - (1 << low)
    inserted = number(state, source, instr) << low & mask
    write(state, target, number(state, target, instr) & ~mask | inserted)


def _and(state: State, instr: Decoded) -> None:
    """andi.: adjacent bits of a number, or the low bits of addresses. It compares as well."""
    target, source, last = instr.operands
    mask = immediate(last)
    bits = remainder(state.gpr[general(source)], mask)
    if bits is not None:
        state.gpr[general(target)] = bits
        set_field(state, "cr0", Alignment(bits.addresses, bits.mask))
        return
    value = word(state, source)
    if isinstance(value, Linear):
        low = (mask & -mask).bit_length() - 1
        width = (mask >> max(low, 0)).bit_length()
        if mask == 0 or mask >> low != (1 << width) - 1:
            raise Unsupported(f"{instr} on {value}")
        write(state, target, scale(field(state, value, low, width), 1 << low))
    else:
        write(state, target, value & mask)
    compare_with_zero(state, instr)


def _and_registers(state: State, instr: Decoded) -> None:
    """and: of numbers, or of anything with a mask of zeros or of ones."""
    target, first, second = instr.operands
    left, right = word(state, first), word(state, second)
    if isinstance(left, int):
        left, right = right, left
    if isinstance(left, int) and isinstance(right, int):
        write(state, target, left & right)
    elif right not in (0, SPAN - 1):
        raise Unsupported(f"{instr} on {left} and {right}")
    else:
        write(state, target, left if right else 0)


def _word_field(state: State, instr: Decoded) -> None:
    """rlwinm without rotation: adjacent bits of the lower word, counted from its left; others become 0."""
    target, source, by, first, last = instr.operands
    low, width = 31 - immediate(last), immediate(last) - immediate(first) + 1
    if immediate(by) or width < 1:
        raise Unsupported(f"{instr} rotates")
    write(state, target, scale(field(state, word(state, source), low, width), 1 << low))


def _or(state: State, instr: Decoded) -> None:
    """or., which compares as well; ori. Of a register with itself, or with the number 0: a move. Of an
    unknown and a number: if the low bits of the unknown are known."""
    target, left, right = instr.operands
    if left == right or (isinstance(right, Immediate) and not immediate(right)):
        _move(state, instr._replace(operands=(target, left)))
    elif isinstance(right, Immediate) and isinstance(word(state, left), Linear):
        value, bits = word(state, left), immediate(right)
        low = low_bits(value, (1 << bits.bit_length()) - 1)
        if low is None:
            raise Unsupported(f"{instr} on {value}")
        write(state, target, total(value, (low | bits) - low))
    else:
        write(state, target, number(state, left, instr) | number(state, right, instr))
    if instr.mnemonic.endswith("."):
        compare_with_zero(state, instr)


def _or_registers(state: State, instr: Decoded) -> None:
    """or: of numbers, or of addresses whose low bits are tested later."""
    target, *sources = instr.operands
    left, right = (state.gpr[general(source)] for source in sources)
    if isinstance(left, Joined | Linear) and isinstance(right, Joined | Linear):
        state.gpr[general(target)] = join(joined(left), joined(right))
    else:
        write(state, target, number(state, sources[0], instr) | number(state, sources[1], instr))


def _exclusive_or(state: State, instr: Decoded) -> None:
    """xor: of data too."""
    target, left, right = instr.operands
    if holds_data(state, left) or holds_data(state, right):
        sides = (as_bytes(read(state, side), 8) for side in (left, right))
        write(state, target, domain.xor(*sides))
    else:
        write(state, target, number(state, left, instr) ^ number(state, right, instr))


TABLE: dict[str, Semantics] = {
    **forms(_add(0), "add r r r", "addi r r #", "li r #"),
    **forms(_add(16), "addis r r #", "lis r #"),
    **forms(_add_with_carry, "addic. r r #"),
    **forms(_subtract, "subf r r r"),
    **forms(_subtract_from, "subfic r r #"),
    **forms(_negate, "neg r r"),
    **forms(_multiply, "mulld r r r", "mulli r r #"),
    **forms(_move, "mr r r"),
    **forms(_to_special, "mtctr r", "mtlr r"),
    **forms(_from_special, "mfctr r", "mflr r"),
    **forms(_nothing, "nop"),
    **forms(_touch, "dcbt r r", "dcbt # r"),
    **forms(_rotate_clear_left, "rldicl r r # #", "clrldi r r #", "clrlwi r r #"),
    **forms(_shift_left, "sldi r r #"),
    **forms(_rotate_clear_right, "rldicr r r # #", "rldicr. r r # #"),
    **forms(_insert, "rldimi r r # #"),
    **forms(_and, "andi. r r #"),
    **forms(_and_registers, "and r r r"),
    **forms(_word_field, "rlwinm r r # # #"),
    **forms(_carry_mask, "subfe r r r"),
    **forms(_or, "or. r r r", "ori r r #"),
    **forms(_or_registers, "or r r r"),
    **forms(_exclusive_or, "xor r r r"),
}
