"""The vector program: what a kernel computes, apart from how any instruction set spells it.

A Program is in static single assignment form. Every Value is one vector whose byte lanes all undergo
the same computation, so an Op is fully described by what it does to a single lane, which meaning.py says.

A Program is a list of loops run one after the other over the byte range [0, len):

    for each Loop: while it applies to the bytes that remain:
        head; for every `group` source shards (rolled loops only): body; for each of the fewer than
        `group` that are left: rest; close; advance by `step`

A turn may be made of several loops: all but the first are `joined` to the one before them, run in the same
turn, at offsets of their own in the turn's `step` bytes, and the position advances after the last of them.

A BLOCK loop applies while at least `step` bytes remain. The TAIL loop comes last and runs at most once
with the 1 .. lanes-1 bytes that remain; its loads and stores touch exactly those bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

Value = int


class Op(Enum):
    """A vector operation: what it means is in MEANING, how it is spelled is in emit/."""

    ZERO = auto()
    CONST = auto()
    LOAD = auto()
    TABLE = auto()
    MATRIX = auto()
    COLUMN = auto()
    XOR = auto()
    XOR3 = auto()
    AND = auto()
    HIGH_NIBBLE = auto()
    TWICE = auto()
    CHOOSE = auto()
    BIT = auto()
    LOOKUP = auto()
    LOOKUP_LOW = auto()
    LOOKUP2 = auto()
    AFFINE = auto()
    MULB = auto()
    SCALE = auto()
    STORE = auto()
    STREAM = auto()
    SPILL = auto()
    RELOAD = auto()
    PREFETCH = auto()


STORES = frozenset({Op.STORE, Op.STREAM})
LOADS = frozenset({Op.LOAD, Op.TABLE, Op.MATRIX, Op.COLUMN})


class Space(Enum):
    """What a memory reference points into."""

    SOURCE = auto()
    DESTINATION = auto()
    COEFFICIENT = auto()
    CONSTANT = auto()
    SCRATCH = auto()
    AHEAD = auto()


#: Index of the source shard that a rolled loop is at; that of the n-th source after it is CURRENT - n.
CURRENT = -1


def pointers(code: Iterable[Instr]) -> int:
    """How many pointers behind those of the shards some code takes."""
    return sum(i.ref is not None and i.ref.space is Space.AHEAD for i in code)


def source_name(index: int) -> str:
    """A shard's number as a person reads it: j, j+1, ... relative to a rolled loop's source."""
    if index > CURRENT:
        return str(index)
    return "j" if index == CURRENT else f"j+{CURRENT - index}"


@dataclass(frozen=True, slots=True)
class Ref:
    """A memory reference.

    SOURCE, DESTINATION: byte `offset` after the loop's position in shard number `index`.
    COEFFICIENT: byte `offset` of the table entry for source `index` and output `output`.
    CONSTANT: byte `offset` of the Program's constants.
    SCRATCH: slot number `index` of the kernel's frame, one vector each.
    AHEAD: what a pointer of src[] behind those of the shards points to, at the turn's position: only good for
    PREFETCH in a body. A turn takes these pointers from the first one on, and each turn of a body as many as
    it has such instructions; `index` numbers those.
    """

    space: Space
    index: int
    offset: int
    output: int = 0


@dataclass(frozen=True, slots=True)
class Instr:
    """result = op(args, *ref, immediate). `copy` numbers the unrolled copy it belongs to."""

    op: Op
    result: Value | None
    args: tuple[Value, ...] = ()
    ref: Ref | None = None
    immediate: int = 0
    copy: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Carry:
    """A value carried around a rolled loop: `phi` is `initial` on entry, `updated` after a turn of the
    body and `rest` after a turn of the rest, if there is one.

    After the loop, `phi` is the final value.
    """

    phi: Value
    initial: Value
    updated: Value
    rest: Value | None = None

    def names(self) -> tuple[Value, ...]:
        """All that stand for one variable."""
        every = (self.phi, self.initial, self.updated)
        return every if self.rest is None else (*every, self.rest)

    def map(self, rename: Callable[[Value], Value]) -> Carry:
        rest = None if self.rest is None else rename(self.rest)
        return Carry(rename(self.phi), rename(self.initial), rename(self.updated), rest)


class Role(Enum):
    """Which bytes a loop takes: whole blocks, or the rest that is smaller than one vector."""

    BLOCK = auto()
    TAIL = auto()


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop over the byte range; see the module's docstring.

    step: bytes of every shard that one turn handles (BLOCK), or the vector width in bytes (TAIL).
    aligned: the loop runs only if every destination is aligned to the vector width.
    body, carries: the part of a rolled loop that takes `group` sources; empty in a loop unrolled over its
    sources. rest: the same for one source, for what a group does not fill; empty if group is 1.
    joined: part of the same turn as the loop before it, whose step it has.
    """

    role: Role
    step: int
    head: tuple[Instr, ...]
    body: tuple[Instr, ...] = ()
    carries: tuple[Carry, ...] = ()
    close: tuple[Instr, ...] = ()
    aligned: bool = False
    group: int = 1
    rest: tuple[Instr, ...] = ()
    joined: bool = False

    @property
    def rolled(self) -> bool:
        return bool(self.body)

    def sections(self) -> Iterator[tuple[Instr, ...]]:
        yield self.head
        yield self.body
        yield self.rest
        yield self.close


@dataclass(frozen=True, slots=True)
class Program:
    """preload runs once per call; its values are visible in every loop. constants: bytes that ship with
    the code."""

    lanes: int
    preload: tuple[Instr, ...]
    loops: tuple[Loop, ...]
    constants: bytes = b""

    def instructions(self) -> Iterator[Instr]:
        yield from self.preload
        for loop in self.loops:
            for section in loop.sections():
                yield from section

    def turns(self) -> list[tuple[Loop, ...]]:
        """The loops of each turn: one that is not joined, and those that are joined to it."""
        found: list[tuple[Loop, ...]] = []
        for loop in self.loops:
            found[-1:] = [(*found[-1], loop)] if loop.joined and found else [*found[-1:], (loop,)]
        return found

    @property
    def slots(self) -> int:
        """Vectors that the kernel keeps in its frame."""
        spilled = (i.ref.index for i in self.instructions() if i.op is Op.SPILL and i.ref is not None)
        return 1 + max(spilled, default=-1)
