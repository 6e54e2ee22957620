"""Loop invariants: the state at any iteration of a loop, from the states at two iterations.

At the branch that closes a loop, let S0 and S1 be the states of two iterations. The guess for iteration t:
equal values do not change, numbers and addresses grow by the same amount in each iteration, an accumulator
that gained the products of the next sources holds the sum of the products so far, and all other values are
unknown. The prover then checks the guess: one iteration from the state of iteration t must lead to the state
of iteration t + 1. If it does, the guess holds for every t, by induction; if it does not, the prover discards
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from gfsmith.prove.machine import alignment, bitmatrix, domain
from gfsmith.prove.machine.accumulators import Growth, Register
from gfsmith.prove.machine.domain import Form, Runs, Unsupported
from gfsmith.prove.machine.linear import Linear, Word, add, scale, substitute, subtract, symbol
from gfsmith.prove.machine.memory import Memory, Written
from gfsmith.prove.machine.stack import Slot
from gfsmith.prove.machine.state import Difference, Flags, Joined, Opaque, State, Truth, Unclear, Value, fork

_SPAN = 1 << 64


@dataclass(slots=True)
class Guess:
    """The guessed state of iteration number `iteration`, and the registers whose growth is known, vectors by
    number. since: the unknowns from this number on were made for the guess, so each is one part of the
    state."""

    state: State
    iteration: str
    sums: dict[Register, Growth]
    since: int

    def is_free(self, value: object) -> bool:
        """Return whether the guess states nothing of a value. An older unknown is a claim: it may also be in
        other parts of the state, which then hold the same value in every iteration."""
        return is_junk(value) and _number(value) >= self.since


def junk(size: int) -> Runs:
    """Return bytes without any known property."""
    return domain.unknown(domain.JUNK, size)


def vague(values: Iterable[object], size: int) -> Runs:
    """Return an unknown for a register or slot that held these values in some iterations. If all of them are
    numbers or addresses, its use is no error."""
    kind = domain.JUNK if any(map(_is_data, values)) else domain.UNCLEAR
    return domain.unknown(kind, size)


def _is_data(value: object) -> bool:
    """Return whether a value is data or junk, and not one that the prover did not follow."""
    if not isinstance(value, tuple) or domain.is_unclear(value):
        return False
    return not all(isinstance(piece, Form) and piece.is_constant for _, piece in value)


def _become_data(first: Value | Opaque, second: Value | Opaque) -> bool:
    """Return whether a register holds other data in the second state, where the first may have a number, as
    before a sum."""
    held = isinstance(first, tuple | int) and isinstance(second, tuple | int)
    return held and first != second and not (isinstance(first, int) and isinstance(second, int))


def copy(state: State) -> State:
    facts = state.facts.copy()
    assert isinstance(state.memory, Memory)
    return fork(state, state.memory.copy(facts), facts)


def _number(value: object) -> int:
    """Return the number of an unknown."""
    assert isinstance(value, tuple)
    return int(next(iter(value[0][1].atoms)).shard)


def _grow(first: Word, second: Word, iteration: Linear) -> Word | None:
    step = subtract(second, first)
    if not isinstance(step, int):
        return None
    if isinstance(first, int) and abs(step) >= _SPAN // 2:
        step -= _SPAN if step > 0 else -_SPAN  # a number that is counted down past 0
    return add(first, scale(iteration, step))


def _value(first: Value | Opaque, second: Value | Opaque, iteration: Linear) -> Value | Opaque:
    if first == second:
        return first
    if isinstance(first, int | Linear) and isinstance(second, int | Linear):
        grown = _grow(first, second, iteration)
        if grown is not None:
            return grown
    if isinstance(first, Joined) and isinstance(second, Joined):
        return alignment.grown(first, second, iteration) or vague((first, second), 8)
    if isinstance(first, Truth) and isinstance(second, Truth) and first.condition is second.condition:
        flags = _flags(first.flags, second.flags, iteration)
        if not isinstance(flags, Unclear):
            return Truth(flags, first.condition)
    return vague((first, second), 8)


def _flags(first: Flags, second: Flags, iteration: Linear) -> Flags:
    if first == second:
        return first
    if isinstance(first, Difference) and isinstance(second, Difference):
        left = _grow(first.left, second.left, iteration)
        right = _grow(first.right, second.right, iteration)
        if left is not None and right is not None and _alike(first, second):
            return replace(first, left=left, right=right)
    return Unclear()


def _alike(first: Difference, second: Difference) -> bool:
    return (first.size, first.summed) == (second.size, second.summed)


def guess(
    seen: tuple[State, ...], name: str, growth: Callable[[Sequence[State], Register], Growth | None]
) -> Guess:
    """Return the guessed state of iteration `name`, from the states of the first iterations. growth: returns
    the change of a register that holds data. Raises Unsupported if the states do not fit a loop."""
    first, second = seen[:2]
    iteration, since = symbol(name), domain.new_unknown()
    state = copy(first)
    sums: dict[Register, Growth] = {}
    for register, value in first.gpr.items():
        other = second.gpr[register]
        grown = growth(seen, register) if _become_data(value, other) else None
        if grown is None:
            state.gpr[register] = _value(value, other, iteration)
        else:
            sums[register] = grown
            state.gpr[register] = grown.after(iteration)
    for number, runs in enumerate(first.vectors):
        if runs == second.vectors[number]:
            continue
        found = growth(seen, number)
        if found is None:
            state.vectors[number] = junk(domain.size(runs))
        else:
            sums[number] = found
            state.vectors[number] = found.after(iteration)
    pairs = zip(first.masks, second.masks, strict=True)
    state.masks = [a if a == b else None for a, b in pairs]
    state.conditions = {
        name: _flags(first.conditions.get(name, Unclear()), second.conditions.get(name, Unclear()), iteration)
        for name in {**first.conditions, **second.conditions}
    }
    state.dirty = first.dirty or second.dirty
    state.unfenced = first.unfenced or second.unfenced
    state.multiples = {a: m for a, m in first.multiples.items() if second.multiples.get(a) == m}
    _guess_memory(first, second, state, iteration)
    return Guess(state, name, sums, since)


def _guess_memory(first: State, second: State, state: State, iteration: Linear) -> None:
    a, b, memory = first.memory, second.memory, state.memory
    assert isinstance(a, Memory) and isinstance(b, Memory) and isinstance(memory, Memory)
    memory.stack.slots = {
        place: _slot(slot, b.stack.slots.get(place)) for place, slot in a.stack.slots.items()
    }
    complete = _grow(a.complete, b.complete, iteration)
    if complete is None or set(a.written) != set(b.written):
        raise Unsupported("a loop that writes other destinations in each iteration")
    memory.complete = complete
    for index, written in a.written.items():
        prefix = _grow(written.prefix, b.written[index].prefix, iteration)
        if prefix is None or written.pieces != b.written[index].pieces:
            raise Unsupported("a loop that does not write its destinations from start to end")
        memory.written[index] = Written(prefix, list(written.pieces))


def _slot(first: Slot, second: Slot | None) -> Slot:
    """Return a slot at any iteration: unknown if two iterations differ in it."""
    if first == second:
        return first
    held = (first[0], second[0] if second is not None else junk(first[1]))
    return vague(held, first[1]), first[1]


def mismatch(start: Guess, end: State) -> list[str | int]:
    """Return the registers (names and vector numbers) of `end` that differ from the guess for the next
    iteration."""
    following: Word = add(symbol(start.iteration), 1)

    def move(value: Word) -> Word:
        return substitute(value, start.iteration, following)

    wrong: list[str | int] = []
    for register, value in start.state.gpr.items():
        if isinstance(value, int | Linear):
            if not _equal(end.gpr[register], move(value)):
                wrong.append(register)
        elif start.is_free(value):
            continue
        elif register in start.sums:
            if not _continues(start, register, value, end.gpr[register]):
                wrong.append(register)
        elif not _same(end.gpr[register], value, move):
            wrong.append(register)
    for number, runs in enumerate(start.state.vectors):
        if start.is_free(runs):
            continue
        if number in start.sums:
            same = _continues(start, number, runs, end.vectors[number])
        else:
            same = end.vectors[number] == domain.substitute_runs(runs, start.iteration, following)
        if not same:
            wrong.append(number)
    _check_memory(start, end, move)
    if not end.conditions.keys() <= start.state.conditions.keys():
        raise Unsupported("a loop that sets flags only in some iterations")
    for name, flags in start.state.conditions.items():
        if not isinstance(flags, Unclear) and end.conditions.get(name) != _move_flags(flags, move):
            raise Unsupported("a loop whose condition is not the same in each iteration")
    return wrong


def _continues(start: Guess, register: Register, before: Value | Opaque, after: Value | Opaque) -> bool:
    """Return whether a register whose growth is known has grown in the iteration."""
    if not isinstance(before, tuple) or not isinstance(after, tuple):
        return False
    return start.sums[register].continues(before, after, symbol(start.iteration))


def _equal(value: Value | Opaque, other: Word) -> bool:
    """Return whether a register holds the number `other`, modulo 2^64."""
    if value == other:
        return True
    gap = subtract(value, other) if isinstance(value, int | Linear) else None
    return isinstance(gap, int) and gap % _SPAN == 0


def _same(end: Value | Opaque, value: Value | Opaque, move: Callable[[Word], Word]) -> bool:
    """Return whether a register holds data, or no number, as the guess has it for the next iteration."""
    if isinstance(value, Joined):
        moved = Joined(frozenset(map(move, value.addresses)), value.mask)
        return isinstance(end, Joined) and alignment.equal(end, moved)
    if isinstance(value, Truth):
        return end == Truth(_move_flags(value.flags, move), value.condition)
    return end == value


def _move_flags(flags: Flags, move: Callable[[Word], Word]) -> Flags:
    if isinstance(flags, Difference):
        return replace(flags, left=move(flags.left), right=move(flags.right))
    return flags


def is_junk(value: object) -> bool:
    if not isinstance(value, tuple) or len(value) != 1 or not isinstance(value[0][1], Form):
        return False
    form = value[0][1]
    whole = form.constant == 0 and list(form.atoms.values()) == [bitmatrix.IDENTITY]
    return whole and next(iter(form.atoms)).kind in domain.UNKNOWN


def _check_memory(guess: Guess, end: State, move: Callable[[Word], Word]) -> None:
    start = guess.state
    a, b = start.memory, end.memory
    assert isinstance(a, Memory) and isinstance(b, Memory)
    same = (
        all(guess.is_free(s[0]) or b.stack.slots.get(p) == s for p, s in a.stack.slots.items())
        and move(a.complete) == b.complete
        and set(a.written) == set(b.written)
        and all(
            (move(w.prefix), w.pieces) == (b.written[i].prefix, b.written[i].pieces)
            for i, w in a.written.items()
        )
        and (start.dirty, start.unfenced) == (end.dirty, end.unfenced)
        and all(m is None or m == n for m, n in zip(start.masks, end.masks, strict=True))
        and all(end.multiples.get(x) == y for x, y in start.multiples.items())
    )
    if not same:
        raise Unsupported("a loop whose effect on memory is not the same in each iteration")
