"""Registers and addresses of shards, pointers, table entries and slots in a kernel's body."""

from __future__ import annotations

from itertools import pairwise

from gfsmith.emit.x86.asm import Asm, Mem
from gfsmith.ir import CURRENT, Program, Ref, Space, pointers
from gfsmith.kernel.isa import Tail
from gfsmith.kernel.operation import Operation
from gfsmith.kernel.spec import KernelSpec, TooFewRegisters
from gfsmith.kernel.technique import Technique

POINTER = 8  #: bytes

_SAVED = ("rbx", "rbp", "r12", "r13", "r14", "r15")
_FREE_FIXED = ("r9", "r10", "rsi")
_FREE_DIAGONAL = ("r10",)
_CURSORS = frozenset({"r9", "r10", "rsi"})  #: used by a loop that is rolled over the sources

_FEW = 10  #: most sources of _reads_pointers

AHEAD = "rbx"  #: address in src[] of the next prefetch pointer of a rolled loop

Shard = tuple[Space, int]


def _replaced(spec: KernelSpec, program: Program) -> dict[Shard, str]:
    """Return the arguments that are not read once all pointers and tables are in registers, and the pointer
    that each can hold: the array's last one, which is loaded last, and for the table the first source's,
    unless the kernel uses rdx anyway."""
    shards = {Space.SOURCE, Space.DESTINATION, Space.SCRATCH}
    loops = program.loops
    if spec.inputs is None or spec.diagonal:
        return {}
    references = (i.ref for loop in loops for section in loop.sections() for i in section)
    if any(ref is not None and ref.space not in shards for ref in references):
        return {}
    found = {} if spec.by_rows else {(Space.SOURCE, 0): "rdx"}
    if spec.isa.tail is Tail.MASKED and not any(loop.rolled or loop.aligned for loop in loops):
        found |= {(Space.SOURCE, spec.inputs - 1): "rcx", (Space.DESTINATION, spec.outputs - 1): "r8"}
    return found


def _reads_rows(spec: KernelSpec, program: Program) -> bool:
    """Do the loops read entries of a table that stands row by row?"""
    sections = (section for loop in program.loops for section in loop.sections())
    refs = (i.ref for section in sections for i in section)
    return spec.by_rows and any(ref is not None and ref.space is Space.COEFFICIENT for ref in refs)


def _reads_pointers(spec: KernelSpec) -> bool:
    """Does the kernel read the pointers of its sources for each line instead of holding them in registers?
    This is faster for batches of few sources with more than two parities (docs/batches.md#limits-of-63)."""
    few = spec.inputs is not None and spec.inputs <= _FEW and spec.outputs > 2
    return spec.pipelined and few and spec.technique is Technique.AFFINE


