"""Proof of the routines and tables of gfsmith_checksum.h for one check: all data, every length.

The definition of a check (field/checksum.py) is executed on linear forms beside the routine:

- "reduce", "reduce_lines", FIRSTS, LEADS, UPDATES, UPDATES_OF_BLOCKS: let R be the register that some values
  of the loop lead to. Before the loop, R is the register after the first data: from the given register, to
  which the FIRSTS add the register after the first group. For any values and every block B, the next values
  have the register after B from R. By induction the result is the register after all data. Updates have a
  checksum in its place: the sum of the register and the check's first one, which is any number here. If a
  routine has a window, R is the register after the first data if the loop begins with the values of the
  window, and the lines between follow from any values of it.
- "fold_line", "fold_copy": for every message A and every block B of data, the remainder of the new message is
  that of A, then B. By induction over the blocks it is that of A and all blocks. "fold_copy" copies B, and
  "fold_line" nothing.
  ENCODES are the same as "fold_line" here: how they compute the data is not part of the program. Their code
  for words is that of "word".
- "group": the register is that after the group, from register 0.
- "word", "half", "quarter", "byte": for every register, the new one is that after the data. By
  induction it is that after any number of such steps.

The remainder of A is the register after A from register 0. Register S before a message equals S added to the
first bits of the message, and zeros before it change nothing; both follow from the definition and are checked
too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from gfsmith.field.checksum import BYTE, Checksum, after
from gfsmith.ir.folding import (
    DISTANCES,
    ENCODES,
    FIRSTS,
    GROUP,
    LEADS,
    LINE,
    NIBBLES,
    UPDATES,
    UPDATES_OF_BLOCKS,
    WORD,
    Act,
    Routine,
    Tables,
    Value,
)
from gfsmith.prove.checksum.forms import Bits, Execution, unknowns
from gfsmith.prove.verdict import PROVED, Refutation, Status, Verdict

_REGISTER = BYTE * WORD


def _remainder(check: Checksum, data: Bits, register: Bits | None = None) -> Bits:
    """Return the register after some bytes, whose bits are given from bit 0 of byte 0 on."""
    bits = [bit for n in range(0, len(data), BYTE) for bit in check.bits(data[n : n + BYTE])]
    return after(check, register or [0] * check.degree, bits, 0)


def _number(check: Checksum, register: Bits) -> Bits:
    """Return a register as the 64 bits in which routines keep it: from the end where bits leave it."""
    padding = [0] * (_REGISTER - check.degree)
    number = check.register(register)
    return number + padding if check.reflected else padding + number


def _same(got: Bits, want: Bits, what: str) -> None:
    for n, (g, w) in enumerate(zip(got, want, strict=True)):
        if g != w:
            raise Refutation(f"bit {n} of {what} is another sum of bits")


def _fold(routine: Routine, check: Checksum, tables: Tables) -> None:
    length, size = BYTE * LINE, BYTE * routine.block
    message, data = unknowns(length), unknowns(size, length)
    before, after_ = routine.before, routine.after
    if len(before) != len(after_) or len(set(before)) != len(before):
        raise Refutation("the loop does not carry all of its values on")
    execution = Execution(check, tables, message, data, [])
    execution.run((*routine.head, *routine.body))
    results = [execution.values[value] for value in after_]
    for value, result in zip(before, results, strict=True):
        execution.values[value] = result
    execution.run(routine.close)
    want = _remainder(check, message + data)
    _same(_remainder(check, execution.arrays["message"]), want, "the remainder after a block")
    copied = data if routine.operation == "fold_copy" else [0] * size
    _same(execution.arrays["copy"], copied, "the copy")
    unchanged = Execution(check, tables, message, [], [])
    unchanged.run((*routine.head, *routine.close))
    _same(unchanged.arrays["message"], message, "a message without data")


def _encode(routine: Routine, check: Checksum, tables: Tables) -> None:
    """Routines with other numbers of destinations have equal programs: there is one proof of these."""
    _encoded(replace(routine, operation="encode", check="", words=()), check, tables)
    if routine.words:
        _register(replace(routine, operation="word", block=WORD, head=routine.words), check, tables)


@cache
def _encoded(routine: Routine, check: Checksum, tables: Tables) -> None:
    _fold(routine, check, tables)


def _first(check: Checksum) -> tuple[Bits, Bits]:
    """Return a group of unknown bits, and the bits of its two words."""
    group = unknowns(BYTE * GROUP)
    if check.reflected:
        return group, group
    return group, [bit for n in reversed(range(0, len(group), BYTE)) for bit in group[n : n + BYTE]]


def _sum(left: Bits, right: Bits) -> Bits:
    return [x ^ y for x, y in zip(left, right, strict=True)]


def _padded(bits: Bits) -> Bits:
    """Return the bits of a checksum as 64 bits."""
    return bits + [0] * (_REGISTER - len(bits))


def _checksum(check: Checksum, register: Bits, ones: Bits) -> Bits:
    """Return the checksum for a register, as 64 bits."""
    return _padded(_sum(check.register(register), ones))


def _reduced(execution: Execution, check: Checksum, routine: Routine) -> Bits:
    """Return the register to which the close turns the current values."""
    execution.register = []
    execution.run(routine.close)
    number, padding = execution.register, _REGISTER - check.degree
    if routine.updates and len(number) == _REGISTER and not any(number[check.degree :]):
        return check.register(_sum(number[: check.degree], execution.ones[: check.degree]))
    if routine.updates:
        raise Refutation("the result is not a checksum")
    low, high = (number[: check.degree], number[check.degree :]), (number[padding:], number[:padding])
    kept, rest = low if check.reflected else high
    if len(number) != _REGISTER or any(rest):
        raise Refutation("the result is not a register of the check")
    return check.register(kept)


def _reduce(routine: Routine, check: Checksum, tables: Tables) -> None:
    size, before = BYTE * routine.block, routine.before
    if len(before) != len(routine.after) or len(set(before)) != len(before) or size % max(len(before), 1):
        raise Refutation("the loop does not carry all of its values on")
    if routine.window:
        _reduce_window(routine, check, tables)
        return
    group, words = _first(check)
    message = unknowns(BYTE * routine.lead, len(group))
    register = unknowns(check.degree, len(group) + len(message))
    ones = unknowns(check.degree, len(group) + len(message) + len(register))
    first = len(group) + len(message) + len(register) + len(ones)
    given = _checksum(check, register, ones) if routine.updates else _number(check, register)
    execution = Execution(check, tables, message, unknowns(size, first), given, words, _padded(ones))
    execution.run(routine.head)
    got = _reduced(execution, check, routine)
    if routine.operation in FIRSTS:
        register = _sum(register, _remainder(check, group))
    _same(got, _remainder(check, message, register), "the register before the loop")
    if before:
        _step(execution, check, routine, first)


def _step(execution: Execution, check: Checksum, routine: Routine, first: int) -> None:
    """The loop keeps the register. first: the number of the first unknown bit of its data."""
    size, before = BYTE * routine.block, routine.before
    width = size // len(before)
    for n, value in enumerate(before):
        execution.values[value] = unknowns(width, first + size + n * width)
    old = dict(execution.values)
    register = _reduced(execution, check, routine)
    execution.values = old
    execution.run(routine.body)
    results = [execution.values[value] for value in routine.after]
    execution.values.update(zip(before, results, strict=True))
    got = _reduced(execution, check, routine)
    _same(got, _remainder(check, execution.arrays["data"], register), "the register after a block")


#: The Acts whose results depend on the check alone.
_FIXED = (Act.CONSTANTS, Act.LANES, Act.REDUCTION, Act.ONES)


def _reduce_window(routine: Routine, check: Checksum, tables: Tables) -> None:
    """The head has values from which the register after the first data follows, before it reads the rest."""
    first = routine.first + LINE * len(routine.window[1:])
    message = unknowns(BYTE * first)
    register = unknowns(check.degree, len(message))
    ones = unknowns(check.degree, len(message) + len(register))
    given = _checksum(check, register, ones)
    execution = Execution(check, tables, message, [], given, [], _padded(ones))
    execution.run(routine.head[: routine.between])
    _carry(execution, routine.before, routine.window)
    got = _reduced(execution, check, routine)
    _same(got, _remainder(check, message, register), "the register before other lines")
    _rest(_behind_window(routine, first), check, tables)


def _carry(execution: Execution, before: tuple[Value, ...], values: tuple[Value, ...]) -> None:
    """Give the values that a loop begins with those of others."""
    if len(values) != len(before) or not execution.values.keys() >= set(values):
        raise Refutation("values of the loop are missing")
    results = [execution.values[value] for value in values]
    execution.values.update(zip(before, results, strict=True))


def _behind_window(routine: Routine, first: int) -> Routine:
    """Return a routine of the rest of the head, whose message begins behind `first` bytes. Routines with
    different first bytes have equal ones, so that there is one proof of these."""
    fixed = [instr for instr in routine.head[: routine.between] if instr.act in _FIXED]
    defined = {*routine.window, *(instr.result for instr in fixed)}
    for instr in (*routine.head[routine.between :], *routine.body, *routine.close):
        if not defined.issuperset(instr.args):
            raise Refutation("the rest of the routine depends on the first data")
        defined.add(instr.result)
    moved = []
    for instr in routine.head[routine.between :]:
        if instr.act is Act.LOAD and instr.offset >= first:
            instr = replace(instr, offset=instr.offset - first)
        elif instr.act not in (Act.CLMUL, Act.XOR, Act.REVERSE, *_FIXED):
            raise Refutation(f"{instr.act.name} is behind the first values")
        moved.append(instr)
    head, between = (*fixed, *moved), len(fixed)
    lead = routine.lead - first
    return replace(routine, operation="update_blocks", head=head, lead=lead, between=between)


@cache
def _rest(routine: Routine, check: Checksum, tables: Tables) -> None:
    """From any values, the lines behind them and the loop lead to the register after all of them."""
    message = unknowns(BYTE * routine.lead)
    ones = unknowns(check.degree, len(message))
    start, size = len(message) + len(ones), BYTE * LINE
    data = start + size * len(routine.window)
    execution = Execution(check, tables, message, unknowns(BYTE * routine.block, data), [], [], _padded(ones))
    execution.values.update((v, unknowns(size, start + n * size)) for n, v in enumerate(routine.window))
    execution.run(routine.head[: routine.between])
    old = dict(execution.values)
    _carry(execution, routine.before, routine.window)
    register = _reduced(execution, check, routine)
    execution.values = old
    execution.run(routine.head[routine.between :])
    _carry(execution, routine.before, routine.before)
    got = _reduced(execution, check, routine)
    _same(got, _remainder(check, message, register), "the register before the loop")
    _step(execution, check, routine, data)


def _group(routine: Routine, check: Checksum, tables: Tables) -> None:
    group, words = _first(check)
    execution = Execution(check, tables, [], [], [], words)
    execution.run(routine.head)
    _same(execution.register, _number(check, _remainder(check, group)), "the register")


def _register(routine: Routine, check: Checksum, tables: Tables) -> None:
    register, data = unknowns(check.degree), unknowns(BYTE * routine.block, check.degree)
    execution = Execution(check, tables, [], data, _number(check, register))
    execution.run(routine.head)
    _same(execution.register, _number(check, _remainder(check, data, register)), "the register")


_OPERATIONS = {
    "reduce": _reduce,
    "reduce_lines": _reduce,
    **dict.fromkeys((*FIRSTS, *LEADS, *UPDATES, *UPDATES_OF_BLOCKS), _reduce),
    "fold_line": _fold,
    **dict.fromkeys(ENCODES, _encode),
    "fold_copy": _fold,
    "group": _group,
    "word": _register,
    "half": _register,
    "quarter": _register,
    "byte": _register,
}


def prove(routine: Routine, check: Checksum, tables: Tables) -> Verdict:
    """Return whether a routine with these tables keeps remainders modulo the check's polynomial."""
    try:
        if routine.reflected != check.reflected:
            raise Refutation("the routine has another order of bits")
        if not routine.serves(check.name, check.reflected):
            raise Refutation("the routine is for another check")
        _OPERATIONS[routine.operation](routine, check, tables)
    except Refutation as found:
        return Verdict(Status.REFUTED, f"{routine.symbol}, {check.name}: {found}")
    return PROVED


