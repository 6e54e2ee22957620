"""The straight-line program of an algebra routine: products, inverses, polynomials, bit matrices.

A Routine moves bytes between lanes, which a Program never does, so a value here is a whole vector of `width`
bytes. SELECTIONS defines the permutations, prove/algebra/symbolic.py the arithmetic, and emit/c/algebra.py
the spelling in C.

A Routine is called for one block of its arrays after another. Per call: preload; per block: head, the steps
in order, close. Every load of a block comes before its first store, so a result may replace an operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

Value = int

#: result[n] = (first operand + second operand)[selection[n]], or 0 for None.
Selection = tuple[int | None, ...]

GROUP = 16  #: bytes inside which most byte shuffles of x86 stay
WORD = 8


class Act(Enum):
    """The function of one instruction on vectors of bytes."""

    ZERO = auto()  #: all bytes 0
    CONST = auto()  #: the bytes `data`
    #: The argument `text`: "forth", "back" (matrices of an Isomorphism), "low" (its polynomial without a^8).
    ARGUMENT = auto()
    LOAD = auto()  #: bytes of array `text` at `offset` of the block
    COEFFICIENT = auto()  #: byte i of the block of array `text` in every lane, i the step's number
    ROW = auto()  #: word i of the block of array `text`
    BIT = auto()  #: all bits are bit i of the word
    STORE = auto()
    XOR = auto()
    AND = auto()
    SHIFT = auto()  #: shift of each word to the left by `immediate`, or to the right if negative
    SCALE = auto()  #: bytes 0 or 1 as integers times the second operand, whose bytes are all equal
    PRODUCT = auto()  #: the routine "product" on the lanes of two words, in the field of "low"
    MULB = auto()  #: lanes' products in GF(2)[a]/0x11b
    AFFINE = auto()  #: matrices of the second operand, one every 8 bytes, times the bytes of the first
    AFFINE_INVERSE = auto()  #: the same on inverses in GF(2)[a]/0x11b; the inverse of 0 is 0
    PERMUTE = auto()  #: the permutation SELECTIONS[text]


@dataclass(frozen=True, slots=True)
class Instr:
    """result = act(args, ...). The act determines which of the other fields are used."""

    act: Act
    result: Value | None
    args: tuple[Value, ...] = ()
    text: str = ""
    offset: int = 0
    immediate: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Step:
    """The part of a block that processes coefficient or row `index`; it turns the values `before` into
    `after`.

    before: empty if the first step starts from 0 without reading it. index None: the step is a loop; its code
    runs for i = count-1 ... 0, and `after` becomes `before`.
    """

    code: tuple[Instr, ...]
    before: tuple[Value, ...]
    after: tuple[Value, ...]
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Routine:
    """One function. operation: "product", "multiply", "invert", "matrices8", "matrices64" or "polynomials8",
    16, 32. mapped: it maps operands of another field to GF(2)[a]/0x11b and computes there.

    block: bytes of every array for one block. count: steps of a block, 0 if there are none. initial: the
    first `before` of a step that is a loop, () if there is none.
    """

    operation: str
    set: str
    width: int
    block: int
    mapped: bool
    preload: tuple[Instr, ...]
    head: tuple[Instr, ...]
    close: tuple[Instr, ...]
    steps: tuple[Step, ...] = ()
    count: int = 0
    initial: tuple[Value, ...] = ()

    @property
    def symbol(self) -> str:
        return f"gfs_{self.operation}{'_mapped' if self.mapped else ''}__{self.set}"

    @property
    def rolled(self) -> bool:
        return any(step.index is None for step in self.steps)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that are read block by block."""
        return ("a",) if self.operation == "invert" else ("a", "b")

    def instructions(self) -> Iterator[Instr]:
        yield from self.preload
        yield from self.head
        for step in self.steps:
            yield from step.code
        yield from self.close


