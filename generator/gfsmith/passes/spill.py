"""Spilling: if there are more values than registers, the value with the farthest next use goes to the frame.

For straight-line code this rule moves the fewest values (L. A. Belady, "A study of replacement algorithms
for a virtual-storage computer", IBM Systems Journal 5, 1966). A shard's bytes and a constant are read again
from their memory, so only results are stored, each at most once.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from itertools import count

from gfsmith.ir import LOADS, Instr, Loop, Op, Program, Ref, Role, Space, Value
from gfsmith.ir.liveness import pressure
from gfsmith.kernel.spec import KernelSpec

_CLEAN = 1.5  #: factor on the distance of a value that needs no store: its eviction costs half
_NEVER = 1 << 30
_FOLDS = (Op.XOR, Op.XOR3)


class _Section:
    """The rewriting of one loop's straight-line code for `limit` registers."""

    def __init__(self, loop: Loop, limit: int, folds: bool, fresh: count[int]) -> None:
        self._code = code = loop.head
        self._limit, self._folds, self._fresh = limit, folds, fresh
        self._whole = loop.role is Role.BLOCK  #: a shard's vector may be read as a memory operand
        self._uses: dict[Value, list[int]] = {}
        for position, instr in enumerate(code):
            for value in instr.args:
                self._uses.setdefault(value, []).append(position)
        for positions in self._uses.values():
            positions.reverse()
        self._own = {i.result for i in code}
        self._held: dict[Value, Value] = {}  #: value -> its name in a register
        self._slots: dict[Value, int] = {}
        self._origin: dict[Value, Instr] = {}
        self._free: list[int] = []
        self._out: list[Instr] = []

    def run(self) -> tuple[Instr, ...]:
        for position, instr in enumerate(self._code):
            self._step(position, instr)
        return tuple(self._out)

    def _next_use(self, value: Value) -> int:
        uses = self._uses.get(value)
        return uses[-1] if uses else _NEVER

    def _step(self, position: int, instr: Instr) -> None:
        """Append one instruction with the loads and stores that it needs. A load waits for its first
        reader."""
        if instr.op in LOADS:
            assert instr.result is not None
            self._origin[instr.result] = instr
            return
        args = [a for a in dict.fromkeys(instr.args) if a in self._own]
        missing = [a for a in args if a not in self._held]
        for value in args:
            uses = self._uses[value]
            while uses and uses[-1] == position:
                uses.pop()
        folded = self._foldable(position, instr, missing)
        for value in missing:
            if value != folded:
                self._bring(position, value, args, instr.copy)
        rewritten = self._renamed(instr, folded)
        for value in args:
            if self._next_use(value) == _NEVER:
                self._held.pop(value, None)
        if instr.result is not None:
            self._make_room(position, [], instr.copy)
            self._held[instr.result] = instr.result
        self._out.append(rewritten)
        # Not earlier: the evictions are inserted before the instruction, which may read the slot.
        for value in args:
            if self._next_use(value) == _NEVER:
                self._free_slot(value)

    def _foldable(self, position: int, instr: Instr, missing: list[Value]) -> Value | None:
        """Return a missing operand that the instruction can read from memory because its next use is not
        near."""
        if not self._folds or instr.op not in _FOLDS or instr.ref is not None:
            return None
        for value in reversed(missing):
            far = instr.args.count(value) == 1 and self._next_use(value) - position > self._limit
            if far and (self._whole or value not in self._origin):
                return value
        return None

    def _place(self, value: Value) -> Ref:
        """Return the memory of a value that is in no register."""
        if value in self._origin:
            ref = self._origin[value].ref
            assert ref is not None
            return ref
        return Ref(Space.SCRATCH, self._slots[value], 0)

    def _bring(self, position: int, value: Value, keep: list[Value], copy: int) -> None:
        self._make_room(position, keep, copy)
        name = next(self._fresh)
        op = self._origin[value].op if value in self._origin else Op.RELOAD
        self._out.append(Instr(op, name, (), self._place(value), 0, copy))
        self._held[value] = name

    def _make_room(self, position: int, keep: list[Value], copy: int) -> None:
        while len(self._held) >= self._limit:
            self._evict(position, keep, copy)

    def _evict(self, position: int, keep: list[Value], copy: int) -> None:
        def distance(value: Value) -> float:
            clean = value in self._origin or value in self._slots
            return (self._next_use(value) - position) * (_CLEAN if clean else 1)

        value = max((v for v in self._held if v not in keep), key=distance)
        if value not in self._origin and value not in self._slots:
            self._slots[value] = heapq.heappop(self._free) if self._free else len(self._slots)
            ref = Ref(Space.SCRATCH, self._slots[value], 0)
            self._out.append(Instr(Op.SPILL, None, (self._held[value],), ref, 0, copy))
        del self._held[value]

    def _renamed(self, instr: Instr, folded: Value | None) -> Instr:
        kept = tuple(self._held.get(a, a) for a in instr.args if a != folded)
        if folded is None:
            return replace(instr, args=kept)
        return replace(instr, args=kept, ref=self._place(folded))

    def _free_slot(self, value: Value) -> None:
        """Free the slot, if there is one, of a value without further uses."""
        if value in self._slots:
            heapq.heappush(self._free, self._slots.pop(value))


def spill(program: Program, spec: KernelSpec) -> Program:
    """Return the Program with as many values in registers as there are registers, and the others in the
    frame.

    The pass applies only to machine code, since a C compiler spills by itself, and only to straight-line
    code: a kernel with run-time coefficients takes several passes over the outputs instead.
    """
    registers = spec.isa.registers
    if not spec.machine_code or spec.baked is None or registers is None or pressure(program) <= registers:
        return program
    limit = registers - len(program.preload) - (1 if spec.isa.destructive else 0)
    fresh = count(1 + max(v for i in program.instructions() for v in (*i.args, i.result or 0)))
    loops = tuple(_spilled(loop, limit, spec.isa.folds_loads, fresh) for loop in program.loops)
    return replace(program, loops=loops)


def _spilled(loop: Loop, limit: int, folds: bool, fresh: count[int]) -> Loop:
    assert not loop.rolled
    return replace(loop, head=_Section(loop, limit, folds, fresh).run())
