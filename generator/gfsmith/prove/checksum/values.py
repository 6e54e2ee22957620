"""The values of a checksum routine's program as the prover of machine code has them: runs of bytes.

A carry-less product is an unknown that its operands identify, and the constants are unknown bytes of the
table. So if machine code has the values of the program, it has them for all data and for every table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import gcd

from gfsmith.ir.folding import DISTANCES, GROUP, WORD, Act, Instr, Routine, Value
from gfsmith.prove.checksum.layout import FOLDS
from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Word, add, scale

#: Kinds of unknown bytes: those of the table, of messages before the call, of the register before, and of the
#: values that the loop carries, for every number of blocks that it has folded.
TABLE, MESSAGE, STATE, CARRIED = "crc", "message", "state", "carried"
_MOST = 32  #: blocks whose values are written out
_Values = dict[Value, Runs]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The values of a routine. shard: the number of the message, 0 for a routine that has one. _known: the
    values by number of blocks, shard and steps."""

    routine: Routine
    _known: dict[tuple[Word, Word, int], list[Runs]] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """Bytes of a value that the loop carries."""
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
        values: _Values = {}
        self._run(values, self.routine.head, 0, shard)
        if blocks != 0:
            values |= zip(self.routine.before, self._unknown(blocks, shard), strict=True)
        if steps:
            values |= zip(self.routine.before, self.advanced(blocks, shard, steps - 1), strict=True)
            self._run(values, self.routine.body, add(blocks, steps - 1), shard)
            return [values[value] for value in self.routine.after]
        return [values[value] for value in self.routine.before]

    def _unknown(self, blocks: Word, shard: Word) -> Iterator[Runs]:
        start = scale(shard, self.routine.block)
        for number in range(len(self.routine.before)):
            place = add(start, number * self.width)
            yield ((self.width, domain.variable(CARRIED, blocks, place)),)

    def result(self, blocks: Word, shard: Word) -> Runs:
        """Return the message, or the group, that the routine stores after all blocks: the bytes from the
        first one on."""
        values: _Values = {}
        stored = self._run(values, self.routine.head, 0, shard)
        if self.routine.before:
            values |= zip(self.routine.before, self.carried(blocks, shard), strict=True)
        stored |= self._run(values, self.routine.close, 0, shard)
        found: list[domain.Run] = []
        for offset in sorted(stored):
            if offset != sum(length for length, _ in found):
                raise Unsupported("a result with gaps")
            found += stored[offset]
        return domain.merge(found)

    def _run(self, values: _Values, code: Iterable[Instr], block: Word, shard: Word) -> dict[int, Runs]:
        """Execute instructions. Return the stored bytes by offset."""
        stored = {}
        for instr in code:
            if instr.act is Act.STORE:
                stored[instr.offset] = values[instr.args[0]]
            elif instr.result is not None:
                args = [values[arg] for arg in instr.args]
                values[instr.result] = self._value(instr, args, block, shard)
        return stored

    def _value(self, instr: Instr, args: list[Runs], block: Word, shard: Word) -> Runs:
        match instr.act:
            case Act.LOAD if instr.text == "message":
                place = add(scale(shard, self.routine.block), instr.offset)
                return ((instr.width, domain.variable(MESSAGE, 0, place)),)
            case Act.LOAD:
                place = add(scale(block, self.routine.block), instr.offset)
                return ((instr.width, domain.variable("src", shard, place)),)
            case Act.CONSTANTS:
                place = FOLDS + GROUP * DISTANCES.index(instr.offset)
                return domain.merge([(GROUP, domain.variable(TABLE, 0, place))] * (instr.width // GROUP))
            case Act.CLMUL:
                return _products(instr, *args)
            case Act.XOR:
                total = args[0]
                for arg in args[1:]:
                    total = domain.xor(total, arg)
                return total
            case Act.REVERSE:
                places = range(domain.size(args[0]))
                return domain.merge([run for n in places for run in _byte(args[0], n ^ GROUP - 1)])
            case Act.HALF:
                return domain.cut(args[0], instr.width * instr.offset, instr.width * (instr.offset + 1))
            case Act.START:
                state = (WORD, domain.variable(STATE, 0, 0))
                before = WORD * instr.offset
                behind = domain.zeros(instr.width - before - WORD)
                return domain.merge([*domain.zeros(before), state, *behind])
        raise Unsupported(f"{instr.act.name} in vectors")


def _byte(runs: Runs, number: int) -> Runs:
    return domain.cut(runs, number, number + 1)


def _products(instr: Instr, value: Runs, constants: Runs) -> Runs:
    found: list[domain.Run] = []
    for low in range(WORD * instr.offset, instr.width, GROUP):
        factors = (domain.cut(runs, low, low + WORD) for runs in (value, constants))
        found += domain.carryless(*factors)
    return domain.merge(found)
