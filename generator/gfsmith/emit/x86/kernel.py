"""Program -> the instructions of a whole kernel body: loops, pointers, tails.

Registers of the body:

    rdi  bytes that remain           rax  position in every shard
    rsi  k, then the end of src[]    rdx  coefficient table, or constants
    rcx  src[]                       r8   dst[]
    r9   table entries of the current source, or len (kernels that go shard by shard)
    r10  current place in src[]      r11  scratch and pointers
    rbx, rbp, r12-r15: shard pointers of kernels with a fixed number of inputs, saved by the frame;
    r9, r10 and rsi serve there too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from gfsmith.emit.x86.asm import Asm, Label, Mem
from gfsmith.emit.x86.registers import Allocation
from gfsmith.emit.x86.select import Selector
from gfsmith.emit.x86.tail import Packed
from gfsmith.ir import CURRENT, LOADS, STORES, Instr, Loop, Op, Program, Ref, Role, Space
from gfsmith.isa import Encoding, Tail
from gfsmith.spec import KernelSpec

_SAVED = ("rbx", "rbp", "r12", "r13", "r14", "r15")
_FREE_FIXED = ("r9", "r10", "rsi")
_FREE_DIAGONAL = ("r10",)
_CURSORS = frozenset({"r9", "r10", "rsi"})  #: in use while a loop is rolled over the sources
_POINTER = 8  #: bytes
_MASK = "k1"
_LOOP_ALIGNMENT = 32
_CONSTANT_ALIGNMENT = 32  #: that of the body; no entry then straddles two cache lines

Shard = tuple[Space, int]


@dataclass(frozen=True, slots=True)
class Body:
    """The instructions, and what the frame around them must save."""

    asm: Asm
    saved: tuple[str, ...]
    vectors: set[int]


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
        self.resident = self._assign_pointers()
        self._cursors: frozenset[str] = frozenset()
        self._held: Shard | None = None

    def label(self) -> Label:
        return Label(str(next(self._labels)))

    @property
    def saved(self) -> tuple[str, ...]:
        return tuple(r for r in _SAVED if r in self.resident.values())

    def _assign_pointers(self) -> dict[Shard, str]:
        """Registers for shard pointers, as far as they last; destinations first."""
        if self.spec.inputs is None and not self.spec.diagonal:
            return {}
        free = _FREE_DIAGONAL if self.spec.diagonal else _FREE_FIXED
        shards: list[Shard] = [(Space.DESTINATION, i) for i in range(self.spec.outputs)]
        shards += [(Space.SOURCE, j) for j in range(self.spec.inputs or 1)]
        return dict(zip(shards, (*free, *_SAVED), strict=False))

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
        return Body(self.asm, self.saved, self.vectors)

    def _setup(self) -> None:
        ins = self.asm.ins
        if self.spec.inputs is None:
            ins("shl", "rsi", 3)
            ins("add", "rsi", "rcx")
        self._prepare()

    def _place_constants(self, end: Label) -> None:
        """Constants between the code and its end, jumped over: what lies beside code moves with it."""
        self.asm.ins("jmp", end)
        self.asm.mark(self._constants, _CONSTANT_ALIGNMENT)
        size = self.spec.entries.entry_bytes
        content = self.program.constants
        for start in range(0, len(content), size):
            self.asm.data(content[start : start + size], f"+{start}")

    def _prepare(self) -> None:
        """Position 0, the shard pointers, the constants and the preloaded vectors."""
        self.asm.ins("xor", "eax", "eax")
        if self.program.constants:
            self.asm.ins("lea", "rdx", self._constants)
        for shard, register in self.resident.items():
            self.asm.ins("mov", register, self._pointer_slot(shard))
        for instr in self.program.preload:
            self._instruction(instr, None)

    def _each_shard(self, end: Label) -> None:
        """mul for any k: the whole kernel for one shard, k times, with moving argument pointers."""
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
        ins("add", "rcx", _POINTER)
        ins("add", "r8", _POINTER)
        ins("add", "rdx", self.spec.source_stride)
        ins("sub", "rsi", 1)
        ins("jnz", again)

    def _pointer_slot(self, shard: Shard) -> Mem:
        space, index = shard
        array = "rcx" if space is Space.SOURCE else "r8"
        return Mem(array, 8, None, _POINTER * index)

    def _loops(self, end: Label) -> None:
        for number, loop in enumerate(self.program.loops):
            if loop.role is Role.TAIL:
                self._tail(loop, end)
            else:
                self._block(loop, first=number == 0)

    def _block(self, loop: Loop, first: bool) -> None:
        ins = self.asm.ins
        again, beyond = self.label(), self.label()
        self.asm.note(f"while at least {loop.step} bytes remain")
        ins("cmp", "rdi", loop.step)
        ins("jb", beyond)
        if loop.aligned:
            self._require_alignment(beyond)
        self.asm.mark(again, _LOOP_ALIGNMENT if first else 1)
        self._turn(loop)
        ins("add", "rax", loop.step)
        ins("sub", "rdi", loop.step)
        ins("cmp", "rdi", loop.step)
        ins("jae", again)
        if loop.aligned:
            ins("sfence")
        self.asm.mark(beyond)

    def _require_alignment(self, otherwise: Label) -> None:
        self.asm.ins("mov", "r11", self._pointer_slot((Space.DESTINATION, 0)))
        for output in range(1, self.spec.outputs):
            self.asm.ins("or", "r11", self._pointer_slot((Space.DESTINATION, output)))
        self.asm.ins("test", "r11", self.spec.isa.vector_bytes - 1)
        self.asm.ins("jnz", otherwise)

    def _tail(self, loop: Loop, end: Label) -> None:
        ins = self.asm.ins
        self.asm.note(f"the last 1 to {loop.step - 1} bytes")
        ins("test", "rdi", "rdi")
        ins("jz", end)
        if self.spec.isa.tail is Tail.MASKED:
            ins("mov", "r11", -1)
            ins("bzhi", "r11", "r11", "rdi")
            ins("kmovq", _MASK, "r11")
        if loop.rolled and self.spec.inputs is not None:
            ins("lea", "rsi", Mem("rcx", 0, None, _POINTER * self.spec.inputs))
        self._turn(loop)

    def _turn(self, loop: Loop) -> None:
        """head, then body for every source, then close."""
        self._held = None
        self._cursors = _CURSORS if loop.rolled else frozenset()
        self._section(loop.head, loop)
        if loop.rolled:
            ins = self.asm.ins
            body, test = self.label(), self.label()
            ins("mov", "r10", "rcx")
            if self.spec.source_stride:
                ins("mov", "r9", "rdx")
            ins("jmp", test)
            self.asm.mark(body)
            self._held = None
            self._section(loop.body, loop)
            ins("add", "r10", _POINTER)
            if self.spec.source_stride:
                ins("add", "r9", self.spec.source_stride)
            self.asm.mark(test)
            ins("cmp", "r10", "rsi")
            ins("jb", body)
            self._held = None
        self._section(loop.close, loop)

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
            self.select.prefetch(self._shard(instr.ref, 0), self.spec.hint)
        elif instr.op is Op.LOAD:
            self._load(instr, partial)
        elif instr.op in STORES:
            self._store(instr, partial)
        elif instr.op in LOADS:
            assert instr.ref is not None
            mem = self._entry(instr.ref, self.select.table_bytes(instr.op))
            self.select.table(instr, mem)
        elif instr.op is Op.ZERO:
            assert instr.result is not None
            self.select.zero(instr.result)
        elif instr.op is Op.CONST:
            assert instr.result is not None
            self.select.constant(instr.result, instr.immediate)
        else:
            self.select.compute(instr, self._folded(instr))

    def _folded(self, instr: Instr) -> Mem | None:
        ref = instr.ref
        if ref is None:
            return None
        if ref.space in (Space.COEFFICIENT, Space.CONSTANT):
            copies = self.select.broadcast(instr.op)
            mem = self._entry(ref, self.select.table_bytes(Op.MATRIX))
            return Mem(mem.base, mem.size, mem.index, mem.displacement, copies)
        return self._shard(ref, self.spec.isa.vector_bytes)

    def _load(self, instr: Instr, partial: bool) -> None:
        assert instr.ref is not None and instr.result is not None
        if partial and self.spec.isa.tail is Tail.PACKED:
            self._packed_pointer(instr.ref)
            self.packed.load(instr.result)
            return
        mem = self._shard(instr.ref, self.spec.isa.vector_bytes)
        self.select.load(instr.result, mem, _MASK if partial else None)

    def _store(self, instr: Instr, partial: bool) -> None:
        assert instr.ref is not None
        if partial and self.spec.isa.tail is Tail.PACKED:
            self._packed_pointer(instr.ref)
            self.packed.store(instr.args[0])
            return
        mem = self._shard(instr.ref, self.spec.isa.vector_bytes)
        mask = _MASK if partial else None
        self.select.store(instr.args[0], mem, instr.op is Op.STREAM, mask)

    def _packed_pointer(self, ref: Ref) -> None:
        slot = Mem("r10", 8) if ref.index == CURRENT else self._pointer_slot((ref.space, ref.index))
        self.asm.ins("mov", "r11", slot)
        self.asm.ins("add", "r11", "rax")

    def _shard(self, ref: Ref, size: int) -> Mem:
        """The place of a shard's vector; loads its pointer unless a register holds it."""
        shard = (ref.space, ref.index)
        register = self.resident.get(shard)
        if register is None or register in self._cursors:
            register = "r11"
            if self._held != shard:
                slot = Mem("r10", 8) if ref.index == CURRENT else self._pointer_slot(shard)
                self.asm.ins("mov", "r11", slot)
                self._held = shard
        return Mem(register, size, "rax", ref.offset)

    def _entry(self, ref: Ref, size: int) -> Mem:
        if ref.space is Space.CONSTANT:
            return Mem("rdx", size, None, ref.offset)
        if ref.index == CURRENT:
            return Mem("r9", size, None, self.spec.entry_offset(0, ref.output) + ref.offset)
        return Mem("rdx", size, None, self.spec.entry_offset(ref.index, ref.output) + ref.offset)


def emit(spec: KernelSpec, program: Program) -> Body:
    """The kernel's body. Raises SpecError if it does not fit into the registers."""
    assert spec.isa.encoding is not Encoding.C
    return _Emitter(spec, program).run()
