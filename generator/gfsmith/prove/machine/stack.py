"""The stack of one path: what the function has put where, relative to rsp on entry.

A place is a number, or one less than an alignment's width away from it: `and register, -64` makes an
address of the frame of which only bounds are known, and slots relative to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Facts, Symbol, Word, substitute, subtract
from gfsmith.prove.verdict import Refutation

Slot = tuple[Word | Runs, int]


@dataclass(slots=True)
class Stack:
    """slots: place -> content and its size. home: bytes above the entry rsp that the callee may write
    (Microsoft's shadow space). red_zone: bytes below rsp that signal handlers leave alone. floor: below
    this place they may overwrite everything."""

    home: tuple[int, int] = (0, 0)
    red_zone: int = 0
    slots: dict[Word, Slot] = field(default_factory=dict)
    floor: int = 0

    def copy(self) -> Stack:
        return Stack(self.home, self.red_zone, dict(self.slots), self.floor)

    def substitute(self, name: Symbol, by: Word) -> None:
        self.slots = {
            substitute(place, name, by): (_substitute(content, name, by), size)
            for place, (content, size) in self.slots.items()
        }

    def move(self, rsp: int, facts: Facts) -> None:
        """rsp has become entry rsp + `rsp`: what lies below and beyond the red zone is lost."""
        self.floor = rsp - self.red_zone
        self.slots = {at: slot for at, slot in self.slots.items() if facts.range(at)[0] >= self.floor}

    def load(self, place: Word, size: int) -> Word | Runs:
        if place not in self.slots:
            raise Refutation(f"reads the stack at {place}, where it has put nothing")
        content, known = self.slots[place]
        if known != size:
            raise Unsupported(f"reads {size} of {known} bytes on the stack")
        return content

    def store(self, place: Word, content: Word | Runs, size: int, facts: Facts) -> None:
        """Put something there; what it may overlap is lost."""
        low, high = facts.range(place)
        if high > -size and not (self.home[0] <= low and high <= self.home[1] - size):
            raise Refutation(f"writes the caller's frame, at {place} from the entry rsp")
        if low < self.floor:
            raise Refutation(f"writes the stack at {place}, where a signal handler may write too")
        for other, (_, length) in list(self.slots.items()):
            if other != place and _may_overlap(facts, place, size, other, length):
                del self.slots[other]
        self.slots[place] = content, size


def _may_overlap(facts: Facts, place: Word, size: int, other: Word, length: int) -> bool:
    low, high = facts.range(subtract(place, other))
    return low < length and high > -size


def _substitute(content: Word | Runs, name: Symbol, by: Word) -> Word | Runs:
    if isinstance(content, tuple):
        return domain.substitute_runs(content, name, by)
    return substitute(content, name, by)