@dataclass(frozen=True, slots=True)
class Isomorphism:
    """The maps between GF(2)[a]/polynomial and GF(2)[a]/0x11b as operands of AFFINE: row k of the matrix is
    byte 7-k, little endian."""

    polynomial: int
    forth: int
    back: int


def _shuffle(width: int, instr: Instr) -> Selection:
    """Permute each group of 16 bytes by its own part of `data`; a selector of 0x80 or more gives 0
    (pshufb)."""
    return tuple(None if t & 0x80 else n // GROUP * GROUP + (t & 15) for n, t in enumerate(instr.data))


def _next_in_words(width: int, instr: Instr) -> Selection:
    """Move bytes up by `immediate` inside words (psllq)."""
    return tuple(n - instr.immediate if n % WORD >= instr.immediate else None for n in range(width))


def _down_in_words(width: int, instr: Instr) -> Selection:
    """Move bytes down by `immediate` inside words (a shift to the right)."""
    return tuple(n + instr.immediate if n % WORD + instr.immediate < WORD else None for n in range(width))


def _next_in_groups(width: int, instr: Instr) -> Selection:
    """Move bytes up by `immediate` inside groups (pslldq)."""
    return tuple(n - instr.immediate if n % GROUP >= instr.immediate else None for n in range(width))


def _align(width: int, instr: Instr) -> Selection:
    """In each group: concatenate the first operand above the second, and move down by `immediate` bytes
    (palignr)."""
    chosen: list[int | None] = []
    for n in range(width):
        at, base = n % GROUP + instr.immediate, n // GROUP * GROUP
        chosen.append(width + base + at if at < GROUP else base + at - GROUP)
    return tuple(chosen)


def _two_groups(width: int, instr: Instr) -> Selection:
    """Select two of four groups by two bits each of `immediate`, or 0 (vperm2i128)."""
    chosen: list[int | None] = []
    for n in range(width):
        control = instr.immediate >> 4 * (n // GROUP) & 15
        chosen.append(None if control & 8 else (control & 3) * GROUP + n % GROUP)
    return tuple(chosen)


def _four_groups(width: int, instr: Instr) -> Selection:
    """Select two groups of the first operand and two of the second, by two bits each of `immediate`; keep
    only the words whose bits, from bit 8 on, are set (vshufi64x2)."""
    chosen: list[int | None] = []
    for n in range(width):
        group = n // GROUP
        source = (instr.immediate >> 2 * group & 3) * GROUP + n % GROUP + (width if group >= 2 else 0)
        chosen.append(source if instr.immediate >> 8 + n // WORD & 1 else None)
    return tuple(chosen)


def _unpack(width: int, instr: Instr) -> Selection:
    """Interleave units of `immediate` bytes of the lower or upper halves of groups (punpckl.., punpckh..)."""
    unit = abs(instr.immediate)
    start = WORD if instr.immediate < 0 else 0
    chosen: list[int | None] = []
    for n in range(width):
        at, base = n % GROUP, n // GROUP * GROUP
        operand = at // unit % 2
        chosen.append(operand * width + base + start + at // (2 * unit) * unit + at % unit)
    return tuple(chosen)


def _units(width: int, instr: Instr) -> Selection:
    """Select units of `immediate` bytes from the whole vector by the numbers in `data` (vpermw, vpermd,
    vpermq)."""
    unit = instr.immediate
    return tuple(instr.data[n // unit] * unit + n % unit for n in range(width))


def _spread(width: int, instr: Instr) -> Selection:
    """Repeat byte `immediate` of a word in all of its bytes."""
    return (instr.immediate,) * width


#: The permutations by name, as functions that return the Selection.
SELECTIONS: dict[str, Callable[[int, Instr], Selection]] = {
    "shuffle": _shuffle,
    "next_in_words": _next_in_words,
    "down_in_words": _down_in_words,
    "next_in_groups": _next_in_groups,
    "align": _align,
    "two_groups": _two_groups,
    "four_groups": _four_groups,
    "unpack": _unpack,
    "units": _units,
    "spread": _spread,
}
