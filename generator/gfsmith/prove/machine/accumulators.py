"""Accumulators of a loop over the sources: their gain in an iteration, and their sum after any iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from gfsmith.prove.machine import domain, masked_tail
from gfsmith.prove.machine.contract import Contract
from gfsmith.prove.machine.domain import Form, Piece, Run, Runs, Unsupported
from gfsmith.prove.machine.linear import Word, add, plain, scale, subtract
from gfsmith.prove.machine.state import State

#: The number of a vector register, or the name of a general register that holds data.
Register: TypeAlias = int | str


class Growth(Protocol):
    """The change of a register in the iterations of a loop."""

    def after(self, iteration: Word) -> Runs:
        """Return the register `iteration` iterations after the first state."""

    def continues(self, start: Runs, end: Runs, iteration: Word) -> bool:
        """Return whether an iteration that begins with `start` must end with `end`."""

    def plain(self) -> list[Any]:
        """Return the change as plain data, for a certificate."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A stretch of an accumulator: the products of output `output` with the sources from `first` on, `count`
    of them per iteration, or with the ends of these sources (masked_tail.py)."""

    output: Word
    first: Word
    count: int
    start: Word
    length: int
    end: bool

    def source(self, iteration: Word) -> Word:
        """The first source of an iteration."""
        return add(self.first, scale(iteration, self.count))


def _recognise(contract: Contract, piece: Piece, length: int) -> Sum | None:
    """Return the products whose sum is `piece`, if they are products of one output and successive sources."""
    if not isinstance(piece, Form) or piece.is_constant:
        return None
    atom = next(iter(piece.atoms))
    if not atom.kind.startswith("src"):
        return None
    output: Word = atom.maps[0].output if atom.maps else 0
    places = {subtract(other.shard, atom.shard) for other in piece.atoms}
    numbers = [place for place in places if isinstance(place, int)]
    if len(numbers) < len(places):
        return None
    first = add(atom.shard, min(numbers))
    found = Sum(output, first, len(numbers), atom.start, length, masked_tail.is_end(atom))
    return found if piece == _gain(contract, found, first) else None


def _gain(contract: Contract, part: Sum, first: Word) -> Form:
    """Return the gain of an accumulator in an iteration that begins with source `first`."""
    gained = contract.products(part.output, first, part.count, part.start)
    return masked_tail.ended(gained) if part.end else gained


def _total(contract: Contract, part: Sum, sources: Word) -> Form:
    """Return the sum over the first sources."""
    total = contract.total(part.output, sources, part.start)
    return masked_tail.ended(total) if part.end else total


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A sum of products that gains the next sources in each iteration. first: the register in the first
    state."""

    contract: Contract
    first: Runs
    parts: list[Sum | int]

    def after(self, iteration: Word) -> Runs:
        return _summed(self.contract, self.first, self.parts, iteration)

    def continues(self, start: Runs, end: Runs, iteration: Word) -> bool:
        return _gained(self.contract, self.parts, start, end, iteration)

    def plain(self) -> list[Any]:
        return [_plain(part) for part in self.parts]


def _plain(part: Sum | int) -> Any:
    if isinstance(part, int):
        return part
    words = plain(part.first), part.count, plain(part.start), part.end
    return [part.length, plain(part.output), *words]


def accumulator(contract: Contract, seen: Sequence[State], register: Register) -> Growth | None:
    """Return the change of a register from the states of the first iterations; None if it is no
    accumulator, as general registers are not."""
    if isinstance(register, str):
        return None
    values = [state.vectors[register] for state in seen]
    parts = _stretches(contract, values)
    return None if parts is None else Accumulator(contract, values[0], parts)


def _stretches(contract: Contract, seen: list[Runs]) -> list[Sum | int] | None:
    """Return the stretches of an accumulator (a number: bytes that do not change); None if it is no
    accumulator."""
    if contract.operation == "horner":
        return _horner(contract, *seen)
    first, second = seen
    found: list[Sum | int] = []
    try:
        gained = domain.xor(first, second)
    except Unsupported:
        return None
    for length, piece in gained:
        if piece == domain.ZERO:
            found.append(length)
            continue
        product = _recognise(contract, piece, length)
        if product is None:
            return None
        found.append(product)
    return found


def _horner(contract: Contract, first: Runs, second: Runs, third: Runs) -> list[Sum | int] | None:
    """Return the stretches of an accumulator of Horner's rule. Its gain cannot be read from a difference of
    two states: all states are sums from source 0 on, and the sums of different outputs differ only from the
    second source on."""
    found: list[Sum | int] = []
    for length, before, after in domain.aligned(second, third):
        position = sum(part if isinstance(part, int) else part.length for part in found)
        if before == after and domain.cut(first, position, position + length) == ((length, before),):
            found.append(length)
            continue
        part = _recognise_horner(contract, before, after, length)
        if part is None:
            return None
        found.append(part)
    return found


def _recognise_horner(contract: Contract, before: Piece, after: Piece, length: int) -> Sum | None:
    if not isinstance(before, Form) or not isinstance(after, Form) or after.is_constant:
        return None
    old, new = _sources(before), _sources(after)
    if old is None or new is None or not 0 < new - old <= old:
        return None
    atom = next(iter(after.atoms))
    for output in range(contract.outputs):
        found = Sum(output, 2 * old - new, new - old, atom.start, length, masked_tail.is_end(atom))
        if (before, after) == (_total(contract, found, old), _total(contract, found, new)):
            return found
    return None


def _sources(form: Form) -> int | None:
    """Return the number n of a form's sources if they are exactly the first n sources, else None."""
    shards = {atom.shard if atom.kind.startswith("src") else -1 for atom in form.atoms}
    return len(shards) if shards == set(range(len(shards))) else None


def _summed(contract: Contract, first: Runs, parts: list[Sum | int], iteration: Word) -> Runs:
    """Return the accumulator `iteration` iterations after `first`."""
    total: list[Run] = []
    position = 0
    for part in parts:
        length = part if isinstance(part, int) else part.length
        runs = domain.cut(first, position, position + length)
        position += length
        if not isinstance(part, int):
            now, before = (
                _total(contract, part, sources) for sources in (part.source(iteration), part.first)
            )
            rest = domain.xor(runs, ((length, before),))  # the value to which the sum is added
            runs = domain.xor(rest, ((length, now),))
        total += runs
    return domain.merge(total)


def _gained(contract: Contract, parts: list[Sum | int], start: Runs, end: Runs, iteration: Word) -> bool:
    """Return whether an accumulator gained the products of exactly the iteration's sources."""
    want: list[Run] = []
    position = 0
    try:
        for part in parts:
            length = part if isinstance(part, int) else part.length
            runs = domain.cut(start, position, position + length)
            position += length
            if not isinstance(part, int):
                runs = _carried(contract, part, runs)
                runs = domain.xor(runs, ((length, _gain(contract, part, part.source(iteration))),))
            want += runs
        return domain.xor(domain.merge(want), end) == domain.zeros(position)
    except Unsupported:
        return False


def _carried(contract: Contract, part: Sum, runs: Runs) -> Runs:
    """Return a stretch of an accumulator before it gains the sources of an iteration."""
    carried: list[Run] = []
    for length, piece in runs:
        if not isinstance(piece, Form):
            raise Unsupported("a sum of raw table bytes")
        carried.append((length, contract.carried(piece, part.output, part.count)))
    return tuple(carried)
