"""Emission of a whole kernel body from a Program: loops, pointers, tails.

Registers of the body:

    rdi  bytes that remain           rax  position in every shard
    rsi  k, then the end of src[], or its size in bytes if the loops begin with the last source
    rdx  coefficient table, or constants
    rdx, rcx, r8: shard pointers of kernels with few shards and a fixed number of inputs, which read their
    tables and pointers before
    r15, r14, ...: distances of the table's rows to the first, in kernels for any k that read it row by row
    rcx  src[]                       r8   dst[]
    r9   table entries of the current source, or len (kernels that handle shard by shard)
    r10  address in src[] of the pointer to the last of the current sources; if the loops begin with the last
         source, the offset in src[] of the first of their pointers
    r11  scratch and pointers
    rbx  address in src[] of the next prefetch pointer, in pipelined kernels with rolled loops
    rbx, rbp, r12-r15: shard pointers of kernels with a fixed number of inputs, saved by the frame;
    these kernels also use r9, r10 and rsi
    r9, or rbp if a loop is rolled: address of slot 0 in kernels that spill.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from gfsmith.emit.x86.asm import Asm, Label, Mem
from gfsmith.emit.x86.places import AHEAD, POINTER, Places
from gfsmith.emit.x86.registers import Allocation
from gfsmith.emit.x86.select import Selector
from gfsmith.emit.x86.tail import Packed
from gfsmith.ir import LOADS, STORES, Instr, Loop, Op, Program, Ref, Role, Space, pointers
from gfsmith.kernel.isa import Encoding, Tail
from gfsmith.kernel.operation import LINE_PART, Operation
from gfsmith.kernel.spec import KernelSpec
from gfsmith.kernel.tuning_parameters import LINE

_MASK = "k1"
_LOOP_ALIGNMENT = 32
_CONSTANT_ALIGNMENT = 32  #: the body's alignment, so that no entry crosses a cache line


@dataclass(frozen=True, slots=True)
class Body:
    """The instructions of a body, and the registers and stack bytes that the frame must save and allocate."""

    asm: Asm
    saved: tuple[str, ...]
    vectors: set[int]
    scratch: int


class _Emitter:
    def __init__(self, spec: KernelSpec, program: Program) -> None:
        self.spec = spec
        self.program = program
        self.asm = Asm()
        allocation = Allocation(spec.isa, program, spec.symbol)
        self.vectors = allocation.used()
        self.select = Selector(spec.isa, allocation, self.asm, "r11")
        self._labels = count()
        self.packed = Packed(self.select, "r11", "rdi", "r10", self.label)
        self.places = Places(spec, program, self.asm)

    def label(self) -> Label:
        return Label(str(next(self._labels)))

    def run(self) -> Body:
        end = self.label()
        self._constants = self.label()
        if self.spec.diagonal:
            self._each_shard(end)
        else:
            self._setup()
            self._loops(end)
        if self.program.constants:
            self._place_constants(end)
        self.asm.mark(end)
        return Body(self.asm, self.places.saved, self.vectors, self.places.scratch_bytes)

    def _setup(self) -> None:
        ins = self.asm.ins
        self.places.prepare_rows()
        if self.spec.inputs is None:
            ins("shl", "rsi", 3)
            if not self.spec.descending:
                ins("add", "rsi", "rcx")
        self._prepare()

    def _place_constants(self, end: Label) -> None:
        """Place constants between the code and its end, and jump over them, so that they move with the
        code."""
        self.asm.ins("jmp", end)
        self.asm.mark(self._constants, _CONSTANT_ALIGNMENT)
        size = self.spec.entries.entry_bytes
        content = self.program.constants
        for start in range(0, len(content), size):
            self.asm.data(content[start : start + size], f"+{start}")

    def _prepare(self) -> None:
        """Set position 0, the shard pointers, the constants and the preloaded vectors."""
        self.asm.ins("xor", "eax", "eax")
        if self.program.constants:
            self.asm.ins("lea", "rdx", self._constants)
        early = self.spec.by_rows or self.places.replaces_table
        if early:  # rsi, of which the rows depend, or rdx may get a shard pointer
            self._preload()
        self.places.prepare()
        if not early:
            self._preload()

    def _preload(self) -> None:
        for instr in self.program.preload:
            self._instruction(instr, None)

    def _each_shard(self, end: Label) -> None:
        """mul for any k: run the whole kernel for one shard, k times, and advance the argument pointers."""
        ins = self.asm.ins
        ins("test", "rsi", "rsi")
        ins("jz", end)
        ins("mov", "r9", "rdi")
        again, done = self.label(), self.label()
        self.asm.mark(again)
        ins("mov", "rdi", "r9")
        self._prepare()
        self._loops(done)
        self.asm.mark(done)
        ins("add", "rcx", POINTER)
        ins("add", "r8", POINTER)
        ins("add", "rdx", self.spec.source_stride)
        ins("sub", "rsi", 1)
        ins("jnz", again)

    def _loops(self, end: Label) -> None:
        turns = self.program.iterations()
        for number, turn in enumerate(turns):
            if turn[0].role is Role.TAIL:
                self._tail(turn, end)
            else:
                tested = not self.places.short or turns[number + 1][0].role is Role.TAIL
                self._block(turn, first=number == 0, end=None if tested else end)

    def _block(self, turn: tuple[Loop, ...], first: bool, end: Label | None) -> None:
        """Emit a loop. end: where to go if no bytes remain after it; None: only the tail tests that."""
        ins = self.asm.ins
        loop = turn[0]
        again, beyond = self.label(), self.label()
        self.asm.note(f"while at least {loop.step} bytes remain")
        ins("cmp", "rdi", loop.step)
        ins("jb", beyond)
        if loop.aligned:
            self._require_alignment(beyond)
        if loop.rolled and self.spec.inputs is not None:
            self._end_of_sources()
        self.asm.mark(again, _LOOP_ALIGNMENT if first else 1)
        if any(pointers(part.body) for part in turn):
            ins("mov", AHEAD, "rsi")
        for part in turn:
            self._turn(part)
        ins("add", "rax", loop.step)
        ins("sub", "rdi", loop.step)
        ins("cmp", "rdi", loop.step)
        ins("jae", again)
        if loop.aligned:
            ins("sfence")
        if end is not None:
            ins("test", "rdi", "rdi")
            ins("jz", end)
        self.asm.mark(beyond)

    def _require_alignment(self, otherwise: Label) -> None:
        self.asm.ins("mov", "r11", self.places.pointer((Space.DESTINATION, 0)))
        for output in range(1, self.spec.outputs):
            self.asm.ins("or", "r11", self.places.pointer((Space.DESTINATION, output)))
        self.asm.ins("test", "r11", self.spec.isa.vector_bytes - 1)
        self.asm.ins("jnz", otherwise)

    def _tail(self, turn: tuple[Loop, ...], end: Label) -> None:
        ins = self.asm.ins
        loop = turn[0]
        least = self.spec.granule
        self.asm.note(f"the last {least} to {loop.step - least} bytes")
        ins("test", "rdi", "rdi")
        ins("jz", end)
        if self.spec.isa.tail is Tail.MASKED and not self.spec.in_lines:
            ins("mov", "r11", -1)
            ins("bzhi", "r11", "r11", "rdi")
            ins("kmovq", _MASK, "r11")
        if loop.rolled and self.spec.inputs is not None:
            self._end_of_sources()
        for part in turn:
            self._turn(part)

    def _end_of_sources(self) -> None:
        """Set rsi to the end of src[] in a kernel with a fixed number of inputs."""
        assert self.spec.inputs is not None
        self.asm.ins("lea", "rsi", Mem("rcx", 0, None, POINTER * self.spec.inputs))

    def _turn(self, loop: Loop) -> None:
        """Emit one iteration: head, then body for every group of sources, rest for the remaining ones, then
        close."""
        self.places.enter(loop.rolled, loop.group)
        self._section(loop.head, loop)
        if loop.rolled:
            if self.spec.descending:
                self._sources_down(loop)
            else:
                self._sources(loop)
            self.places.forget()
        self._section(loop.close, loop)

    def _sources(self, loop: Loop) -> None:
        """Emit body, which runs while r10, the address for a group's last source, is below the end, and rest,
        which runs if r10 is equal to the end."""
        assert loop.group in (1, 2), "more than one source may remain"
        ins = self.asm.ins
        body, test = self.label(), self.label()
        if loop.group > 1:
            ins("lea", "r10", Mem("rcx", 0, None, POINTER * (loop.group - 1)))
        else:
            ins("mov", "r10", "rcx")
        if self.spec.source_stride:
            ins("mov", "r9", "rdx")
        ins("jmp", test)
        self.asm.mark(body)
        self.places.forget()
        self._section(loop.body, loop)
        ins("add", "r10", POINTER * loop.group)
        if pointers(loop.body):
            ins("add", AHEAD, POINTER * pointers(loop.body))
        if self.spec.source_stride:
            ins("add", "r9", self.spec.source_stride * loop.group)
        self.asm.mark(test)
        ins("cmp", "r10", "rsi")
        ins("jb", body)
        if loop.rest:
            done = self.label()
            ins("jne", done)
            self.places.forget()
            self._section(loop.rest, loop)
            self.asm.mark(done)

    def _sources_down(self, loop: Loop) -> None:
        """Emit body, which runs while as many pointers as a group remain, and rest, which runs if one
        remains. Horner's rule tests the number before the first iteration and after each one, because a jump
        to a single test takes a cycle more in short calls; sums of few sources have no loop."""
        assert loop.group in (1, 2), "more than one source may remain"
        ins, taken = self.asm.ins, POINTER * loop.group
        body, test, beyond = self.label(), self.label(), self.label()
        ins("mov", "r10", "rsi")
        if self.spec.operation is Operation.HORNER:
            ins("sub", "r10", taken)
            ins("jb", beyond)
        else:
            ins("jmp", test)
        self.asm.mark(body)
        self.places.forget()
        self._section(loop.body, loop)
        self.asm.mark(test)
        ins("sub", "r10", taken)
        ins("jae", body)
        self.asm.mark(beyond)
        if loop.rest:
            done = self.label()
            ins("cmp", "r10", POINTER - taken)
            ins("jne", done)
            self.places.leave_first()
            self._section(loop.rest, loop)
            self.asm.mark(done)

    def _section(self, code: tuple[Instr, ...], loop: Loop) -> None:
        for instr in code:
            self._instruction(instr, loop)

    def _instruction(self, instr: Instr, loop: Loop | None) -> None:
        self.asm.origin = instr
        self._spell(instr, loop)
        self.asm.origin = None

    def _spell(self, instr: Instr, loop: Loop | None) -> None:
        partial = loop is not None and loop.role is Role.TAIL
        if instr.op is Op.PREFETCH:
            assert instr.ref is not None
            self.select.prefetch(self.places.shard(instr.ref, 0), self.spec.hint)
        elif instr.op in (Op.SPILL, Op.RELOAD):
            self._move_slot(instr)
        elif instr.op is Op.LOAD:
            self._load(instr, partial)
        elif instr.op in STORES:
            self._store(instr, partial)
        elif instr.op in LOADS:
            assert instr.ref is not None
            mem = self.places.entry(instr.ref, self.select.table_bytes(instr.op))
            self.select.table(instr, mem)
        elif instr.op is Op.ZERO:
            assert instr.result is not None
            self.select.zero(instr.result)
        elif instr.op is Op.CONST:
            assert instr.result is not None
            self.select.constant(instr.result, instr.immediate)
        else:
            self.select.compute(instr, self._folded(instr))

    def _move_slot(self, instr: Instr) -> None:
        assert instr.ref is not None
        if instr.result is None:
            self.select.store(instr.args[0], self.places.slot(instr.ref))
        else:
            self.select.load(instr.result, self.places.slot(instr.ref))

    def _folded(self, instr: Instr) -> Mem | None:
        ref = instr.ref
        if ref is None:
            return None
        if ref.space in (Space.COEFFICIENT, Space.CONSTANT):
            copies = self.select.broadcast(instr.op)
            mem = self.places.entry(ref, self.select.table_bytes(Op.MATRIX))
            return replace(mem, broadcast=copies)
        if ref.space is Space.SCRATCH:
            return self.places.slot(ref)
        return self.places.shard(ref, self.spec.isa.vector_bytes)

    def _load(self, instr: Instr, partial: bool) -> None:
        assert instr.ref is not None and instr.result is not None
        if partial and self.spec.isa.tail is Tail.PACKED:
            self.places.packed_pointer(instr.ref)
            self.packed.load(instr.result)
            return
        if parts := self._parts(instr.ref, partial):
            self.select.load_parts(instr.result, parts)
            return
        mem = self.places.shard(instr.ref, self.spec.isa.vector_bytes)
        self.select.load(instr.result, mem, _MASK if partial else None)

    def _parts(self, ref: Ref, partial: bool) -> tuple[Mem, ...]:
        """Return the parts of a vector with more bytes than a plane has in a line: both halves if the shard
        is in lines. The tail of a kernel with such shards has the lower half only."""
        if not self.spec.in_parts(ref.space) and not (partial and self.spec.in_lines):
            return ()
        mem = self.places.shard(ref, LINE_PART)
        return (mem,) if partial else (mem, replace(mem, displacement=mem.displacement + LINE))

    def _store(self, instr: Instr, partial: bool) -> None:
        assert instr.ref is not None
        if partial and self.spec.isa.tail is Tail.PACKED:
            self.places.packed_pointer(instr.ref)
            self.packed.store(instr.args[0])
            return
        if parts := self._parts(instr.ref, partial):
            self.select.store_parts(instr.args[0], parts)
            return
        mem = self.places.shard(instr.ref, self.spec.isa.vector_bytes)
        mask = _MASK if partial else None
        self.select.store(instr.args[0], mem, instr.op is Op.STREAM, mask)


def emit(spec: KernelSpec, program: Program) -> Body:
    """Return the kernel's body. Raises SpecError if it does not fit into the registers."""
    assert spec.isa.encoding is not Encoding.C
    return _Emitter(spec, program).run()
