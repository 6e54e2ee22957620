"""Lowering of a KernelSpec to a Program: the loops over bytes and sources. Each technique has its own module.

A kernel has up to three loops: the main loop over `unroll` vectors, a loop over single vectors, and the tail.
With Walk.ROWS an iteration of the main loop is several loops, one for each line or part of a line
(KernelSpec.visits). With a fixed number of inputs, the main loop and the single-vector loop are unrolled over
the sources. The tail, all loops of a kernel for any k, and the kernels that _keeps_rolled names are rolled
over the sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gfsmith.ir import CURRENT, Carry, Instr, Loop, Op, Program, Role, Space, Value
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.spec import KernelSpec, Operation, Technique
from gfsmith.lower.affine import Affine
from gfsmith.lower.bitplane import Bitplane
from gfsmith.lower.builder import Builder, Numbers
from gfsmith.lower.horner import Horner
from gfsmith.lower.multiply import Multiply
from gfsmith.lower.nibble import Nibble
from gfsmith.lower.permxor import Permxor
from gfsmith.lower.plain import Plain

_TECHNIQUES: dict[Technique, Multiply] = {
    Technique.NIBBLE: Nibble(),
    Technique.PERMXOR: Permxor(),
    Technique.AFFINE: Affine(Op.AFFINE),
    Technique.MULB: Affine(Op.MULB),
    Technique.BITPLANE: Bitplane(),
    Technique.PLAIN: Plain(),
}


class _Lowering:
    """The state of the lowering of one spec."""

    def __init__(self, spec: KernelSpec) -> None:
        self.spec = spec
        self.numbers = Numbers()
        preload = Builder(self.numbers)
        self.horner = Horner(spec, preload) if spec.operation is Operation.HORNER else None
        self.multiply = _TECHNIQUES.get(spec.technique, _TECHNIQUES[Technique.PLAIN])
        self.constants = () if self.horner else self.multiply.constants(preload)
        self.preload = tuple(preload.code)

    def program(self) -> Program:
        spec = self.spec
        lanes = spec.isa.vector_bytes
        any_number = spec.inputs is None and not spec.diagonal
        many = any_number or (spec.inputs or 1) > 1
        rolled = any_number or (many and _keeps_rolled(spec))
        parts = [self._loop(Role.BLOCK, spec.block, part, rolled, spec.group) for part in spec.visits()]
        loops = [parts[0], *(replace(part, joined=True) for part in parts[1:])]
        if spec.unroll > 1:
            loops.append(self._loop(Role.BLOCK, lanes, (0,), rolled))
        loops.append(self._loop(Role.TAIL, lanes, (0,), many))
        return Program(lanes, self.preload, tuple(loops), self.horner.constants if self.horner else b"")

    def _loop(self, role: Role, step: int, vectors: Sequence[int], rolled: bool, group: int = 1) -> Loop:
        """Return a loop whose iteration visits these vectors of its step, in this order."""
        offsets = [vector * self.spec.isa.vector_bytes for vector in vectors]
        if rolled:
            return self._rolled(role, step, offsets, group)
        return self._unrolled(role, step, offsets)

    def _initial(self, b: Builder, output: int, offset: int) -> Value:
        if self.spec.operation is Operation.MAD:
            return b.load(Space.DESTINATION, output, offset)
        return b.emit(Op.ZERO)

    def _add_sources(
        self, b: Builder, sources: Sequence[int], offset: int, totals: list[Value | None]
    ) -> None:
        """Add c[i][source] * src[source] to totals[i] for every output i and every source, interleaved. With
        Horner's rule the totals are multiplied as well."""
        loaded = [b.load(Space.SOURCE, source, offset) for source in sources]
        if self.horner is not None:
            self.horner.take(b, loaded, totals)
            return
        parts = [self.multiply.split(b, x, self.constants) for x in loaded]
        for output in range(self.spec.outputs):
            for source, part in zip(sources, parts, strict=True):
                for term in self.multiply.terms(b, part, source, output):
                    total = totals[output]
                    totals[output] = term if total is None else b.emit(Op.XOR, total, term)

    def _unrolled(self, role: Role, step: int, offsets: Sequence[int]) -> Loop:
        b = Builder(self.numbers)
        accumulate = self.spec.operation is Operation.MAD
        for copy, offset in enumerate(offsets):
            b.copy = copy
            totals: list[Value | None] = [
                self._initial(b, output, offset) if accumulate else None
                for output in range(self.spec.outputs)
            ]
            for source in range(self.spec.inputs or 1):
                self._add_sources(b, (source,), offset, totals)
            for output, total in enumerate(totals):
                assert total is not None
                b.store(total, output, offset)
        return Loop(role, step, head=tuple(b.code))

    def _rolled(self, role: Role, step: int, offsets: Sequence[int], group: int) -> Loop:
        head, body, rest, close = (Builder(self.numbers) for _ in range(4))
        carries: list[Carry] = []
        for copy, offset in enumerate(offsets):
            head.copy = body.copy = rest.copy = close.copy = copy
            initial = [self._initial(head, i, offset) for i in range(self.spec.outputs)]
            phis = [body.fresh() for _ in initial]
            updated = self._updated(body, group, offset, phis)
            after = self._updated(rest, 1, offset, phis) if group > 1 else [None] * len(phis)
            carries += map(Carry, phis, initial, updated, after)
            for output, phi in enumerate(phis):
                close.store(phi, output, offset)
        sections: list[tuple[Instr, ...]] = [tuple(s.code) for s in (head, body, rest, close)]
        return Loop(
            role,
            step,
            head=sections[0],
            body=sections[1],
            carries=tuple(carries),
            close=sections[3],
            group=group,
            rest=sections[2],
        )

    def _updated(self, b: Builder, group: int, offset: int, phis: list[Value]) -> list[Value]:
        """Return the sums after the next `group` sources."""
        totals: list[Value | None] = list(phis)
        self._add_sources(b, [CURRENT - n for n in range(group)], offset, totals)
        return [total for total in totals if total is not None]


def _keeps_rolled(spec: KernelSpec) -> bool:
    """Return whether a kernel with a fixed number of sources keeps its loop over them rolled.

    It does in portable C, where the compiler decides about unrolling, and with vpermxor if the tables do not
    fit into registers. POWER's vector loads have no displacement before POWER9, so every other table needs a
    register for its address, which is soon spilled.
    """
    if spec.isa.arch is Arch.PORTABLE:
        return True
    if spec.technique is not Technique.PERMXOR or spec.isa.registers is None:
        return False
    tables = 2 * (spec.inputs or 1) * spec.outputs
    return tables + spec.unroll * spec.outputs >= spec.isa.registers


def lower(spec: KernelSpec) -> Program:
    """Return the Program that computes the kernel of `spec`, before any pass."""
    return _Lowering(spec).program()
