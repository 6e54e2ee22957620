"""Emission of C kernels from a Program, one statement per operation. The layout is
templates/c_kernel.c.j2."""

from __future__ import annotations

from gfsmith.emit.c.altivec import ALTIVEC
from gfsmith.emit.c.loongarch import LASX, LSX
from gfsmith.emit.c.neon import NEON, NEON_SHA3
from gfsmith.emit.c.rvv import RVV
from gfsmith.emit.c.spelling import Spelling
from gfsmith.emit.c.sve import SVE, SVE2
from gfsmith.emit.c.vsx import VSX, VSX_P10
from gfsmith.emit.c.vx import VX
from gfsmith.emit.c.wasm import RELAXED, SIMD128
from gfsmith.emit.c.words import SCALAR
from gfsmith.emit.template import render
from gfsmith.ir import (
    CURRENT,
    MEANING,
    STORES,
    Instr,
    Kind,
    Loop,
    Op,
    Program,
    Ref,
    Role,
    Space,
    pointers,
    source_name,
)
from gfsmith.kernel.spec import Hint, KernelSpec

#: Spellings by the instruction set's name.
SPELLINGS: dict[str, Spelling] = {
    spelling.isa: spelling
    for spelling in (
        *(SCALAR, NEON, NEON_SHA3, SVE, SVE2, RVV, SIMD128, RELAXED),
        *(VSX, VSX_P10, ALTIVEC, VX, LSX, LASX),
    )
}

#: The locality argument of __builtin_prefetch: 3, keep in all levels of the cache, to 0.
_LOCALITY = {Hint.T0: 3, Hint.T1: 2, Hint.T2: 1, Hint.NTA: 0}

_ROW = 16  #: constants per line
_LOW_NIBBLE = 0x0F


