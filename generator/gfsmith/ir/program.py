"""The vector program of a kernel, independent of any instruction set's spelling.

A Program is in static single assignment form. Every Value is one vector whose byte lanes all undergo the same
computation, so the effect on a single lane describes an Op completely (meaning.py).

A Program is a list of loops run one after the other over the byte range [0, len):

    for each Loop: while it applies to the bytes that remain:
        head; for every `group` source shards (rolled loops only): body; for each of the fewer than
        `group` shards that remain: rest; close; advance by `step`

An iteration may consist of several loops: all but the first are `joined` to the loop before them. They run in
the same iteration, for their own offsets in its `step` bytes or their own outputs, and the position advances
after the last of them.

A BLOCK loop applies while at least `step` bytes remain. The TAIL loops form the last iteration, which runs at
most once with the 1 .. lanes-1 bytes that remain; their loads and stores touch exactly those bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

Value = int


class Op(Enum):
    """A vector operation. MEANING has its semantics, emit/ its spelling."""

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
    """The memory area of a reference."""

    SOURCE = auto()
    DESTINATION = auto()
    COEFFICIENT = auto()
    CONSTANT = auto()
    SCRATCH = auto()
    AHEAD = auto()


#: Index of the current source shard of a rolled loop; the n-th source after it has index CURRENT - n.
CURRENT = -1


def pointers(code: Iterable[Instr]) -> int:
    """Return the number of AHEAD pointers that some code reads."""
    return sum(i.ref is not None and i.ref.space is Space.AHEAD for i in code)


def source_name(index: int) -> str:
    """Return the printed number of a shard: j, j+1, ... relative to a rolled loop's source."""
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
    AHEAD: the target of a pointer in src[] after the pointers to the shards, at the iteration's position, for
    PREFETCH only. In a rolled loop, PREFETCH is in the body: an iteration over the byte range starts with the
    first of these pointers, each iteration of a body reads as many as it has such instructions, and `index`
    numbers those. In a loop unrolled over its sources, `index` is the number of the pointer.
    """

    space: Space
    index: int
    offset: int
    output: int = 0


@dataclass(frozen=True, slots=True)
class Instr:
    """result = op(args, *ref, immediate). copy: the unrolled copy of the instruction."""

    op: Op
    result: Value | None
    args: tuple[Value, ...] = ()
    ref: Ref | None = None
    immediate: int = 0
    copy: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Carry:
    """A value carried around a rolled loop: `phi` is `initial` on entry, `updated` after an iteration of the
    body and `rest` after an iteration of the rest, if there is one.

    After the loop, `phi` is the final value.
    """

    phi: Value
    initial: Value
    updated: Value
    rest: Value | None = None

    def names(self) -> tuple[Value, ...]:
        """Return all values that represent the carried variable."""
        every = (self.phi, self.initial, self.updated)
        return every if self.rest is None else (*every, self.rest)

    def map(self, rename: Callable[[Value], Value]) -> Carry:
        rest = None if self.rest is None else rename(self.rest)
        return Carry(rename(self.phi), rename(self.initial), rename(self.updated), rest)


class Role(Enum):
    """The bytes that a loop handles: whole blocks, or the tail, which is shorter than one vector."""

    BLOCK = auto()
    TAIL = auto()


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop over the byte range; see the module's docstring.

    step: bytes of every shard that one iteration handles (BLOCK), or the vector width in bytes (TAIL).
    aligned: the loop runs only if every destination is aligned to the vector width.
    body, carries: the part of a rolled loop for `group` sources; empty in a loop unrolled over its sources.
    rest: the same part for a single source, for sources that do not fill a group; empty if group is 1.
    joined: part of the same iteration as the loop before it, with the same step.
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
    """A vector program. preload: runs once per call; its values are visible in every loop. constants: bytes
    that ship with the code."""

    lanes: int
    preload: tuple[Instr, ...]
    loops: tuple[Loop, ...]
    constants: bytes = b""

    def instructions(self) -> Iterator[Instr]:
        yield from self.preload
        for loop in self.loops:
            for section in loop.sections():
                yield from section

    def iterations(self) -> list[tuple[Loop, ...]]:
        """Return the loops of each iteration: one that is not joined, and those that are joined to it."""
        found: list[tuple[Loop, ...]] = []
        for loop in self.loops:
            found[-1:] = [(*found[-1], loop)] if loop.joined and found else [*found[-1:], (loop,)]
        return found

    @property
    def slots(self) -> int:
        """Number of vectors in the kernel's frame."""
        spilled = (i.ref.index for i in self.instructions() if i.op is Op.SPILL and i.ref is not None)
        return 1 + max(spilled, default=-1)
