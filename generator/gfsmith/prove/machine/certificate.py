"""Certificates: the results of a proof as plain data, with which judge/ checks the proof without a search.

A certificate is a tree with one node for each branch that the known facts do not decide (judge/replay.py has
the format): the parts in which its sides were followed, with the unknowns that were replaced, and for a loop
the invariant, as the differences of the state at any iteration from the first state.
"""

from __future__ import annotations

from math import inf
from typing import Any

from gfsmith.prove.machine.invariant import Guess, is_junk
from gfsmith.prove.machine.linear import Bound, Linear, plain, subtract
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.state import Difference, Flags, State

Node = list[Any]


def bound(value: Bound) -> int | None:
    return None if value in (inf, -inf) else int(value)


def part(low: Bound, high: Bound, hints: list[Any], node: Node) -> Node:
    return [bound(low), bound(high), hints, node]


def invariant(guess: Guess, first: State) -> dict[str, Any]:
    """Return how the state of a guess differs from the first state, by the iteration."""
    state, name = guess.state, guess.iteration
    a, b = first.memory, state.memory
    assert isinstance(a, Memory) and isinstance(b, Memory)
    vectors: dict[str, Any] = {}
    for number, runs in enumerate(state.vectors):
        if number in guess.sums and not is_junk(runs):
            vectors[str(number)] = guess.sums[number].plain()
        elif runs != first.vectors[number]:
            vectors[str(number)] = None
    return {
        "gpr": {
            register: _step(first.gpr[register], value, name)
            for register, value in state.gpr.items()
            if value != first.gpr[register]
        },
        "vectors": vectors,
        "slots": [plain(place) for place, slot in b.stack.slots.items() if slot != a.stack.slots[place]],
        "masks": [n for n, mask in enumerate(state.masks) if mask != first.masks[n]],
        "flags": _flags(first.flags, state.flags, name),
        "complete": _step(a.complete, b.complete, name),
        "written": [[plain(i), _step(a.written[i].prefix, w.prefix, name)] for i, w in b.written.items()],
        "dirty": state.dirty,
        "unfenced": state.unfenced,
    }


def _step(first: object, value: object, name: str) -> int | None:
    """Return the growth of a number or address per iteration; None if nothing is known of it."""
    if not isinstance(first, int | Linear) or not isinstance(value, int | Linear):
        return None
    gap = subtract(value, first)
    if isinstance(gap, int):
        return 0 if gap == 0 else None
    return gap.terms[0][1] if [s for s, _ in gap.terms] == [name] and gap.constant == 0 else None


def _flags(first: Flags, flags: Flags, name: str) -> list[int | None] | None:
    if not isinstance(first, Difference) or not isinstance(flags, Difference):
        return None
    return [_step(first.left, flags.left, name), _step(first.right, flags.right, name)]