class Places:
    """Addresses in the registers that kernel.py lists. r11 holds a pointer that has no register."""

    def __init__(self, spec: KernelSpec, program: Program, asm: Asm) -> None:
        self._spec = spec
        self._asm = asm
        self._width = spec.isa.vector_bytes
        self._slots = program.slots
        #: Address of slot 0. A loop that is rolled over the sources uses r9 itself.
        self._frame = "rbp" if any(loop.rolled for loop in program.loops) else "r9"
        self._follows = any(pointers(loop.body) for loop in program.loops)  #: AHEAD is used
        #: Odd multiples of the distance of the rows of a table, 1, 3, 5 and 7, if loops read them.
        self._rows = _SAVED[::-1][: spec.outputs // 2] if _reads_rows(spec, program) else ()
        self.resident = self._assign(program)
        self._cursors: frozenset[str] = frozenset()
        self._group = 0
        self._first_left = False
        self._held: Shard | None = None
        self._row: int | None = None  #: the row of r11, until the shard pointers are loaded

    def _assign(self, program: Program) -> dict[Shard, str]:
        """Return registers for shard pointers, destinations first, until the registers are used up."""
        spec = self._spec
        if all(loop.rolled for loop in program.loops):
            return {}
        taken = self._frame if self._slots else ""
        no_table = spec.by_rows and not self._rows
        unsaved = _FREE_DIAGONAL if spec.diagonal else (*_FREE_FIXED, "rdx") if no_table else _FREE_FIXED
        free = [r for r in (*unsaved, *_SAVED) if r != taken and r not in self._rows]
        shards: list[Shard] = [(Space.DESTINATION, i) for i in range(spec.outputs)]
        if not _reads_pointers(spec):
            shards += [(Space.SOURCE, j) for j in range(spec.inputs or 1)]
        if len(shards) <= len(unsaved) or len(shards) > len(free):
            return dict(zip(shards, free, strict=False))
        replaced, others = _replaced(spec, program), iter(free)
        return {shard: replaced.get(shard) or next(others) for shard in shards}

    @property
    def replaces_table(self) -> bool:
        """Does a pointer replace the address of the table? The table is then read before."""
        return not self._spec.by_rows and "rdx" in self.resident.values()

    @property
    def short(self) -> bool:
        """Has the kernel been shortened for calls on few bytes? Pointers replace its arguments, or it follows
        Horner's rule."""
        horner = self._spec.operation is Operation.HORNER
        return horner or not {"rcx", "rdx"}.isdisjoint(self.resident.values())

    @property
    def saved(self) -> tuple[str, ...]:
        """The registers that the frame must save."""
        used = {*self.resident.values(), *((AHEAD,) if self._follows else ())}
        used |= {self._frame} if self._slots else set()
        used.update(self._rows)
        return tuple(r for r in _SAVED if r in used)

    @property
    def scratch_bytes(self) -> int:
        """Bytes in the frame for the slots and for their alignment to the vector width."""
        return (self._slots + 1) * self._width if self._slots else 0

    def prepare_rows(self) -> None:
        """Emit the distance of the table's rows, which depends on rsi, k, and its odd multiples."""
        if not self._spec.by_rows:
            return
        if self._rows:
            self._asm.ins("mov", self._rows[0], "rsi")
            self._asm.ins("shl", self._rows[0], self._shift)
        elif self._spec.inputs is not None:
            self._asm.ins("shl", "rsi", self._shift)
            self._row = 0
        for before, register in pairwise(self._rows):
            self._asm.ins("mov", register, before)
            for _ in range(2):
                self._asm.ins("add", register, self._rows[0])

    @property
    def _shift(self) -> int:
        return self._spec.tables.entry_bytes.bit_length() - 1

    def prepare(self) -> None:
        """Emit the address of the slots and the shard pointers."""
        if self._slots:
            self._asm.ins("lea", self._frame, Mem("rsp", 0, None, self._width - 1))
            self._asm.ins("and", self._frame, -self._width)
        self._row = None
        for shard, register in self.resident.items():
            self._asm.ins("mov", register, self.pointer(shard))

    def enter(self, rolled: bool, group: int) -> None:
        """Begin an iteration of a loop. group: the number of sources that it takes at once."""
        self._cursors = _CURSORS if rolled else frozenset()
        self._group = POINTER * (group - 1)
        self._first_left = False
        self.forget()

    def leave_first(self) -> None:
        """Note that the loop has left only the first source, whose pointer Horner's rule reads without
        r10."""
        self._first_left = self._spec.operation is Operation.HORNER
        self.forget()

    def forget(self) -> None:
        """Note that r11 no longer holds a pointer."""
        self._held = None

    def pointer(self, shard: Shard) -> Mem:
        """Return the address of a shard's pointer in src[] or dst[]."""
        space, index = shard
        if space is Space.AHEAD and self._cursors:
            return Mem(AHEAD, 8, None, POINTER * index)
        if space is Space.AHEAD:
            return Mem("rcx", 8, None, POINTER * ((self._spec.inputs or 1) + index))
        if index <= CURRENT and self._first_left:
            return Mem("rcx", 8, None, 0)
        if index <= CURRENT and self._spec.descending:
            return Mem("rcx", 8, "r10", self._group - POINTER * (CURRENT - index))
        if index <= CURRENT:
            return Mem("r10", 8, None, POINTER * (CURRENT - index) - self._group)
        array = "rcx" if space is Space.SOURCE else "r8"
        return Mem(array, 8, None, POINTER * index)

    def packed_pointer(self, ref: Ref) -> None:
        """Set r11 to the address of a shard's byte at the current position."""
        self._asm.ins("mov", "r11", self.pointer((ref.space, ref.index)))
        self._asm.ins("add", "r11", "rax")

    def shard(self, ref: Ref, size: int) -> Mem:
        """Return the address of a shard's vector. Loads its pointer unless a register holds it."""
        shard = (ref.space, ref.index)
        register = self.resident.get(shard)
        if register is None or register in self._cursors:
            register = "r11"
            if self._held != shard:
                self._asm.ins("mov", "r11", self.pointer(shard))
                self._held = shard
        if self._spec.has_lines(ref.space):
            return Mem(register, size, "rax", 2 * ref.offset, scale=2)
        return Mem(register, size, "rax", ref.offset)

    def entry(self, ref: Ref, size: int) -> Mem:
        """Return the address of a coefficient's table, or of a constant."""
        if ref.space is Space.CONSTANT:
            return Mem("rdx", size, None, ref.offset)
        if ref.index <= CURRENT:
            offset = self._spec.entry_offset(CURRENT - ref.index, ref.output) + ref.offset
            return self._entry_by_row("r9", ref.output, size, offset)
        if self._rows:
            offset = self._spec.entry_offset(ref.index, ref.output) + ref.offset
            return self._entry_by_row("rdx", ref.output, size, offset)
        if self._spec.by_rows:
            return self._entry_in_row(ref, size)
        return Mem("rdx", size, None, self._spec.entry_offset(ref.index, ref.output) + ref.offset)

    def _entry_by_row(self, first: str, row: int, size: int, offset: int) -> Mem:
        """Return the address of an entry in a row: from the first row on, a multiple of their distance."""
        if not self._rows or not row:
            return Mem(first, size, None, offset)
        scale = row & -row
        return Mem(first, size, self._rows[row // scale // 2], offset, scale=scale)

    def _entry_in_row(self, ref: Ref, size: int) -> Mem:
        """Return the address of an entry that is loaded before the loops, and set r11 to its row."""
        if self._row is None or ref.output < self._row:
            raise TooFewRegisters(f"{self._spec.symbol} has not enough registers for all coefficients")
        for row in range(self._row, ref.output):
            if row:
                self._asm.ins("add", "r11", "rsi")
            else:
                self._asm.ins("lea", "r11", Mem("rdx", 0, "rsi", 0))
        self._row = ref.output
        offset = self._spec.entry_offset(ref.index, ref.output) + ref.offset
        return Mem("r11" if self._row else "rdx", size, None, offset)

    def slot(self, ref: Ref) -> Mem:
        """Return the address of a vector in the frame."""
        return Mem(self._frame, self._width, None, ref.index * self._width)
