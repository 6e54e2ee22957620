"""The loop of a routine, and the vectors before it.

A loop folds `block` bytes at a time over that distance; then halves are folded until 16 bytes are left.
"""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.ir.folding import Act, Routine, Value
from gfsmith.lower.checksum.code import Code
from gfsmith.lower.checksum.reduction import reduced


def loop(
    code: Code,
    operation: str,
    set_: str,
    block: int,
    lead: int,
    before: list[Value],
    finish: Callable[[Code, list[Value]], Value] = reduced,
    constants: Value | None = None,
) -> Routine:
    """Return the routine whose head ends with the values `before`: a loop over blocks and the reduction.
    constants: those for the distance of a block, if the head has them."""
    head = code.at
    constants = constants or code.constants(block)
    body = code.section()
    pairs = zip(before, range(0, block, code.width), strict=True)
    after = [code.fold(value, constants, code.load("data", at)) for value, at in pairs]
    close = code.section()
    code.add(Act.RESULT, finish(code, before))
    parts = tuple(head), tuple(body), tuple(close)
    values = tuple(before), tuple(after)
    return Routine(operation, set_, code.reflected, block, *parts, *values, lead=lead)


def led(code: Code, count: int, start: Value) -> Value:
    """Return a vector with the first bytes, to which the register is added, behind zeros."""
    leading = code.add(Act.LEADING, text="message", offset=count)
    if code.reflected:
        return code.add(Act.BEHIND, code.add(Act.XOR, leading, start), offset=count)
    start = code.add(Act.REVERSE, start)
    value = code.add(Act.BEHIND, code.add(Act.XOR, leading, start), offset=count)
    return code.add(Act.REVERSE, value)


def behind(code: Code, count: int, start: Value) -> Value:
    """Return the line behind the first bytes, to which the rest of a longer register is added."""
    if not code.reflected:
        start = code.add(Act.REVERSE, start)
    rest = code.add(Act.AHEAD, start, offset=count)
    line = code.add(Act.XOR, code.add(Act.LOAD, text="message", offset=count), rest)
    return line if code.reflected else code.add(Act.REVERSE, line)
