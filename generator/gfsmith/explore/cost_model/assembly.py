"""Loops of a function in a compiler's or an assembler's output, found by control flow.

The input is the output of llvm-objdump. Loops are the strongly connected components of the graph of
instructions. The inner loops of a loop are the components that remain after removal of its first instruction,
in the order of addresses. An iteration of a loop is the list of instructions that it executes, with a
requested number of iterations of its inner loops.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gfsmith.explore.cost_model.target import Target
from gfsmith.explore.cost_model.tools import Unavailable

_LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
_FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
_SYMBOL = re.compile(r"\s+<[^<>]*>$")  #: the symbol that llvm-objdump adds to an address
_DESTINATION = re.compile(r"(?:^|[\s,])(?:0x([0-9a-f]+))$")


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction. jump: the target address of a branch."""

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
        """Return the instruction for an assembler, with a label instead of a branch's address."""
        return self.text if self.jump is None else _DESTINATION.sub(f" {label}", self.text)


def _instruction(address: int, text: str, named: bool) -> Line:
    """Return the instruction. A branch ends in an address, which llvm-objdump names on most architectures; an
    address of data is not a target."""
    words = " ".join(text.split("//")[0].split())
    bare = _SYMBOL.sub("", words)
    found = _DESTINATION.search(bare)
    place = found is not None and (bare != words or not named) and not bare.startswith(("adr", "larl"))
    return Line(address, bare, int(found[1], 16) if found and place else None)


def functions(listing: str, target: Target) -> dict[str, Function]:
    """Return the functions of a disassembly, by name."""
    found: dict[str, list[Line]] = {}
    name = ""
    for row in listing.splitlines():
        if head := _FUNCTION.match(row):
            if not head[1].startswith(".L"):  # a label inside a function
                name = head[1]
                found[name] = []
        elif (line := _LINE.match(row)) and name:
            found[name].append(_instruction(int(line[1], 16), line[2], target.named))
    return {name: Function(tuple(lines), target) for name, lines in found.items()}


@dataclass(frozen=True)
class Loop:
    """Instructions of a function, by number, that can all be reached from each other."""

    function: Function
    members: frozenset[int]

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(self.function.lines[n] for n in sorted(self.members))

    @cached_property
    def inner(self) -> tuple[Loop, ...]:
        """Return the inner loops, in the order of their addresses."""
        return self.function.loops(self.members - {self.entry})

    @cached_property
    def entry(self) -> int:
        """Return the instruction at which the loop is entered; its first one if the function begins in it."""
        outside = set(range(len(self.function.lines))) - self.members
        entered = [n for o in sorted(outside) for n in self.function.following(o) if n in self.members]
        return min(entered, default=min(self.members))

    def turn(self, inside: Loop | None = None, times: int = 1) -> tuple[Line, ...]:
        """Return the instructions of one iteration, with `times` iterations of the loop `inside` it.

        Raises Unavailable if there is no such path.
        """
        if inside is None:
            path = self._way(self.entry, self.entry, self.members)
            return tuple(self.function.lines[n] for n in path)
        outer = self.members - inside.members
        into = self._way(self.entry, inside.entry, outer | {inside.entry})
        body = inside._way(inside.entry, inside.entry, inside.members)
        last = [n for n in body if any(m in outer for m in self.function.following(n))]
        if not last:
            raise Unavailable("the inner loop has no exit")
        end = body[: body.index(last[-1]) + 1]  # the last iteration exits here
        leaves = next(m for m in self.function.following(last[-1]) if m in outer)
        back = [] if leaves == self.entry else [leaves, *self._way(leaves, self.entry, outer)[1:]]
        path = [*into, *(body * (times - 1)), *end, *back]
        return tuple(self.function.lines[n] for n in path)

    def _way(self, start: int, end: int, allowed: Collection[int]) -> list[int]:
        """Return the path from `start` to `end`. At a branch inside the loop it takes the fall-through side:
        the instructions that such a branch skips are less work, for example without sources or with fewer
        sources."""
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
    """The instructions of a function, and their successors."""

    lines: tuple[Line, ...]
    target: Target

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {line.address: number for number, line in enumerate(self.lines)}

    def following(self, number: int) -> tuple[int, ...]:
        """Return the possible next instructions, the following one first."""
        line = self.lines[number]
        found = []
        stops = line.name in self.target.returns
        if not stops and line.name not in self.target.unconditional and number + 1 < len(self.lines):
            found.append(number + 1)
        if line.jump is not None and line.jump in self._numbers:
            found.append(self._numbers[line.jump])
        return tuple(found)

    def loops(self, members: Iterable[int] | None = None) -> tuple[Loop, ...]:
        """Return the outermost loops of the function, or of some of its instructions."""
        among = frozenset(range(len(self.lines)) if members is None else members)
        ahead = {n: [m for m in self.following(n) if m in among] for n in among}
        return tuple(Loop(self, part) for part in sorted(_components(among, ahead), key=min))

    def every_loop(self) -> Iterator[tuple[Loop, Loop | None]]:
        """Yield every loop with the loop around it, outer loops first."""
        waiting: list[tuple[Loop, Loop | None]] = [(loop, None) for loop in self.loops()]
        while waiting:
            loop, around = waiting.pop(0)
            yield loop, around
            waiting += [(inner, loop) for inner in loop.inner]


def _components(among: Collection[int], ahead: Mapping[int, Sequence[int]]) -> list[frozenset[int]]:
    """Return the strongly connected components that have an edge. Every cycle has an edge that does not go
    down. Its component consists of the instructions that it reaches and that reach it."""
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
    """Return the instructions that are one step or more away."""
    found: set[int] = set()
    waiting = [start]
    while waiting:
        fresh = set(ahead[waiting.pop()]) - found
        found |= fresh
        waiting += fresh
    return frozenset(found)
