"""Lowering of a KernelSpec to a Program: the loops over bytes and sources. Each technique has its own module.

A kernel has up to four loops: the main loop over `unroll` vectors, a loop over two vectors
(KernelSpec.pair_loop), a loop over single vectors, and the tail.
With Walk.ROWS an iteration of the main loop is several loops, one for each line or part of a line
(KernelSpec.visits). With a fixed number of inputs, the main loop and the single-vector loop are unrolled over
the sources. The tail, all loops of a kernel for any k, and the kernels that _keeps_rolled names are rolled
over the sources. Butterflies are never rolled.

If there are not enough registers for the sums of all outputs, each of these loops becomes several loops over
the same bytes, one for each pass. A pass computes some of the outputs and reads all sources. If a destination
may be a source, all passes but the last put their sums into the frame, and the last stores them. If registers
or frame do not suffice for the vectors of an iteration either, its loops take fewer vectors each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from gfsmith.ir import CURRENT, Carry, Instr, Loop, Op, Program, Ref, Role, Space, Value
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.spec import KernelSpec, Operation, Technique
from gfsmith.lower.affine import Affine
from gfsmith.lower.bitplane import Bitplane
from gfsmith.lower.builder import Builder, Numbers
from gfsmith.lower.butterfly import Butterfly
from gfsmith.lower.horner import Horner
from gfsmith.lower.multiply import Multiply
from gfsmith.lower.nibble import Nibble
from gfsmith.lower.permxor import Permxor
from gfsmith.lower.plain import Plain

_TECHNIQUES: dict[Technique, Multiply] = {
    Technique.NIBBLE: Nibble(),
    Technique.ISAL_NIBBLE: Nibble(),
    Technique.PERMXOR: Permxor(),
    Technique.AFFINE: Affine(Op.AFFINE),
    Technique.ISAL: Affine(Op.AFFINE),
    Technique.MULB: Affine(Op.MULB),
    Technique.BITPLANE: Bitplane(),
    Technique.PLAIN: Plain(),
}


#: Most products in one iteration of a loop that is unrolled over the sources. A kernel with 900 of them
#: (30x30) has 14,906 bytes of machine code for gfni_avx512, and 43,529 for sse.
MOST_UNROLLED = 1024


class _Lowering:
    """The state of the lowering of one spec."""

    def __init__(self, spec: KernelSpec, passes: int, abreast: int) -> None:
        self.spec = spec
        self._passes = _parts(spec.outputs, passes)
        self._visits = spec.visits(abreast)
        self._pair_loop = spec.pair_loop and abreast > 1
        self.numbers = Numbers()
        preload = Builder(self.numbers)
        self.horner = Horner(spec, preload) if spec.operation is Operation.HORNER else None
        self.multiply = _TECHNIQUES.get(spec.technique, _TECHNIQUES[Technique.PLAIN])
        self.constants = () if self.horner else self.multiply.constants(preload)
        self.preload = tuple(preload.code)
        self.butterfly = Butterfly(spec, self.multiply, self.constants) if spec.butterfly else None

    def program(self) -> Program:
        spec = self.spec
        lanes = spec.isa.vector_bytes
        any_number = spec.inputs is None and not spec.diagonal
        many = any_number or ((spec.inputs or 1) > 1 and not spec.butterfly)
        rolled = any_number or (many and _keeps_rolled(spec))
        loops = self._iteration(Role.BLOCK, spec.block, self._visits, rolled, spec.group)
        if self._pair_loop:
            loops += self._iteration(Role.BLOCK, 2 * lanes, ((0, 1),), rolled, spec.group)
        if spec.unroll > 1:
            loops += self._iteration(Role.BLOCK, lanes, ((0,),), rolled, spec.group)
        if spec.granule < lanes:
            loops += self._iteration(Role.TAIL, lanes, ((0,),), many)
        return Program(lanes, self.preload, tuple(loops), self.horner.constants if self.horner else b"")

    def _iteration(
        self, role: Role, step: int, visits: Sequence[Sequence[int]], rolled: bool, group: int = 1
    ) -> list[Loop]:
        """Return the loops of one iteration: for each visit, which is a list of vectors of the step, one loop
        for each pass."""
        loops: list[Loop] = []
        for vectors in visits:
            offsets = [vector * self.spec.isa.vector_bytes for vector in vectors]
            slots: list[Ref] = []
            for outputs in self._passes:
                loop = (
                    self._rolled(role, step, offsets, outputs, group)
                    if rolled
                    else self._unrolled(role, step, offsets, outputs)
                )
                if self.spec.in_place and self.butterfly is None:
                    loop = self._late(loop, slots, last=outputs is self._passes[-1])
                loops.append(replace(loop, joined=bool(loops)))
        return loops

    def _late(self, loop: Loop, kept: list[Ref], last: bool) -> Loop:
        """Return the loop of a pass with its stores after the loads of all passes: it spills the results
        instead, and the last pass also stores those of the passes before it. kept: their destinations, in the
        order of the slots."""
        if last:
            close = Builder(self.numbers)
            for slot, ref in enumerate(kept):
                close.store(close.emit(Op.RELOAD, ref=Ref(Space.SCRATCH, slot, 0)), ref.index, ref.offset)
            return replace(loop, close=(*loop.close, *close.code))
        return replace(loop, head=_spilling(loop.head, kept), close=_spilling(loop.close, kept))

    def _initial(self, b: Builder, output: int, offset: int) -> Value:
        if self.spec.operation is Operation.MAD:
            return b.load(Space.DESTINATION, output, offset)
        return b.emit(Op.ZERO)

    def _add_sources(
        self, b: Builder, sources: Sequence[int], offset: int, outputs: range, totals: list[Value | None]
    ) -> None:
        """Add c[i][source] * src[source] to the total of each output i, for every source, interleaved. With
        Horner's rule the totals are multiplied as well."""
        loaded = [b.load(Space.SOURCE, source, offset) for source in sources]
        if self.horner is not None:
            self.horner.take(b, loaded, totals)
            return
        parts = [self.multiply.split(b, x, self.constants) for x in loaded]
        for place, output in enumerate(outputs):
            for source, part in zip(sources, parts, strict=True):
                for term in self.multiply.terms(b, part, source, output):
                    total = totals[place]
                    totals[place] = term if total is None else b.emit(Op.XOR, total, term)

    def _unrolled(self, role: Role, step: int, offsets: Sequence[int], outputs: range) -> Loop:
        b = Builder(self.numbers)
        accumulate = self.spec.operation is Operation.MAD
        for copy, offset in enumerate(offsets):
            b.copy = copy
            if self.butterfly is not None:
                self.butterfly.take(b, offset)
                continue
            totals: list[Value | None] = [
                self._initial(b, output, offset) if accumulate else None for output in outputs
            ]
            for source in range(self.spec.inputs or 1):
                self._add_sources(b, (source,), offset, outputs, totals)
            for output, total in zip(outputs, totals, strict=True):
                assert total is not None
                b.store(total, output, offset)
        return Loop(role, step, head=tuple(b.code))

    def _rolled(self, role: Role, step: int, offsets: Sequence[int], outputs: range, group: int) -> Loop:
        head, body, rest, close = (Builder(self.numbers) for _ in range(4))
        carries: list[Carry] = []
        for copy, offset in enumerate(offsets):
            head.copy = body.copy = rest.copy = close.copy = copy
            initial = [self._initial(head, i, offset) for i in outputs]
            phis = [body.fresh() for _ in initial]
            updated = self._updated(body, group, offset, outputs, phis)
            after = self._updated(rest, 1, offset, outputs, phis) if group > 1 else [None] * len(phis)
            carries += map(Carry, phis, initial, updated, after)
            for output, phi in zip(outputs, phis, strict=True):
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

    def _updated(self, b: Builder, group: int, offset: int, outputs: range, phis: list[Value]) -> list[Value]:
        """Return the sums after the next `group` sources."""
        totals: list[Value | None] = list(phis)
        self._add_sources(b, [CURRENT - n for n in range(group)], offset, outputs, totals)
        return [total for total in totals if total is not None]


