"""A builder of straight-line SSA code."""

from __future__ import annotations

from itertools import count

from gfsmith.ir import Instr, Op, Ref, Space, Value


class Numbers:
    """Fresh Value numbers for one Program."""

    def __init__(self) -> None:
        self._next = count()

    def fresh(self) -> Value:
        return next(self._next)


class Builder:
    """Appends instructions to one section. Each is tagged with the unrolled copy that it belongs to."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self.code: list[Instr] = []
        self.copy = 0

    def emit(self, op: Op, *args: Value, ref: Ref | None = None, immediate: int = 0) -> Value:
        result = self._numbers.fresh()
        self.code.append(Instr(op, result, args, ref, immediate, self.copy))
        return result

    def store(self, value: Value, output: int, offset: int) -> None:
        ref = Ref(Space.DESTINATION, output, offset)
        self.code.append(Instr(Op.STORE, None, (value,), ref, 0, self.copy))

    def load(self, space: Space, index: int, offset: int) -> Value:
        return self.emit(Op.LOAD, ref=Ref(space, index, offset))

    def entry(self, op: Op, source: int, output: int, offset: int = 0) -> Value:
        return self.emit(op, ref=Ref(Space.COEFFICIENT, source, offset, output))

    def fresh(self) -> Value:
        return self._numbers.fresh()
