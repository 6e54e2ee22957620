"""Loops of a function in a compiler's or an assembler's output, found by control flow.

The input is what llvm-objdump prints. Loops are the strongly connected parts of the graph of instructions;
the loops inside one are those that remain when its first instruction, in the order of addresses, is taken
away. A turn of a loop is the list of instructions that one turn executes, inner loops as often as asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gfsmith.model.target import Target
from gfsmith.model.tools import Unavailable

_LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
_FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
_SYMBOL = re.compile(r"\s+<[^<>]*>$")  #: what llvm-objdump adds to an address
_DESTINATION = re.compile(r"(?:^|[\s,])(?:0x([0-9a-f]+))$")


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction. jump: the address that a branch may go on at."""

    address: int
    text: str
    jump: int | None

    @property
    def name(self) -> str:
        return self.text.split(None, 1)[0]

    @property
    def operands(self) -> str:
        return self.text.partition(" ")[2]

    def at(self, label: str) -> str:
        """The instruction for an assembler, a branch with a label for its address."""
        return self.text if self.jump is None else _DESTINATION.sub(f" {label}", self.text)


def _instruction(address: int, text: str, named: bool) -> Line:
    """Branches end in an address, which llvm-objdump names on most architectures; that of data is none."""
    words = " ".join(text.split("//")[0].split())
    bare = _SYMBOL.sub("", words)
    found = _DESTINATION.search(bare)
    place = found is not None and (bare != words or not named) and not bare.startswith(("adr", "larl"))
    return Line(address, bare, int(found[1], 16) if found and place else None)


def functions(listing: str, target: Target) -> dict[str, Function]:
    """The functions of a disassembly, by name."""
    found: dict[str, list[Line]] = {}
    name = ""
    for row in listing.splitlines():
        if head := _FUNCTION.match(row):
            if not head[1].startswith(".L"):  # a place inside of a function
                name = head[1]
                found[name] = []
        elif (line := _LINE.match(row)) and name:
            found[name].append(_instruction(int(line[1], 16), line[2], target.named))
    return {name: Function(tuple(lines), target) for name, lines in found.items()}


@dataclass(frozen=True)
class Loop:
    """Some instructions of a function, by number, that can all be reached from each other."""

    function: Function
    members: frozenset[int]

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(self.function.lines[n] for n in sorted(self.members))

    @cached_property
    def inner(self) -> tuple[Loop, ...]:
        """The loops inside, in the order of their addresses."""
        return self.function.loops(self.members - {self.entry})

    @cached_property
    def entry(self) -> int:
        """Where the loop is entered from outside; its first instruction if the function begins in it."""
        outside = set(range(len(self.function.lines))) - self.members
        entered = [n for o in sorted(outside) for n in self.function.following(o) if n in self.members]
        return min(entered, default=min(self.members))

    def turn(self, inside: Loop | None = None, times: int = 1) -> tuple[Line, ...]:
        """What one turn executes, with the loop `inside` it `times` times.

        Raises Unavailable if there is no such way.
        """
        if inside is None:
            path = self._way(self.entry, self.entry, self.members)
            return tuple(self.function.lines[n] for n in path)
        outer = self.members - inside.members
        into = self._way(self.entry, inside.entry, outer | {inside.entry})
        body = inside._way(inside.entry, inside.entry, inside.members)
        last = [n for n in body if any(m in outer for m in self.function.following(n))]
        if not last:
            raise Unavailable("the inner loop has no way out")
        end = body[: body.index(last[-1]) + 1]  # where the last turn leaves
        leaves = next(m for m in self.function.following(last[-1]) if m in outer)
        back = [] if leaves == self.entry else [leaves, *self._way(leaves, self.entry, outer)[1:]]
        path = [*into, *(body * (times - 1)), *end, *back]
        return tuple(self.function.lines[n] for n in path)

    def _way(self, start: int, end: int, allowed: Collection[int]) -> list[int]:
        """From `start` on until `end` would come next, past every branch that may be passed by: what a
        branch inside of a loop skips is less work, as when there are no sources or fewer than usual."""
        way = [start]
        left = [iter(self.function.following(start))]
        seen = {start}
        while left:
            following = next(left[-1], None)
            if following is None:
                left.pop()
                way.pop()
            elif following == end:
                return way
            elif following in allowed and following not in seen:
                seen.add(following)
                way.append(following)
                left.append(iter(self.function.following(following)))
        raise Unavailable("the loop cannot be followed")


@dataclass(frozen=True)
class Function:
    """The instructions of a function, and where each goes on."""

    lines: tuple[Line, ...]
    target: Target

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {line.address: number for number, line in enumerate(self.lines)}

    def following(self, number: int) -> tuple[int, ...]:
        """The instructions that may be next: the one below first."""
        line = self.lines[number]
        found = []
        stops = line.name in self.target.returns
        if not stops and line.name not in self.target.unconditional and number + 1 < len(self.lines):
            found.append(number + 1)
        if line.jump is not None and line.jump in self._numbers:
            found.append(self._numbers[line.jump])
        return tuple(found)

    def loops(self, members: Iterable[int] | None = None) -> tuple[Loop, ...]:
        """The outermost loops of the function, or among some of its instructions."""
        among = frozenset(range(len(self.lines)) if members is None else members)
        ahead = {n: [m for m in self.following(n) if m in among] for n in among}
        return tuple(Loop(self, part) for part in sorted(_components(among, ahead), key=min))

    def every_loop(self) -> Iterator[tuple[Loop, Loop | None]]:
        """All loops, each with the one around it, outer ones first."""
        waiting: list[tuple[Loop, Loop | None]] = [(loop, None) for loop in self.loops()]
        while waiting:
            loop, around = waiting.pop(0)
            yield loop, around
            waiting += [(inner, loop) for inner in loop.inner]


def _components(among: Collection[int], ahead: Mapping[int, Sequence[int]]) -> list[frozenset[int]]:
    """The strongly connected parts that have an edge: every cycle has one that does not go down, and its
    part is what can be reached from there and can reach it."""
    behind: dict[int, list[int]] = {n: [] for n in among}
    for number, following in ahead.items():
        for other in following:
            behind[other].append(number)
    found: list[frozenset[int]] = []
    for head in sorted({m for n in among for m in ahead[n] if m <= n}):
        if not any(head in part for part in found):
            part = _reached(head, ahead) & _reached(head, behind)
            found += [part] if part else []
    return found


def _reached(start: int, ahead: Mapping[int, Sequence[int]]) -> frozenset[int]:
    """What is one step or more away."""
    found: set[int] = set()
    waiting = [start]
    while waiting:
        fresh = set(ahead[waiting.pop()]) - found
        found |= fresh
        waiting += fresh
    return frozenset(found)