def _check_start(check: Checksum) -> None:
    """Check that zeros before a message change nothing, and that a register before a message equals one added
    to its first bits."""
    register, data = unknowns(check.degree), unknowns(_REGISTER, check.degree)
    want = _remainder(check, data, register)
    first = _number(check, register)
    if not check.reflected:
        first = [bit for n in reversed(range(0, _REGISTER, BYTE)) for bit in first[n : n + BYTE]]
    added = _sum(first, data)
    _same(_remainder(check, added), want, "a register added to a message")
    _same(_remainder(check, [0] * BYTE + added), want, "a message behind zeros")


def _product(check: Checksum, left: int, right: int) -> int:
    """Return a product modulo P by the schoolbook method."""
    total = 0
    for i in range(check.degree):
        total ^= (left >> i & 1) * right << i
    for i in reversed(range(check.degree, 2 * check.degree)):
        total ^= (total >> i & 1) * check.modulus << (i - check.degree)
    return total


def prove_tables(check: Checksum, tables: Tables) -> Verdict:
    """Return whether the tables are those of the check: parameters, the powers x^(8 2^i) modulo P by which
    checksums are combined, and an entry for everything that routines name."""
    try:
        sizes = (len(tables.folds), len(tables.lanes), len(tables.slices))
        if sizes != (len(DISTANCES), LINE // GROUP, NIBBLES):
            raise Refutation("a table has another number of entries")
        modulus = [check.modulus >> i & 1 for i in range(check.degree)]
        number = sum(bit << i for i, bit in enumerate(_number(check, modulus)))
        facts = (tables.bits, tables.reflected, tables.ones, tables.modulus)
        if facts != (check.degree, check.reflected, check.ones, number):
            raise Refutation("the parameters are those of another check")
        if tables.instruction not in ("", check.name):
            raise Refutation(f"the instruction is that of {tables.instruction}")
        want = 1 << BYTE
        if check.degree <= BYTE or len(tables.powers) != _REGISTER:
            raise Refutation("there is not a power for every bit of a length")
        for i, power in enumerate(tables.powers):
            if power != want:
                raise Refutation(f"power {i} is {power:#x} instead of {want:#x}")
            want = _product(check, want, want)
        _check_start(check)
    except Refutation as found:
        return Verdict(Status.REFUTED, f"tables of {check.name}: {found}")
    return PROVED