class _Writer:
    """State of the emission of one kernel."""

    def __init__(self, spec: KernelSpec, program: Program) -> None:
        self.spec = spec
        self.program = program
        self.spelling = SPELLINGS[spec.isa.name]
        self.tables = "coeffs" if spec.baked is None else "constants"
        self.aligned = False  #: whether all pointers are multiples of the vector's bytes
        self.masks = {
            i.result for i in program.instructions() if i.op is Op.CONST and i.immediate == _LOW_NIBBLE
        }
        #: Operands that occur in the C text. A byte-wise shift needs no mask.
        self.read = {
            a
            for i in program.instructions()
            for n, a in enumerate(i.args)
            if f"{{{n}}}" in self.spelling.expressions[i.op]
        }

    def shards(self) -> list[str]:
        """Return declarations of local pointers to the numbered shards. Without them the compiler would have
        to load src[] and dst[] again after every store."""
        return [f"const uint8_t *const s{j} = src[{j}];" for j in self._numbers(Space.SOURCE)] + [
            f"uint8_t *const d{i} = dst[{i}];" for i in self._numbers(Space.DESTINATION)
        ]

    def _numbers(self, space: Space) -> list[int]:
        """Return the numbers of the numbered shards."""
        refs = [i.ref for loop in self.program.loops for part in loop.sections() for i in part if i.ref]
        return sorted({r.index for r in refs if r.space is space and r.index > CURRENT})

    def preload(self) -> list[str]:
        return self._statements(self.program.preload, partial=False)

    def constants(self) -> list[str]:
        """Return the rows of the tables of known coefficients."""
        data = self.program.constants
        rows = (data[start : start + _ROW] for start in range(0, len(data), _ROW))
        return [", ".join(f"{byte:#04x}" for byte in row) for row in rows]

    def length(self, bytes_: int) -> str:
        """Return a C expression for `bytes_` bytes of a shard. Scalable vectors count in units of their
        length."""
        if not self.spec.isa.scalable:
            return str(bytes_)
        vectors = bytes_ // self.program.lanes
        return "vl" if vectors == 1 else f"{vectors} * vl"

    def _place(self, ref: Ref) -> str:
        match ref.space:
            case Space.CONSTANT:
                return f"{self.tables} + {ref.offset}"
            case Space.COEFFICIENT:
                base = "entry" if ref.index <= CURRENT else self.tables
                source = CURRENT - ref.index if ref.index <= CURRENT else ref.index
                return f"{base} + {self.spec.entry_offset(source, ref.output) + ref.offset}"
            case Space.SOURCE:
                base = f"src[{self._source(ref.index)}]" if ref.index <= CURRENT else f"s{ref.index}"
            case Space.DESTINATION:
                base = f"d{ref.index}"
            case Space.AHEAD:
                base = f"ahead[{ref.index}]"
            case Space.SCRATCH:
                raise AssertionError("a C compiler spills by itself")
        return f"{base} + at" + (f" + {self.length(ref.offset)}" if ref.offset else "")

    def _source(self, index: int) -> str:
        """Return the number of a source of a rolled loop: from j on, or from j - 1 back."""
        return f"j - {1 + CURRENT - index}" if self.spec.descending else source_name(index)

    def _expression(self, instr: Instr, partial: bool) -> str:
        spelling = self.spelling
        if instr.op is Op.PREFETCH:
            assert instr.ref is not None
            return f"GFS_PREFETCH((uintptr_t){self._place(instr.ref)}, {_LOCALITY[self.spec.hint]})"
        template = spelling.expressions[instr.op]
        if partial and instr.op in STORES:
            template = spelling.partial_store
        elif partial and instr.op is Op.LOAD:
            template = spelling.partial_load
        elif self.aligned or (instr.ref is not None and instr.ref.space is Space.CONSTANT):
            template = spelling.aligned.get(instr.op, template)
        if instr.op is Op.HIGH_NIBBLE:
            assert instr.args[1] in self.masks, "no spelling masks more than the nibble"
        args = [f"v{a}" for a in instr.args]
        place = "" if instr.ref is None else self._place(instr.ref)
        return template.format(*args, place=place, immediate=instr.immediate, rest="rest")

    def _statements(self, code: tuple[Instr, ...], partial: bool) -> list[str]:
        lines = []
        for instr in code:
            if instr.result in self.masks - self.read:
                continue  # an unused variable would be a warning
            expression = self._expression(instr, partial)
            if instr.result is not None:
                expression = f"const {self._type(instr.op)} v{instr.result} = {expression}"
            lines.append(f"{expression};")
        return lines

    def _type(self, op: Op) -> str:
        return self.spelling.table if MEANING[op].result is Kind.TABLE else self.spelling.vector

    def _head(self, loop: Loop, partial: bool) -> list[str]:
        """Return the statements before a loop over the sources, or all statements if there is no such
        loop."""
        hidden = any(
            i.ref and i.ref.space in self.spelling.hidden and i.ref.index > CURRENT for i in loop.head
        )
        if partial or not hidden:
            return self._statements(loop.head, partial)
        known, self.tables = self.tables, "tables"
        lines, last = [f"const uint8_t *tables = {known};"], CURRENT
        for instr in loop.head:
            if instr.ref and instr.ref.space is Space.SOURCE and instr.ref.index != last:
                lines.append("tables = gfs_hide(tables);")
                last = instr.ref.index
            lines += self._statements((instr,), partial)
        self.tables = known
        return lines

    def _taken(self, code: tuple[Instr, ...]) -> list[str]:
        """Return the statement that advances past the prefetch pointers of a body."""
        count = pointers(code)
        return [f"ahead += {count};"] if count else []

    def addresses(self) -> list[str]:
        """Return the named pointers whose alignment decides between the two variants of the loops."""
        if not self.spelling.aligned:
            return []
        used = {ref.space for ref in self._whole_refs()}
        return [
            *(["coeffs"] if Space.COEFFICIENT in used else []),
            *(f"s{j}" for j in self._numbers(Space.SOURCE)),
            *(f"d{i}" for i in self._numbers(Space.DESTINATION)),
        ]

    @property
    def every_source(self) -> bool:
        """True if a loop over whole vectors reads the pointers of src[] one after the other."""
        return any(ref.space is Space.SOURCE and ref.index <= CURRENT for ref in self._whole_refs())

    def _whole_refs(self) -> list[Ref]:
        whole = [loop for loop in self.program.loops if loop.role is not Role.TAIL]
        return [i.ref for loop in whole for part in loop.sections() for i in part if i.ref]

    def variant(self, aligned: bool) -> list[dict[str, object]]:
        """Return the loops for any pointers, or for aligned ones."""
        self.aligned = aligned
        return [self.turn(loops) for loops in self.program.iterations()]

    def turn(self, loops: tuple[Loop, ...]) -> dict[str, object]:
        first = loops[0]
        return {
            "partial": first.role is Role.TAIL,
            "step": self.length(first.step),
            "pipelined": any(pointers(code) for loop in loops for code in loop.sections()),
            "loops": [self._loop(loop) for loop in loops],
        }

    def _loop(self, loop: Loop) -> dict[str, object]:
        assert not loop.aligned
        partial = loop.role is Role.TAIL
        return {
            "rolled": loop.rolled,
            "head": self._head(loop, partial),
            "group": loop.group,
            "start": [f"{self.spelling.vector} v{c.phi} = v{c.initial};" for c in loop.carries],
            "body": self._statements(loop.body, partial),
            "next": [f"v{c.phi} = v{c.updated};" for c in loop.carries] + self._taken(loop.body),
            "rest": self._statements(loop.rest, partial),
            "after": [f"v{c.phi} = v{c.rest};" for c in loop.carries] + self._taken(loop.rest),
            "close": self._statements(loop.close, partial),
        }


def build(spec: KernelSpec, program: Program, guard: str) -> str:
    """Return the C source of a kernel. guard: the preprocessor condition for its architecture; may be
    empty."""
    writer = _Writer(spec, program)
    return render(
        "c_kernel.c.j2",
        spec=spec,
        guard=guard,
        spelling=writer.spelling,
        turn_bytes=writer.length(spec.unroll * program.lanes),
        count="k" if spec.inputs is None else str(spec.inputs),
        stride=spec.source_stride,
        constants=writer.constants(),
        shards=writer.shards(),
        preload=writer.preload(),
        addresses=writer.addresses(),
        every_source=writer.every_source,
        aligned=writer.variant(aligned=True),
        turns=writer.variant(aligned=False),
    )
