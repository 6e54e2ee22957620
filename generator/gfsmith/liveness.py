"""Which vector values are live where, and how many registers a Program needs at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gfsmith.ir import Instr, Loop, Program, Value


def uses(program: Program) -> Counter[Value]:
    """How often each value is read, by instructions and by the carries of rolled loops."""
    counts: Counter[Value] = Counter()
    for instr in program.instructions():
        counts.update(instr.args)
    for loop in program.loops:
        for carry in loop.carries:
            counts.update((carry.initial, carry.updated))
    return counts


def last_use(loop: Loop) -> dict[Value, int]:
    """Position of the last read of each value, counted over head, body, close in this order.

    A value of the head that the body reads is needed in every turn of it, so it lives to the body's end.
    A carried value lives from its definition in the head to its last read in close.
    """
    last: dict[Value, int] = {}
    head_values = {i.result for i in loop.head}
    position = 0
    for section in loop.sections():
        end = position + len(section) - 1
        for instr in section:
            for value in instr.args:
                keep = section is loop.body and value in head_values
                last[value] = max(last.get(value, -1), end if keep else position)
            position += 1
    body_end = len(loop.head) + len(loop.body) - 1
    for carry in loop.carries:
        last[carry.updated] = max(last.get(carry.updated, -1), body_end)
        last[carry.initial] = max(last.get(carry.initial, -1), len(loop.head))
    return last


def _peak(code: Iterable[Instr], last: dict[Value, int], loop: Loop) -> int:
    """The largest number of live values of a loop, without those of the preload.

    A carried value occupies one register under its three names, from the initial value on.
    """
    name = {c.initial: c.phi for c in loop.carries} | {c.updated: c.phi for c in loop.carries}
    body_start, body_end = len(loop.head), len(loop.head) + len(loop.body)
    ends: dict[Value, int] = {}
    for value, position in last.items():
        ends[name.get(value, value)] = max(ends.get(name.get(value, value), -1), position)
    live: set[Value] = set()
    peak = 0
    for position, instr in enumerate(code):
        dying = {v for v in (name.get(a, a) for a in instr.args) if v in live and ends[v] == position}
        if instr.result is not None:
            result = name.get(instr.result, instr.result)
            grown = (live - dying) | {result}
            peak = max(peak, len(live), len(grown))
            live = grown
        else:
            live -= dying
        if body_start <= position < body_end and position == body_end - 1:
            live = {v for v in live if ends.get(v, -1) > position}
    return peak


def pressure(program: Program) -> int:
    """Registers needed at once: all values of the preload and the largest loop's live values."""
    peak = 0
    for loop in program.loops:
        code = [i for section in loop.sections() for i in section]
        peak = max(peak, _peak(code, last_use(loop), loop))
    return len([i for i in program.preload if i.result is not None]) + peak
