"""Live ranges of vector values, and the number of registers that a Program needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gfsmith.ir import Instr, Loop, Op, Program, Value

#: The operations from a carried value to its successor; Horner's rule multiplies it first.
_UPDATING = frozenset({Op.XOR, Op.XOR3, Op.AFFINE})


def uses(program: Program) -> Counter[Value]:
    """Return how often each value is read, by instructions and by the carries of rolled loops."""
    counts: Counter[Value] = Counter()
    for instr in program.instructions():
        counts.update(instr.args)
    for loop in program.loops:
        for carry in loop.carries:
            counts.update(carry.names()[1:])
    return counts


def last_use(loop: Loop) -> dict[Value, int]:
    """Return the position of the last read of each value, counted over head, body, rest, close in this order.

    A value of the head that body or rest reads is needed in every iteration, so it lives to the end of that
    section. A carried value lives from its definition in the head to its last read in close.
    """
    last: dict[Value, int] = {}
    head_values = {i.result for i in loop.head}
    position = 0
    for section in loop.sections():
        end = position + len(section) - 1
        inner = section is loop.body or section is loop.rest
        for instr in section:
            for value in instr.args:
                keep = inner and value in head_values
                last[value] = max(last.get(value, -1), end if keep else position)
            position += 1
    inner_end = len(loop.head) + len(loop.body) + len(loop.rest) - 1
    for carry in loop.carries:
        for value in carry.names():
            last[value] = max(last.get(value, -1), inner_end)
    return last


def variables(loop: Loop) -> dict[Value, Value]:
    """Return a map from every name of a carried value to its phi, and from the partial sums on the way from
    the phi to its successors: one register holds them all."""
    names = {name: carry.phi for carry in loop.carries for name in carry.names()}
    for section in (loop.body, loop.rest):
        names |= _partial_sums(section, names)
    return names


def _partial_sums(section: Iterable[Instr], names: dict[Value, Value]) -> dict[Value, Value]:
    """Return a map to the phi from the sums and products of a section that begin with a phi and end with its
    successor, if every one of them is read once, by the next: the phi is then read no more when the first is
    computed."""
    read = Counter(value for instr in section for value in instr.args)
    begun: dict[Value, Value] = {phi: phi for phi in names.values()}
    before: dict[Value, Value] = {}
    for instr in section:
        sources = [a for a in instr.args if a in begun and read[a] == 1]
        if instr.op in _UPDATING and instr.result is not None and sources:
            before[instr.result], begun[instr.result] = sources[0], begun[sources[0]]
    found: dict[Value, Value] = {}
    for value, phi in names.items():
        if begun.get(value) == phi:
            while (value := before.get(value, phi)) != phi:
                found[value] = phi
    return found


def _peak(code: Iterable[Instr], last: dict[Value, int], loop: Loop) -> int:
    """Return the largest number of simultaneously live values of a loop, without those of the preload.

    A carried value occupies one register under its names, from the initial value on.
    """
    name = variables(loop)
    ends: dict[Value, int] = {}
    for value, position in last.items():
        ends[name.get(value, value)] = max(ends.get(name.get(value, value), -1), position)
    ending: dict[int, list[Value]] = {}
    for value, position in ends.items():
        ending.setdefault(position, []).append(value)
    live: set[Value] = set()
    peak = 0
    for position, instr in enumerate(code):
        if instr.result is not None:
            for arg in instr.args:
                value = name.get(arg, arg)
                if ends[value] == position:  # the result may take its register
                    live.discard(value)
            result = name.get(instr.result, instr.result)
            live.add(result)
            peak = max(peak, len(live))
            if ends.get(result, -1) <= position:
                live.discard(result)
        live.difference_update(ending.get(position, ()))
    return peak


def pressure(program: Program) -> int:
    """Return the registers that a Program needs: all values of the preload and the live values of the largest
    loop."""
    peak = 0
    for loop in program.loops:
        code = [i for section in loop.sections() for i in section]
        peak = max(peak, _peak(code, last_use(loop), loop))
    return len([i for i in program.preload if i.result is not None]) + peak
