"""Specs for tests, and an interpreter that runs a Program on real bytes."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.codes import parity_matrix
from gfsmith.field import Field
from gfsmith.ir import CURRENT, MEANING, STORES, Instr, Loop, Op, Program, Role, Space
from gfsmith.kernel.defaults import default_unroll
from gfsmith.kernel.isa import BY_NAME, ISAS, Encoding, Isa
from gfsmith.kernel.spec import (
    Baked,
    KernelSpec,
    Operation,
    Store,
    TableFormat,
    Technique,
    Walk,
    default_technique,
    with_width,
)
from gfsmith.kernel.tuning_parameters import LINE
from gfsmith.lower import lower
from gfsmith.passes.pipeline import run as run_passes

#: Instruction sets with vector widths other than their own.
NARROW = [with_width(isa, bits) for isa in ISAS for bits in isa.widths if bits != isa.width]
#: Every x86 instruction set, in every width.
X86 = [isa for isa in ISAS if isa.encoding is not Encoding.C] + NARROW


def label(isa: Isa) -> str:
    """Return the name of an instruction set in test ids."""
    return isa.name + (f"_v{isa.width}" if isa in NARROW else "")


def make_spec(
    operation: str,
    inputs: int | None,
    outputs: int,
    isa: str | Isa,
    *,
    technique: Technique | None = None,
    unroll: int | None = None,
    polynomial: int = 0x11D,
    store: Store = Store.TEMPORAL,
    prefetch: int = 0,
) -> KernelSpec:
    chosen = BY_NAME[isa] if isinstance(isa, str) else isa
    kind = Operation(operation)
    return KernelSpec(
        operation=kind,
        isa=chosen,
        inputs=inputs,
        outputs=outputs,
        technique=technique or default_technique(kind, chosen),
        unroll=default_unroll(chosen, outputs) if unroll is None else unroll,
        field=Field(polynomial),
        store=store,
        prefetch=prefetch,
    )


def make_pipelined(
    isa: str,
    outputs: int,
    lines: int,
    walk: Walk,
    *,
    shuffled: bool = False,
    store: Store = Store.TEMPORAL,
) -> KernelSpec:
    """Return a kernel for any number of sources that takes `lines` cache lines per iteration."""
    unroll = lines * LINE // BY_NAME[isa].vector_bytes
    base = make_spec("dot", None, outputs, isa, unroll=1, store=store)
    return replace(base, unroll=unroll, walk=walk, shuffled=shuffled, pipelined=True)


def make_baked(isa: str | Isa, code: str, k: int, m: int) -> KernelSpec:
    """Return the kernel that computes all parities of a code."""
    rows = parity_matrix(code, k, m)
    return replace(make_spec("dot", k, m, isa, unroll=1), baked=Baked(code, m, 0, rows))


def make_known_pipelined(isa: str, code: str, k: int, m: int, lines: int) -> KernelSpec:
    """Return the kernel for the known matrix of a code that takes `lines` rows per iteration."""
    unroll = lines * LINE // BY_NAME[isa].vector_bytes
    return replace(make_baked(isa, code, k, m), unroll=unroll, walk=Walk.ROWS, pipelined=True)


def make_program(spec: KernelSpec) -> Program:
    return run_passes(lower(spec), spec)


def bits(value: int) -> tuple[int, ...]:
    return tuple(value >> n & 1 for n in range(8))


def number(byte: tuple[int, ...]) -> int:
    return sum(bit << n for n, bit in enumerate(byte))


class Machine:
    """Executes a Program on concrete shards, byte by byte, with the semantics of ir.MEANING."""

    def __init__(
        self, spec: KernelSpec, table: bytes, sources: list[bytearray], destinations: list[bytearray]
    ) -> None:
        self.spec = spec
        self.table = table
        self.shards = {Space.SOURCE: sources, Space.DESTINATION: destinations}
        self.length = len(sources[0]) if sources else len(destinations[0])
        self.slots: dict[int, list[object]] = {}

    def run(self, program: Program) -> None:
        self.constants = program.constants
        position = 0
        for turn in program.iterations():
            first = turn[0]
            if first.aligned:
                continue
            while first.role is Role.BLOCK and self.length - position >= first.step:
                for loop in turn:
                    self._iteration(program, loop, position, program.lanes)
                position += first.step
            if first.role is Role.TAIL and position < self.length:
                for loop in turn:
                    self._iteration(program, loop, position, self.length - position)

    def _iteration(self, program: Program, loop: Loop, position: int, count: int) -> None:
        values: dict[int, list[object]] = {}
        for code in (program.preload, loop.head):
            self._section(code, values, position, count, 0)
        if loop.rolled:
            for carry in loop.carries:
                values[carry.phi] = values[carry.initial]
            sources = len(self.shards[Space.SOURCE])  # in the kernel's order (_read)
            grouped = sources - sources % loop.group
            for source in range(0, grouped, loop.group):
                self._section(loop.body, values, position, count, source)
                values.update({c.phi: values[c.updated] for c in loop.carries})
            for source in range(grouped, sources):
                self._section(loop.rest, values, position, count, source)
                values.update({c.phi: values[c.rest] for c in loop.carries if c.rest is not None})
        self._section(loop.close, values, position, count, 0)

    def _section(
        self,
        code: tuple[Instr, ...],
        values: dict[int, list[object]],
        position: int,
        count: int,
        current: int,
    ) -> None:
        for instr in code:
            if instr.op is Op.PREFETCH:
                continue
            if instr.op in STORES:
                assert instr.ref is not None
                shard = self.shards[Space.DESTINATION][instr.ref.index]
                start = position + instr.ref.offset
                lanes = values[instr.args[0]]
                shard[start : start + count] = bytes(number(b) for b in lanes)  # type: ignore[arg-type]
                continue
            if instr.op is Op.SPILL:
                assert instr.ref is not None
                self.slots[instr.ref.index] = values[instr.args[0]]
                continue
            loaded = None if instr.ref is None else self._read(instr, position, count, current)
            assert instr.result is not None
            values[instr.result] = [
                self._lane(instr, [values[a][n] for a in instr.args], None if loaded is None else loaded[n])
                for n in range(count)
            ]

    def _lane(self, instr: Instr, args: list[object], loaded: object) -> object:
        if instr.op is Op.ZERO:
            return bits(0)
        if instr.op is Op.CONST:
            return bits(instr.immediate)
        meaning = MEANING[instr.op]
        operands = args if loaded is None else [*args, loaded]
        if meaning.lane is None:
            return loaded
        if instr.op is Op.BIT:
            return meaning.lane(operands[0], instr.immediate)
        return meaning.lane(*operands)

    def _read(self, instr: Instr, position: int, count: int, current: int) -> list[object]:
        ref = instr.ref
        assert ref is not None
        index = current + CURRENT - ref.index if ref.index <= CURRENT else ref.index
        if ref.space is Space.COEFFICIENT:
            start = self.spec.entry_offset(index, ref.output) + ref.offset
            if self.spec.by_rows:
                start += len(self.table) // self.spec.outputs * ref.output
            return [self._entry(instr, self.table, start)] * count
        if ref.space is Space.CONSTANT:
            return [self._entry(instr, self.constants, ref.offset)] * count
        if ref.space is Space.SCRATCH:
            return self.slots[ref.index]
        start = position + ref.offset
        if ref.space is Space.SOURCE and ref.index <= CURRENT and self.spec.descending:
            index = -1 - index
        return [bits(b) for b in self.shards[ref.space][index][start : start + count]]

    @staticmethod
    def _entry(instr: Instr, table: bytes, start: int) -> object:
        size = {Op.TABLE: 16, Op.COLUMN: 1}.get(instr.op, 8)
        loaded = tuple(bits(b) for b in table[start : start + size])
        return loaded[0] if instr.op is Op.COLUMN else loaded


FORMATS = (
    TableFormat.NIBBLE,
    TableFormat.ISAL_NIBBLE,
    TableFormat.PERMXOR,
    TableFormat.AFFINE,
    TableFormat.ISAL,
    TableFormat.BITPLANE,
    TableFormat.MULB,
)
