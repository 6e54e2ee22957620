"""Memory that a checksum routine may access: its table, messages, data, copies, its stack.

As in prove/machine/memory.py nothing but the extent of the written bytes is kept: a store must write the
bytes that the program has at that place in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from gfsmith.ir.folding import LINE
from gfsmith.prove.checksum import layout
from gfsmith.prove.checksum.values import MESSAGE, STATE, TABLE, Program
from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import (
    Address,
    Facts,
    Linear,
    Symbol,
    Word,
    add,
    base,
    divide,
    substitute,
    subtract,
)
from gfsmith.prove.machine.memory import Limits, Memory, Written
from gfsmith.prove.verdict import Refutation

#: The index under which Memory.written has the result, which no copy has.
RESULT = -1


def areas(length: Word, shards: Word, copies: Word, pointer: int) -> Limits:
    """Return the sizes of the areas: bytes of the data of a shard, shards, copies, bytes of a pointer."""
    return Limits(
        length=length,
        sources=shards,
        outputs=copies,
        table=layout.SIZE,
        pointers=shards,
        pointer=pointer,
        in_place=False,
        per_shard=True,
        stride=pointer,
        start=0,
        joined=False,
        sized=False,
        columns=0,
        descending=False,
    )


def unchanged(runs: Runs) -> Runs:
    """Return runs as they are: there are no sums to write out."""
    return runs


@dataclass(slots=True, kw_only=True)
class MessageMemory(Memory):
    """The memory of one path of a function that has the values of a program. messages: bytes of the
    messages."""

    program: Program
    messages: Word

    def copy(self, facts: Facts) -> Self:
        written = {index: each.copy() for index, each in self.written.items()}
        return replace(self, facts=facts, stack=self.stack.copy(), written=written)

    def substitute(self, name: Symbol, by: Word) -> None:
        Memory.substitute(self, name, by)
        self.messages = substitute(self.messages, name, by)


@dataclass(slots=True, kw_only=True)
class FoldingMemory(MessageMemory):
    """The memory of one path of a routine that folds or reduces. The results replace the messages."""

    @property
    def blocks(self) -> Word:
        """The number of blocks of data in the loop, as a number if the facts leave only one."""
        apart = self.program.routine.lead or self.left
        found = divide(subtract(self.limits.length, apart), self.program.routine.block)
        if found is None:
            raise Unsupported(f"the number of blocks of {self.limits.length} bytes")
        low, high = self.facts.range(found)
        return int(low) if low == high else found

    @property
    def left(self) -> int:
        """The number of bytes behind the blocks, as far as it is known."""
        length = self.limits.length
        return (length if isinstance(length, int) else length.constant) % self.program.routine.block

    @property
    def done(self) -> Word:
        """The number of bytes of the results that are written, without gaps."""
        written = self.written.get(RESULT, Written())
        return 0 if written.pieces else written.prefix

    @property
    def shard(self) -> Word:
        """The number of messages that are complete."""
        return divide(self.done, LINE) or 0

    def load(self, address: Word, size: int) -> Runs:
        place = base(address)
        kind = place[0].kind if place is not None else ""
        if place is None or kind not in ("coeffs", "message"):
            return Memory.load(self, address, size)
        region, offset = place
        if kind == "coeffs":
            self.inside(region, offset, size, self.limits.table)
            return ((size, domain.variable(TABLE, 0, offset)),)
        self.inside(region, offset, size, self.messages)
        written = self.written.get(RESULT, Written())
        if written.overlaps(offset, size, self.facts):
            raise Unsupported(f"a message is read back at {offset}")
        kind = STATE if self.program.routine.updates else MESSAGE
        return ((size, domain.variable(kind, 0, offset)),)

    def store(self, address: Word, runs: Runs) -> None:
        place = base(address)
        if place is None or place[0].kind != "message" or self.messages == 0:
            Memory.store(self, address, runs)
            return
        region, offset = place
        size = domain.size(runs)
        self.inside(region, offset, size, self.messages)
        if runs != self._result(offset, size):
            raise domain.refutation(runs, f"{region} at {offset} is not that of the program")
        self.written.setdefault(RESULT, Written()).add(offset, size, self.facts)

    def _result(self, offset: Word, size: int) -> Runs:
        """Return the bytes of the result that the program has at a place."""
        at = offset if isinstance(offset, int) else offset.constant
        number, low = divmod(at, LINE)
        shard: Word = number
        if isinstance(offset, Linear):
            lines = divide(Linear(0, offset.terms), LINE)
            if lines is None:
                raise Unsupported(f"a result at {offset}")
            shard = add(lines, number)
        whole = self.program.result(self.blocks, shard)
        if low + size > domain.size(whole):
            raise Refutation(f"{size} bytes of a result at {low}")
        return domain.cut(whole, low, low + size)

    def _unchanged(self) -> bool:
        """Return whether the results are the messages before the call."""
        if self.blocks != 0 or not self.program.width:
            return False
        return self.program.result(0, 0) == ((LINE, domain.variable(MESSAGE, 0, 0)),)

    def _is_whole(self, size: Word) -> bool:
        """The facts may leave only one length."""
        return self.facts.range(subtract(self.limits.length, size)) == (0, 0)

    def is_aligned(self, address: Word, size: int) -> bool:
        """Return whether an address is a multiple: copies begin at multiples of a line."""
        place = base(address)
        if place is None or place[0].kind != "dst" or LINE % size:
            return Memory.is_aligned(self, address, size)
        offset = place[1]
        factors = (offset,) if isinstance(offset, int) else (offset.constant, *(c for _, c in offset.terms))
        return all(factor % size == 0 for factor in factors)

    def extent(self, region: Address) -> tuple[Word, Word]:
        if region.kind == "message":
            return 0, self.messages
        return Memory.extent(self, region)

    def check_written(self) -> None:
        """Raise Refutation unless all results and copies are written. Messages that do not change need not be
        written."""
        self.settle()
        if subtract(self.done, self.messages) != 0 and not self._unchanged():
            raise Refutation(f"of the results only {self.done} of {self.messages} bytes are written")
        copies = self.limits.outputs if self.limits.length != 0 else 0
        if subtract(self.complete, copies) != 0 or self.written.keys() - {RESULT}:
            raise Refutation(f"of {copies} copies only {self.complete} are complete")
