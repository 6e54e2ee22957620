"""Solving for a symbol: an unknown whose value has become known is replaced everywhere."""

from __future__ import annotations

from math import gcd

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import Contradiction, Linear, divide, scale, subtract
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.state import State


def fix(state: State, value: Linear, number: int) -> None:
    """value = number: solve for one symbol, a loop's counter if there is one, and replace it everywhere.

    Raises Contradiction if there is no solution, Unsupported if none of the symbols can be isolated.
    """
    if (number - value.constant) % gcd(*(c for _, c in value.terms)):
        raise Contradiction
    symbols = [(s, c) for s, c in value.terms if isinstance(s, str)]
    if not symbols:
        raise Unsupported(f"{value} = {number} has nothing to solve for")
    factor = min(abs(c) for _, c in symbols)
    name, own = min(
        (item for item in symbols if abs(item[1]) == factor),
        key=lambda item: _age(str(item[0])),
    )
    others = subtract(subtract(value, number), Linear(0, ((name, own),)))
    by = divide(scale(others, -1 if own > 0 else 1), factor)
    if by is None:
        raise Unsupported(f"{value} = {number} cannot be solved for {name}")
    known = state.facts.range(Linear(0, ((name, 1),)))
    state.substitute(name, by)
    state.facts.substitute(name, by)
    assert isinstance(state.memory, Memory)
    state.memory.substitute(name, by)
    state.facts.assume(by, *known)


def _age(name: str) -> tuple[bool, int]:
    """Sorts the newest loop counter first, parameters last: older symbols stay in use elsewhere."""
    counter = name[1:] if name.startswith("t") and name[1:].isdigit() else ""
    return not counter, -int(counter or 0)
