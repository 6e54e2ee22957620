"""The stack of one path: the values that the function has stored, by place relative to rsp on entry.

A place is a number, or lies at an unknown distance, less than an alignment's width, below a number: `and
register, -64` makes such an address, and other slots of the frame are relative to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Facts, Symbol, Word, private, substitute, subtract
from gfsmith.prove.verdict import Refutation

Slot = tuple[Word | Runs, int]

#: Stack.deepest, unless the calling convention permits less. musl gives threads 128 KiB.
DEEPEST = 1 << 16


@dataclass(slots=True)
class Stack:
    """slots: place -> content and its size. home: bytes above the entry rsp that the callee may write
    (Microsoft's shadow space). red_zone: bytes below rsp that signal handlers leave alone. floor: below
    this place they may overwrite everything. guard: bytes of a guard page; touched: the lowest place that has
    been accessed. No access may be further below it than a guard page: the system extends the stack page by
    page (Microsoft, "x64 stack usage"), or keeps other memory right behind one guard page. deepest: bytes
    below the stack pointer on entry that the function may use."""

    home: tuple[int, int] = (0, 0)
    red_zone: int = 0
    slots: dict[Word, Slot] = field(default_factory=dict)
    floor: int = 0
    guard: int = DEEPEST
    touched: int = 0
    deepest: int = DEEPEST

    def copy(self) -> Stack:
        return replace(self, slots=dict(self.slots))

    def substitute(self, name: Symbol, by: Word) -> None:
        self.slots = {
            substitute(place, name, by): (_substitute(content, name, by), size)
            for place, (content, size) in self.slots.items()
        }

    def move(self, rsp: int, facts: Facts) -> None:
        """Set rsp to entry rsp + `rsp`: the bytes below its red zone are lost."""
        if rsp > self.red_zone:
            raise Refutation(f"the stack pointer leaves {rsp} bytes of the caller's frame to signal handlers")
        if rsp < -self.deepest:
            raise Refutation(f"uses {-rsp} bytes of stack; allowed: {self.deepest}")
        if rsp < self.touched - self.guard:
            raise Refutation(f"the stack pointer passes a guard page: {self.touched - rsp} bytes untouched")
        self.floor = rsp - self.red_zone
        self.slots = {at: slot for at, slot in self.slots.items() if facts.range(at)[0] >= self.floor}

    def load(self, place: Word, size: int) -> Word | Runs:
        content, known = self.slots.get(place, (0, 0))
        if known != size:
            content = self._composed(place, size)
        if isinstance(place, int):
            self.touched = min(self.touched, place)
        return content

    def _composed(self, place: Word, size: int) -> Runs:
        """Return bytes that several slots hold, or a part of one."""
        found: list[domain.Run] = []
        at = place
        while isinstance(at, int) and isinstance(place, int) and at < place + size:
            start, content, length = self._slot_at(at)
            high = min(length, place + size - start)
            found += domain.cut(as_bytes(content, length), at - start, high)
            at = start + high
        if not found:
            raise Refutation(f"reads the stack at {place}, where it has put nothing")
        return domain.merge(found)

    def _slot_at(self, at: int) -> tuple[int, Word | Runs, int]:
        """Return the slot that contains a byte: its place, content and size."""
        for start, (content, length) in self.slots.items():
            if isinstance(start, int) and start <= at < start + length:
                return start, content, length
        raise Refutation(f"reads the stack at {at}, where it has put nothing")

    def store(self, place: Word, content: Word | Runs, size: int, facts: Facts) -> None:
        """Store `content` at `place`. Of overlapped slots, only the bytes beside it remain."""
        low, high = facts.range(place)
        if high > -size and not (self.home[0] <= low and high <= self.home[1] - size):
            raise Refutation(f"writes the caller's frame, at {place} from the entry rsp")
        if low < self.floor:
            raise Refutation(f"writes the stack at {place}, where a signal handler may write too")
        if low < self.touched - self.guard:
            raise Refutation(f"writes the stack at {place}, beyond a guard page that it has not touched")
        self.touched = min(self.touched, int(high))
        for other, slot in list(self.slots.items()):
            if _may_overlap(facts, place, size, other, slot[1]):
                del self.slots[other]
                self.slots.update(_remains(other, slot, place, size))
        self.slots[place] = content, size


def callers_slots(stack: Stack) -> Iterator[tuple[Word, Word | Runs]]:
    """Yield the slots that hold a value of the caller and nothing else: a register that the function must
    preserve. A frame may have hundreds of other slots, with long sums."""
    for place, (content, _) in stack.slots.items():
        kept = _entry_vector(content) if isinstance(content, tuple) else private(content) is not None
        if kept:
            yield place, content


def _entry_vector(content: Runs) -> bool:
    """Return whether bytes are those of one vector register at the entry."""
    form = content[0][1]
    if len(content) > 1 or not isinstance(form, domain.Form) or len(form.atoms) != 1:
        return False
    return next(iter(form.atoms)).kind == domain.ENTRY


def _may_overlap(facts: Facts, place: Word, size: int, other: Word, length: int) -> bool:
    gap = subtract(place, other)
    low, high = (gap, gap) if isinstance(gap, int) else facts.range(gap)
    return low < length and high > -size


def _remains(at: Word, slot: Slot, place: Word, size: int) -> Iterator[tuple[Word, Slot]]:
    """Yield the slots below and above `size` bytes at `place` that remain of a slot of data."""
    content, length = slot
    if not isinstance(content, tuple) or not isinstance(at, int) or not isinstance(place, int):
        return
    for low, high in ((0, place - at), (place + size - at, length)):
        if low < high:
            yield at + low, (domain.cut(content, low, high), high - low)


def as_bytes(content: Word | Runs, size: int) -> Runs:
    """Return the content of a slot as data."""
    if isinstance(content, int):
        return domain.constant_runs((content % (1 << 8 * size)).to_bytes(size, "little"))
    if not isinstance(content, tuple):
        raise Unsupported("a saved general register is read as data")
    return content


def _substitute(content: Word | Runs, name: Symbol, by: Word) -> Word | Runs:
    if isinstance(content, tuple):
        return domain.substitute_runs(content, name, by)
    return substitute(content, name, by)