def _spilling(code: tuple[Instr, ...], kept: list[Ref]) -> tuple[Instr, ...]:
    """Return the code with each store replaced by one to the next slot; append its destination to `kept`."""
    found: list[Instr] = []
    for instr in code:
        if instr.op is Op.STORE and instr.ref is not None:
            slot = Ref(Space.SCRATCH, len(kept), 0)
            kept.append(instr.ref)
            instr = replace(instr, op=Op.SPILL, ref=slot)
        found.append(instr)
    return tuple(found)


def _parts(outputs: int, passes: int) -> list[range]:
    """Return the outputs of each pass; their numbers differ by at most one."""
    bounds = [outputs * n // passes for n in range(passes + 1)]
    return [range(first, last) for first, last in pairwise(bounds)]


def _keeps_rolled(spec: KernelSpec) -> bool:
    """Return whether a kernel with a fixed number of sources keeps its loop over them rolled.

    It does above MOST_UNROLLED products, in portable C, where the compiler decides about unrolling, and with
    vpermxor if the tables do not fit into registers. POWER's vector loads have no displacement before POWER9,
    so every other table needs a register for its address, which is soon spilled.
    """
    if spec.isa.arch is Arch.PORTABLE or (spec.inputs or 1) * spec.outputs * spec.unroll > MOST_UNROLLED:
        return True
    if spec.technique is not Technique.PERMXOR or spec.isa.registers is None:
        return False
    tables = 2 * (spec.inputs or 1) * spec.outputs
    return tables + spec.unroll * spec.outputs >= spec.isa.registers


def lower(spec: KernelSpec, passes: int = 1, abreast: int | None = None) -> Program:
    """Return the Program that computes the kernel of `spec` in `passes` passes over the outputs, before the
    pipeline. abreast: vectors in one loop over the sources; default: the most."""
    return _Lowering(spec, passes, abreast or spec.abreast).program()
