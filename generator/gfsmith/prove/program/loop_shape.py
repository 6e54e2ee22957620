"""Conditions of the program proof on a Program's loops, independent of values: their bytes, the shape of an
iteration, and the use of the prefetch pointers in src[]."""

from __future__ import annotations

from gfsmith.ir import Instr, Loop, Program, Role, Space
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.verdict import Refutation


def check_lengths(spec: KernelSpec, program: Program) -> None:
    """Check that the loops process every length: the iterations before the tail take vectors, the tail the
    rest. If every length is a number of vectors, there is no tail."""
    loops = [turn[0] for turn in program.iterations()]
    lanes = program.lanes
    before = loops[:-1]
    if spec.granule % lanes == 0:
        before = loops
    elif not loops or loops[-1].role is not Role.TAIL or loops[-1].step != lanes:
        raise Refutation("the last loop is not a tail of one vector")
    if any(loop.role is Role.TAIL for loop in before):
        raise Refutation("a tail is not the last loop")
    if any(loop.step <= 0 or loop.step % lanes for loop in loops):
        raise Refutation("a loop's step is not a whole number of vectors")
    if not before or before[-1].step != lanes or before[-1].aligned:
        raise Refutation("no loop over single vectors precedes the tail")


def check_joined(loops: tuple[Loop, ...], where: str) -> None:
    """Check that the loops of one iteration are alike, and that the first is not joined to a previous
    loop."""
    first = loops[0]
    kinds = {(loop.role, loop.step, loop.aligned, loop.rolled) for loop in loops}
    if first.joined or len(kinds) > 1:
        raise Refutation(f"{where}: a loop is joined to none, or to one of another kind")


def check_pointers(spec: KernelSpec, loops: tuple[Loop, ...], where: str) -> None:
    """Check that an iteration of a pipelined kernel's main loop uses one pointer for each of its lines and
    sources, in order, and that no other loop uses any."""
    main = spec.pipelined and loops[0].role is Role.BLOCK and loops[0].step == spec.block
    lines = spec.lines if main else 0
    if not loops[0].rolled:
        used = [number for loop in loops for section in loop.sections() for number in _pointers(section)]
        if used != list(range((spec.inputs or 1) * lines)):
            raise Refutation(f"{where}: prefetch pointers are not taken in turn, {lines} for each source")
        return
    taken = 0
    for loop in loops:
        each = len(_pointers(loop.body)) // loop.group if loop.group else 0
        counts = (0, loop.group * each, each if loop.rest else 0, 0)
        for section, count in zip(loop.sections(), counts, strict=True):
            if _pointers(section) != list(range(count)):
                raise Refutation(f"{where}: prefetch pointers are not taken in turn, {each} for each source")
        taken += each
    if taken != lines:
        raise Refutation(f"{where}: takes {taken} prefetch pointers for each source")


def _pointers(code: tuple[Instr, ...]) -> list[int]:
    """Return the numbers of the prefetch pointers that some code uses."""
    return [i.ref.index for i in code if i.ref is not None and i.ref.space is Space.AHEAD]
