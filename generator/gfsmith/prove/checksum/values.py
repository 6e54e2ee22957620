"""The values of a checksum routine's program as the prover of machine code has them: runs of bytes.

A carry-less product is an unknown that its operands identify, and the constants are unknown bytes of the
table. So if machine code has the values of the program, it has them for all data and for every table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from math import gcd

from gfsmith.ir.folding import DISTANCES, GROUP, LINE, STEPS, WORD, Act, Instr, Routine, Value
from gfsmith.prove.checksum.layout import FOLDS, LANES, ONES, REDUCTION
from gfsmith.prove.machine import crc32, domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.lanes import shift_number
from gfsmith.prove.machine.linear import Word, add, scale

#: Kinds of unknown bytes: those of the table, of messages before the call, of the register before, of the
#: first group, and of the values that the loop carries, for every number of blocks that it has folded.
TABLE, MESSAGE, STATE, FIRST, CARRIED = "crc", "message", "state", "first", "carried"
_MOST = 32  #: blocks whose values are written out
_Values = dict[Value, Runs]
#: The key of the register among the values; no instruction has this number.
REGISTER: Value = 0
_CHECKS = {"CRC32C": crc32.CRC32C, "CRC32": crc32.CRC32}


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The values of a routine. shard: the number of the message, 0 for a routine that has one. behind: the
    routines for the bytes behind whole blocks, longest first. _known: the values by number of blocks, shard
    and steps. _begun: the values and the stored bytes before the loop, by shard."""

    routine: Routine
    behind: tuple[Routine, ...] = ()
    _known: dict[tuple[Word, Word, int], list[Runs]] = field(default_factory=dict)
    _begun: dict[Word, tuple[_Values, dict[int, Runs]]] = field(default_factory=dict)

    @property
    def returned(self) -> bool:
        """True for a routine that returns a register, and stores nothing."""
        return not self.routine.updates and any(
            instr.act is Act.RESULT for instr in self.routine.instructions()
        )

    @property
    def stepped(self) -> bool:
        """True for a routine that changes a register by each block."""
        return self.routine.operation in STEPS.values()

    @property
    def _loop(self) -> tuple[tuple[Instr, ...], tuple[Value, ...], tuple[Value, ...]]:
        """The code in the loop, the values that an iteration begins with, and those at its end."""
        if self.stepped:
            return self.routine.head, (REGISTER,), (REGISTER,)
        return self.routine.body, self.routine.before, self.routine.after

    def _before_loop(self, shard: Word) -> tuple[_Values, dict[int, Runs]]:
        """Return copies of the values and of the stored bytes before the loop."""
        if shard not in self._begun:
            values = _start()
            head = () if self.stepped else self.routine.head
            self._begun[shard] = values, self._run(values, head, 0, shard)
        values, stored = self._begun[shard]
        return dict(values), dict(stored)

    @property
    def width(self) -> int:
        """Bytes of a value that the loop carries."""
        if self.stepped:
            return WORD
        return self.routine.block // len(self.routine.before) if self.routine.before else 0

    def carried(self, blocks: Word, shard: Word) -> list[Runs]:
        """Return the values that the loop carries after a number of blocks: those of the program for a known
        number, else an unknown for a multiple of the number's factors, and the program's from there on."""
        rest = blocks if isinstance(blocks, int) else blocks.constant % gcd(*(c for _, c in blocks.terms))
        if rest > _MOST:
            raise Unsupported(f"the values after {rest} blocks")
        return self.advanced(add(blocks, -rest), shard, rest)

    def advanced(self, blocks: Word, shard: Word, steps: int) -> list[Runs]:
        """Return the values `steps` blocks after those of carried(blocks), a multiple."""
        key = blocks, shard, steps
        if key not in self._known:
            self._known[key] = self._computed(blocks, shard, steps)
        return self._known[key]

    def _computed(self, blocks: Word, shard: Word, steps: int) -> list[Runs]:
        body, before, after = self._loop
        values, _ = self._before_loop(shard)
        if blocks != 0:
            values |= zip(before, self._unknown(blocks, shard), strict=True)
        if steps:
            values |= zip(before, self.advanced(blocks, shard, steps - 1), strict=True)
            self._run(values, body, self._data(add(blocks, steps - 1)), shard)
            return [values[value] for value in after]
        return [values[value] for value in before]

    def _data(self, blocks: Word) -> Word:
        """Return the place of the data behind so many blocks of the loop."""
        return add(self.routine.lead, scale(blocks, self.routine.block))

    def _unknown(self, blocks: Word, shard: Word) -> Iterator[Runs]:
        start = scale(shard, self.routine.block)
        for number in range(len(self._loop[1])):
            place = add(start, number * self.width)
            yield ((self.width, domain.variable(CARRIED, blocks, place)),)

    def register(self, blocks: Word, left: int) -> Runs:
        """Return the register after all blocks, and `left` bytes behind them."""
        if not self.stepped:
            return self._reduced(blocks)
        values = {REGISTER: self.carried(blocks, 0)[0]}
        place = self._data(blocks)
        for routine in self.behind:
            if left & routine.block:
                self._run(values, routine.head, place, 0)
                place = add(place, routine.block)
        return values[REGISTER]

    def _reduced(self, blocks: Word) -> Runs:
        values, _ = self._before_loop(0)
        values |= zip(self.routine.before, self.carried(blocks, 0), strict=True)
        self._run(values, self.routine.close, 0, 0)
        return values[REGISTER]

    def result(self, blocks: Word, shard: Word) -> Runs:
        """Return the message or the checksum that the routine stores after all blocks: the bytes from the
        first one on."""
        if self.routine.updates:
            return self._reduced(blocks)
        values, stored = self._before_loop(shard)
        if self.routine.before:
            values |= zip(self.routine.before, self.carried(blocks, shard), strict=True)
        stored |= self._run(values, self.routine.close, 0, shard)
        found: list[domain.Run] = []
        for offset in sorted(stored):
            if offset != sum(length for length, _ in found):
                raise Unsupported("a result with gaps")
            found += stored[offset]
        return domain.merge(found)

    def folded(self, message: Runs, data: Runs) -> Runs:
        """Return the message behind a message and bytes that are given, of a routine without another loop."""
        values: _Values = {}
        for instr in (*self.routine.head, *self.routine.body):
            assert instr.result is not None
            if instr.act is Act.LOAD:
                given = message if instr.text == "message" else data
                values[instr.result] = domain.cut(given, instr.offset, instr.offset + instr.width)
            else:
                values[instr.result] = self._value(instr, [values[arg] for arg in instr.args], 0, 0)
        return values[self.routine.after[0]]

    def advanced_by_words(self, register: Runs, shard: Word, place: Word) -> Runs:
        """Return the register behind a block of a shard's data, by the code for words."""
        values: _Values = {REGISTER: register}
        for at in range(0, self.routine.block, WORD):
            self._run(values, self.routine.words, add(place, at), shard)
        return values[REGISTER]

    def _run(self, values: _Values, code: Iterable[Instr], data: Word, shard: Word) -> dict[int, Runs]:
        """Execute instructions on the data from a place on. Return the stored bytes by offset."""
        stored = {}
        for instr in code:
            if instr.act is Act.STORE:
                stored[instr.offset] = values[instr.args[0]]
            elif instr.act is Act.RESULT:
                values[REGISTER] = values[instr.args[0]]
            elif instr.act in (Act.START, Act.STATE):
                assert instr.result is not None
                register = values[instr.args[0]] if instr.args else values[REGISTER]
                values[instr.result] = _started(instr, register)
            elif instr.result is not None:
                args = [values[arg] for arg in instr.args]
                values[instr.result] = self._value(instr, args, data, shard)
        return stored

    def _value(self, instr: Instr, args: list[Runs], data: Word, shard: Word) -> Runs:
        match instr.act:
            case Act.LOAD if instr.text == "message":
                if self.routine.lead:
                    return ((instr.width, domain.variable("src", shard, instr.offset)),)
                place = add(scale(shard, self.routine.block), instr.offset)
                return ((instr.width, domain.variable(MESSAGE, 0, place)),)
            case Act.LOAD | Act.WORD:
                return ((instr.width, domain.variable("src", shard, add(data, instr.offset))),)
            case Act.CONSTANTS | Act.REDUCTION:
                folds = instr.act is Act.CONSTANTS
                place = FOLDS + GROUP * DISTANCES.index(instr.offset) if folds else REDUCTION
                return domain.merge([(GROUP, domain.variable(TABLE, 0, place))] * (instr.width // GROUP))
            case Act.ONES:
                return ((WORD, domain.variable(TABLE, 0, ONES)),)
            case Act.LANES:
                return ((instr.width, domain.variable(TABLE, 0, LANES + LINE - instr.width)),)
            case Act.CLMUL:
                return _products(instr, *args)
            case Act.CLMUL_SUM:
                return domain.xor(*(_products(replace(instr, offset=word), *args) for word in (0, 1)))
            case Act.XOR:
                return reduce(domain.xor, args)
            case Act.REVERSE:
                places = range(domain.size(args[0]))
                return domain.merge([run for n in places for run in _byte(args[0], n ^ GROUP - 1)])
            case Act.HALF:
                return domain.cut(args[0], instr.width * instr.offset, instr.width * (instr.offset + 1))
            case Act.LEADING:
                first = (instr.offset, domain.variable("src", shard, 0))
                return domain.merge([first, *domain.zeros(instr.width - instr.offset)])
            case Act.ZERO:
                return domain.zeros(instr.width)
            case Act.JOIN:
                return domain.merge([run for half in args for run in half])
            case Act.FIRST:
                place = WORD * instr.offset
                word = (WORD, domain.variable(FIRST, 0, WORD * (instr.text == "high")))
                return domain.merge([*domain.zeros(place), word, *domain.zeros(GROUP - WORD - place)])
        return _in_group(instr, args)


def _start() -> _Values:
    return {REGISTER: ((WORD, domain.variable(STATE, 0, 0)),)}


def _started(instr: Instr, register: Runs) -> Runs:
    """Return the register, alone or as a word of a vector."""
    before = WORD * instr.offset if instr.act is Act.START else 0
    size = instr.width if instr.act is Act.START else WORD
    return domain.merge([*domain.zeros(before), *register, *domain.zeros(size - before - WORD)])


def _in_group(instr: Instr, args: list[Runs]) -> Runs:
    """Return a value of the routines on one group, or on a register, or bytes that move."""
    match instr.act:
        case Act.BEHIND:
            zeros = domain.zeros(instr.width - instr.offset)
            return domain.merge([*zeros, *domain.cut(args[0], 0, instr.offset)])
        case Act.AHEAD:
            rest = domain.cut(args[0], instr.offset, instr.width)
            return domain.merge([*rest, *domain.zeros(instr.offset)])
        case Act.CROSS:
            return domain.carryless(_word(args[0], instr.offset), _word(args[1], 1 - instr.offset))
        case Act.SLIDE:
            kept, zeros = _word(args[0], 1 - instr.offset), domain.zeros(WORD)
            return domain.merge([*zeros, *kept] if instr.offset else [*kept, *zeros])
        case Act.EXTRACT:
            return _word(args[0], instr.offset)
        case Act.SHIFT:
            return shift_number(args[0], -instr.offset)
        case Act.CRC:
            short = crc32.crc32(_CHECKS[instr.text], domain.cut(args[0], 0, crc32.BYTES), args[1])
            return domain.merge([*short, *domain.zeros(WORD - crc32.BYTES)])
    raise Unsupported(f"{instr.act.name} in machine code")


def _word(runs: Runs, number: int) -> Runs:
    return domain.cut(runs, WORD * number, WORD * (number + 1))


def _byte(runs: Runs, number: int) -> Runs:
    return domain.cut(runs, number, number + 1)


def _products(instr: Instr, value: Runs, constants: Runs) -> Runs:
    found: list[domain.Run] = []
    for low in range(WORD * instr.offset, instr.width, GROUP):
        factors = (domain.cut(runs, low, low + WORD) for runs in (value, constants))
        found += domain.carryless(*factors)
    return domain.merge(found)
