"""Program proof: a Program computes its spec for all data, all coefficients and all lengths.

Each Program is executed over one symbolic lane. A value is (lane, one byte of polynomials). Memory is
addressed relative to the loop's position, so a proof for one iteration holds for every iteration. The proof
shows:

- the loops of an iteration store to dst exactly the value that the spec defines, once at every offset
  of their step;
- they read and write inside their step only, and never read a byte that an in-place store may have changed;
- a loop rolled over the sources is right by induction: it starts from the right initial value, and its
  body adds exactly the product of the current source, for any source;
- the loops together process every length: block loops, then a tail for the bytes that do not fill a vector;
- a pipelined kernel uses the pointers after those of the sources for prefetches only.

This package never imports lower, passes or emit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gfsmith.ir import (
    CURRENT,
    MEANING,
    STORES,
    Instr,
    Kind,
    Lane,
    Loop,
    Op,
    Program,
    Ref,
    Space,
    Undefined,
    Value,
)
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.polynomial import Polynomial, constant_byte, variable_byte
from gfsmith.prove.program import loop_shape, model, witness
from gfsmith.prove.program.model import Byte, Data
from gfsmith.prove.verdict import PROVED, Refutation, Status, Verdict

_FIXED = frozenset({Space.COEFFICIENT, Space.CONSTANT})
_LOADED_BYTES = {Op.TABLE: 16, Op.MATRIX: 8, Op.AFFINE: 8, Op.COLUMN: 1}


@dataclass
class _Iteration:
    """One iteration of a loop: its environment, the bytes that it stored and, inside a loop over the sources,
    the number of available sources. kept: the destination of the sum in each slot."""

    values: dict[Value, Lane]
    sources: int = 0
    stored: dict[tuple[int, int], Byte] = field(default_factory=dict)
    slots: dict[int, Lane] = field(default_factory=dict)
    kept: dict[int, Ref] = field(default_factory=dict)


class _Prover:
    def __init__(self, spec: KernelSpec, program: Program) -> None:
        self.spec = spec
        self.program = program
        self.lanes = program.lanes

    def run(self) -> None:
        preload = _Iteration({})
        for instr in self.program.preload:
            if instr.op in STORES or (instr.ref and instr.ref.space not in _FIXED):
                raise Refutation(f"preload has {instr.op.name}, which depends on the position")
            self._execute(instr, preload, self.lanes)
        loop_shape.check_lengths(self.spec, self.program)
        for number, loops in enumerate(self.program.iterations()):
            where = f"loop {number} ({loops[0].role.name.lower()} of {loops[0].step})"
            self._loops(loops, preload.values, where)

    def _loops(self, loops: tuple[Loop, ...], preloaded: dict[Value, Lane], where: str) -> None:
        """Execute the loops of one iteration, which share the records of stored bytes and of slots."""
        loop_shape.check_joined(loops, where)
        loop_shape.check_pointers(self.spec, loops, where)
        stored: dict[tuple[int, int], Byte] = {}
        slots: dict[int, Lane] = {}
        for loop, kept in zip(loops, _destinations(loops), strict=True):
            self._loop(loop, _Iteration(dict(preloaded), stored=stored, slots=slots, kept=kept), where)
        self._check_stores(loops[0], stored, where)

    def _loop(self, loop: Loop, iteration: _Iteration, where: str) -> None:
        self._section(loop.head, iteration, loop)
        if loop.rolled:
            self._induction(loop, iteration, where)
        elif self.spec.inputs is None and not self.spec.diagonal:
            raise Refutation(f"{where}: not rolled, but the number of sources is not fixed")
        self._section(loop.close, iteration, loop)

    def _section(self, code: tuple[Instr, ...], iteration: _Iteration, loop: Loop) -> None:
        for instr in code:
            self._execute(instr, iteration, loop.step)

    def _execute(self, instr: Instr, iteration: _Iteration, step: int) -> None:
        if instr.op is Op.PREFETCH:
            return
        if instr.op not in self.spec.isa.ops:
            raise Refutation(f"{instr.op.name} does not exist on {self.spec.isa.name}")
        args: list[Lane] = [self._value(iteration, a) for a in instr.args]
        if instr.ref is not None and instr.op not in STORES | {Op.SPILL}:
            args.append(self._load(instr, instr.ref, iteration, step))
        if instr.op in STORES:
            self._check_operands(instr, args)
            self._store(instr, args[0], iteration, step)
            return
        if instr.op is Op.SPILL:
            self._check_operands(instr, args[:1])
            iteration.slots[self._slot(instr.ref)] = args[0]
            return
        if instr.result is None or instr.result in iteration.values:
            raise Refutation(f"{instr.op.name} does not define one new value")
        iteration.values[instr.result] = self._evaluate(instr, args)

    def _evaluate(self, instr: Instr, args: list[Lane]) -> Lane:
        if instr.op in (Op.ZERO, Op.CONST):
            return constant_byte(instr.immediate if instr.op is Op.CONST else 0)
        meaning = MEANING[instr.op]
        if meaning.lane is None:
            return args[0]
        self._check_operands(instr, args)
        if instr.op is Op.AFFINE and not all(bit.linear for bit in args[0]):
            return model.image(tuple(reversed(args[1])), args[0])
        if instr.op is Op.BIT:
            return meaning.lane(args[0], instr.immediate)
        return meaning.lane(*args)

    @staticmethod
    def _check_operands(instr: Instr, args: list[Lane]) -> None:
        wanted = MEANING[instr.op].operands
        if tuple(map(_kind, args)) != wanted:
            names = ", ".join(kind.name.lower() for kind in wanted)
            raise Refutation(f"{instr.op.name} takes other operands: {names}")

    @staticmethod
    def _value(iteration: _Iteration, value: Value) -> Lane:
        if value not in iteration.values:
            raise Refutation(f"value {value} is read before it is defined")
        return iteration.values[value]

    def _load(self, instr: Instr, ref: Ref, iteration: _Iteration, step: int) -> Lane:
        if instr.op is Op.RELOAD or ref.space is Space.SCRATCH:
            return self._reload(ref, iteration)
        reads_table = instr.op in _LOADED_BYTES
        if reads_table != (ref.space in _FIXED) or ref.space is Space.AHEAD:
            raise Refutation(f"{instr.op.name} cannot read {witness.name(ref)}")
        if ref.space is Space.CONSTANT:
            return self._load_constant(instr, ref)
        if reads_table:
            return self._load_entry(instr, ref, iteration)
        self._check_inside(ref, step)
        if ref.space is Space.SOURCE:
            self._check_source(ref, iteration, self.spec.inputs)
        may_change = self.spec.in_place or ref.space is Space.DESTINATION
        if may_change and any(abs(offset - ref.offset) < self.lanes for _, offset in iteration.stored):
            raise Refutation(f"{witness.name(ref)} is read after it may have been written in place")
        space = "src" if ref.space is Space.SOURCE else "dst"
        return model.data_byte(Data(space, ref.index, ref.offset))

    @staticmethod
    def _slot(ref: Ref | None) -> int:
        if ref is None or ref.space is not Space.SCRATCH or ref.index < 0 or ref.offset:
            raise Refutation("a spill that is not to a slot of the frame")
        return ref.index

    def _reload(self, ref: Ref, iteration: _Iteration) -> Lane:
        """Return a value that this iteration spilled; a value that another iteration left in the frame is
        refused."""
        slot = self._slot(ref)
        if slot not in iteration.slots:
            raise Refutation(f"{witness.name(ref)} is read before this iteration writes to it")
        return iteration.slots[slot]

    def _load_constant(self, instr: Instr, ref: Ref) -> Lane:
        count = _LOADED_BYTES[instr.op]
        loaded = self.program.constants[ref.offset : ref.offset + count] if ref.offset >= 0 else b""
        if len(loaded) != count:
            raise Refutation(f"{witness.name(ref)} is outside the constants")
        lanes = tuple(constant_byte(byte) for byte in loaded)
        return lanes[0] if instr.op is Op.COLUMN else lanes

    def _load_entry(self, instr: Instr, ref: Ref, iteration: _Iteration) -> Lane:
        spec = self.spec
        count = _LOADED_BYTES[instr.op]
        last = spec.tables.entry_bytes - count
        if not 0 <= ref.offset <= last or not 0 <= ref.output < spec.table_outputs:
            raise Refutation(f"{witness.name(ref)} is outside the entry of output {ref.output}")
        if spec.table_inputs is not None and ref.index >= spec.table_inputs:
            raise Refutation(f"{witness.name(ref)} is outside the table")
        self._check_source(ref, iteration, spec.table_inputs)
        entry = model.entry(spec.tables, ref.index, ref.output)
        loaded = entry[ref.offset : ref.offset + count]
        return loaded[0] if instr.op is Op.COLUMN else loaded

    def _check_inside(self, ref: Ref, step: int) -> None:
        if not 0 <= ref.offset <= step - self.lanes:
            raise Refutation(f"{witness.name(ref)}: outside the loop's step of {step} bytes")
        if ref.space is Space.DESTINATION and not 0 <= ref.index < self.spec.outputs:
            raise Refutation(f"{witness.name(ref)}: there are {self.spec.outputs} outputs")

    def _check_source(self, ref: Ref, iteration: _Iteration, inputs: int | None) -> None:
        if not CURRENT - iteration.sources < ref.index < (inputs or 1):
            raise Refutation(
                f"{witness.name(ref)}: of {inputs or 'k'} inputs {iteration.sources} are available here"
            )

    def _store(self, instr: Instr, value: Lane, iteration: _Iteration, step: int) -> None:
        ref = instr.ref
        if ref is None or ref.space is not Space.DESTINATION:
            raise Refutation("a store that is not to a destination")
        self._check_inside(ref, step)
        key = (ref.index, ref.offset)
        if key in iteration.stored:
            raise Refutation(f"{witness.name(ref)} is stored twice")
        iteration.stored[key] = value

    def _induction(self, loop: Loop, iteration: _Iteration, where: str) -> None:
        """Check that body and rest, run on unknown sums, add their sources to each sum as model.advance
        defines.

        The body takes `group` sources while so many remain, then the rest takes single sources. By induction
        over the iterations, all k are taken once.
        """
        if loop.group < 1 or (loop.group > 1) != bool(loop.rest):
            raise Refutation(
                f"{where}: {loop.group} sources per iteration, and a rest of {len(loop.rest)} operations"
            )
        sums = self._sums(loop, iteration.kept, where)
        for carry in loop.carries:
            output, offset = sums[carry.phi]
            start = self._value(iteration, carry.initial)
            self._compare(start, model.initial(self.spec, output, offset), output, offset, where)
        before: dict[Value, Byte] = {phi: variable_byte(("sum", phi)) for phi in sums}
        for code, count in ((loop.body, loop.group), (loop.rest, 1)) if loop.rest else ((loop.body, 1),):
            inner = _Iteration({**iteration.values, **before}, sources=count)
            self._section(code, inner, loop)
            if inner.stored or inner.slots:
                raise Refutation(f"{where}: stores inside the loop over the sources")
            for carry in loop.carries:
                after = carry.updated if code is loop.body else carry.rest
                if after is None:
                    raise Refutation(f"{where}: a sum that the rest does not carry on")
                output, offset = sums[carry.phi]
                want = before[carry.phi]
                for n in range(count):
                    want = model.advance(self.spec, want, CURRENT - n, output, offset)
                self._compare(self._value(inner, after), want, output, offset, where)
        for phi, (output, offset) in sums.items():
            iteration.values[phi] = variable_byte(("total", output, offset))

    def _sums(self, loop: Loop, kept: dict[int, Ref], where: str) -> dict[Value, tuple[int, int]]:
        """Return the output and offset of each carried sum: the place where close stores it, or from which
        slot a later loop stores it. The place is the claim that the induction checks."""
        sums: dict[Value, tuple[int, int]] = {}
        phis = {c.phi for c in loop.carries}
        for instr in loop.close:
            ref = instr.ref
            if instr.op is Op.SPILL and ref is not None:
                ref = kept.get(ref.index)
            if instr.op in STORES | {Op.SPILL} and ref is not None and instr.args[0] in phis:
                sums[instr.args[0]] = (ref.index, ref.offset)
        if set(sums) != phis:
            raise Refutation(f"{where}: a sum over the sources is not stored")
        return sums

    def _check_stores(self, loop: Loop, stored: dict[tuple[int, int], Byte], where: str) -> None:
        """Check that dst holds the expected bytes at every vector of the step, and that nothing else is
        written."""
        sources = range(self.spec.inputs or 1)
        for output in range(self.spec.outputs):
            for offset in range(0, loop.step, self.lanes):
                got = stored.pop((output, offset), None)
                if got is None:
                    raise Refutation(f"{where}: dst[{output}] + {offset} is not written")
                if loop.rolled:
                    want = variable_byte(("total", output, offset))
                else:
                    want = model.expected(self.spec, sources, output, offset)
                self._compare(got, want, output, offset, where)
        if stored:
            output, offset = next(iter(stored))
            raise Refutation(f"{where}: dst[{output}] + {offset} is written but not expected")

    def _compare(self, got: Lane, want: Byte, output: int, offset: int, where: str) -> None:
        if _kind(got) is not Kind.BYTE:
            raise Refutation(f"{where}: dst[{output}] + {offset} is a table, not data")
        for bit, (g, w) in enumerate(zip(got, want, strict=True)):
            difference = g ^ w
            if difference:
                raise Refutation(
                    f"{where}: dst[{output}] + {offset} bit {bit} is wrong; counterexample: "
                    f"{witness.counterexample(difference)} gives {g.value(difference.witness())} "
                    f"instead of {w.value(difference.witness())}"
                )


def _destinations(loops: tuple[Loop, ...]) -> list[dict[int, Ref]]:
    """Return for each loop the destination of each slot that its close, or the next one, stores."""
    found: list[dict[int, Ref]] = []
    next_stored: dict[int, Ref] = {}
    for loop in reversed(loops):
        slots = {i.result: i.ref.index for i in loop.close if i.op is Op.RELOAD and i.ref is not None}
        stores = [i for i in loop.close if i.op in STORES and i.ref is not None and i.args[0] in slots]
        next_stored = next_stored | {slots[i.args[0]]: i.ref for i in stores if i.ref is not None}
        found.insert(0, next_stored)
    return found


def _kind(value: Lane) -> Kind:
    if isinstance(value[0], Polynomial):
        return Kind.BYTE
    return Kind.TABLE if len(value) == 16 else Kind.MATRIX


def prove(spec: KernelSpec, program: Program) -> Verdict:
    """Return whether `program` computes the result of `spec`; a refutation names output byte and inputs."""
    try:
        _Prover(spec, program).run()
    except Refutation as found:
        return Verdict(Status.REFUTED, f"{spec.symbol}: {found}")
    except Undefined as found:
        return Verdict(Status.REFUTED, f"{spec.symbol}: {found}")
    return PROVED
