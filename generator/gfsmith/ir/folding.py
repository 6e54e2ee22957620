"""The program of a checksum routine: messages become shorter and keep their remainder.

A value is a vector of bytes, in the order of the message, or a register of 64 bits. prove/checksum/ defines
the effect of every Act on bits, emit/c/checksum_spelling.py its spelling in C.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from string import digits

Value = int

LINE = 64  #: bytes of a cache line, and of the message of a shard that is checked piece by piece
GROUP = 16  #: bytes of the operands of a carry-less multiplication and of its result
WORD = 8
NIBBLE = 4
NIBBLES = 16  #: of a word
WORDS = "words"  #: the set of every machine

#: Distances in bytes over which routines fold. A table of constants has one pair for each.
DISTANCES = tuple(GROUP << n for n in range(6))

#: Bytes of the data of a crc32 instruction -> the operation that has it, longest first.
STEPS = {WORD: "word", 4: "half", 2: "quarter", 1: "byte"}


#: The operations that begin with the group of two words, by the number of groups before whole lines.
FIRSTS = tuple(f"reduce_line{groups}" for groups in range(LINE // GROUP))


#: The operations that begin with the first bytes of a line, by their number: a register fits into them.
LEADS = {f"bytes{count}": count for count in range(WORD, LINE + 1)}

#: The functions that change a checksum in memory -> the numbers of bytes that they read before their loop.
#: The last two also read whole lines there: "few" one behind less than a word, and "wide" as many as make
#: four with the first bytes, and up to three that take the place of the first of these.
UPDATED = {
    "group": range(WORD, GROUP + 1),
    "half": range(GROUP + 1, LINE // 2 + 1),
    "bytes": range(WORD, LINE + 1),
    "few": range(LINE + 1, LINE + WORD),
    "wide": range(3 * LINE + 1, 7 * LINE + 1),
}
WIDE = 4  #: lines of a block of "wide"

#: The operations that these functions have -> the bytes before their loop.
UPDATES = {f"update_{name}{lead}": lead for name, leads in UPDATED.items() for lead in leads}

#: Those that begin with whole vectors -> bytes of a block.
UPDATES_OF_BLOCKS = {"update_lines": LINE, "update_blocks": 4 * LINE}


#: The operations that also encode -> their numbers of destinations.
ENCODES = {f"encode{outputs}": outputs for outputs in range(1, 5)}

#: The sources of every whole ENCODED_GROUP that those for one check advance by words, by crc32 instructions.
STEPPED, ENCODED_GROUP = (1, 5), 8


class Act(Enum):
    """The function of one instruction."""

    LOAD = auto()  #: `width` bytes of array `text` at `offset`
    LEADING = auto()  #: the first `offset` bytes of array `text`, then zeros
    BEHIND = auto()  #: the first `offset` bytes of a vector behind zeros
    AHEAD = auto()  #: a vector without its first `offset` bytes, then zeros
    FIRST = auto()  #: word `text` of the first group, "low" or "high", as word `offset`; the other word is 0
    ZERO = auto()  #: a vector of zeros
    JOIN = auto()  #: two vectors as the halves of one
    STORE = auto()  #: to array "message" at `offset`
    STREAM = auto()  #: to array "copy" at `offset`, around the cache
    PREFETCH = auto()  #: the line `ahead` bytes behind the data into the second-level cache
    CONSTANTS = auto()  #: in every group, the two words of the table for distance `offset`
    LANES = auto()  #: the words of the table for the last `width` bytes of a line, two for each group
    REDUCTION = auto()  #: in every group, the two words of the table's constants of a reduction
    CLMUL = auto()  #: in every group, word `offset` times word `offset` over GF(2)[x], 128 bits
    CLMUL_SUM = auto()  #: in every group, the sum of the products of words 0 and of words 1, 128 bits
    CROSS = auto()  #: word `offset` of a group times word 1 - `offset` of constants over GF(2)[x], 128 bits
    SLIDE = auto()  #: word 1 - `offset` of a group as word `offset`; the other word is 0
    EXTRACT = auto()  #: word `offset` of a group as a register
    XOR = auto()  #: of two or three operands
    REVERSE = auto()  #: the bytes of every group in reversed order
    HALF = auto()  #: half `offset` of a vector of 2 `width` bytes; 0: the first bytes
    START = auto()  #: the register before, or a number, as word `offset` of a vector; the other words are 0
    STATE = auto()  #: the register before, or the checksum before
    ONES = auto()  #: the first register and the final sum, as a checksum
    WORD = auto()  #: the next `width` bytes as a number; reflected: the first is the lowest; else the last
    CRC = auto()  #: the register after `offset` bytes, given as a number, by the crc32 instruction `text`
    BYTE = auto()  #: the next byte as a number
    SHIFT = auto()  #: a register shifted by `offset` bits to the left, or to the right if negative
    LOOKUP = auto()  #: entry of table `text` for nibble `offset` of a number; nibble 0 is the lowest
    RESULT = auto()  #: the register after, or the checksum after


@dataclass(frozen=True, slots=True)
class Instr:
    """result = act(args, ...). The act determines which of the other fields are used."""

    act: Act
    result: Value | None
    args: tuple[Value, ...] = ()
    text: str = ""
    offset: int = 0
    width: int = 0


@dataclass(frozen=True, slots=True)
class Routine:
    """One step on messages, for checks of one order of bits.

    operation:
    - "reduce", "reduce_lines": a register, then blocks of data, one at least, become the register after
      them; head and close are outside of the loop over the data, which turns the values `before` into `after`
    - FIRSTS: the group of two words, then a register that is added to the bytes behind it, then groups of
      data become the register after them; the name has the number of groups modulo that of a line
    - LEADS: a register, then as many bytes as the name has, then lines, become the register after them; one
      function has all of them
    - UPDATES, UPDATES_OF_BLOCKS: the same, for the checksum at an address instead of a register; one function
      has all of UPDATES with a name of UPDATED
    - "fold_line": a message of LINE bytes and LINE bytes of data become a message of LINE bytes, for each of
      several shards, with such a loop; it prefetches data of a later call
    - "fold_copy": the same, but instead of prefetching it copies the data, around the cache
    - ENCODES: a message of LINE bytes and `block` bytes of data become a message of LINE bytes. The function
      has such a step for each source, and for each destination, the bytes of which it computes and stores;
      its loop over the steps is around those over the shards. With `words`, the code of a crc32 instruction
      for a word, the sources STEPPED have a register in the first bytes of their messages instead
    - "group": the group of two words becomes the register after it
    - "word", "half", "quarter", "byte": `block` bytes of data change the register

    check: the name of the only check that has the routine; "": all checks of this order. lead: bytes of data
    that are read before the loop, as array "message". window: the values of a block in the head that lines
    behind it change one by one: the first leaves, the others move on, and the line onto which the first was
    folded is the last. between: the place in the head of the instructions that do so.
    """

    operation: str
    set: str
    reflected: bool
    block: int
    head: tuple[Instr, ...]
    body: tuple[Instr, ...] = ()
    close: tuple[Instr, ...] = ()
    before: tuple[Value, ...] = ()
    after: tuple[Value, ...] = ()
    check: str = ""
    lead: int = 0
    window: tuple[Value, ...] = ()
    between: int = 0
    words: tuple[Instr, ...] = ()

    @property
    def order(self) -> str:
        return "reflected" if self.reflected else "normal"

    @property
    def symbol(self) -> str:
        return f"gfs_{self.operation}_{self.check.lower() or self.order}__{self.set}"

    @property
    def function(self) -> str:
        """The name of the compiled function that has the routine."""
        if self.operation in STEPS.values() or self.operation in LEADS:
            return f"gfs_bytes_{self.check.lower() or self.order}__{self.set}"
        return f"gfs_{self.member}_{self.check.lower() or self.order}__{self.set}"

    @property
    def updates(self) -> bool:
        """True for a routine that changes the checksum at an address."""
        return self.operation in UPDATES or self.operation in UPDATES_OF_BLOCKS

    @property
    def first(self) -> int:
        """The bytes before whole lines, 1 to LINE, of those that are read before the loop."""
        return (self.lead - 1) % LINE + 1

    @property
    def member(self) -> str:
        """The operation, or for UPDATES the name of their function."""
        return self.operation.rstrip(digits) if self.operation in UPDATES else self.operation

    def serves(self, check: str, reflected: bool) -> bool:
        return self.reflected == reflected and self.check in ("", check)

    def instructions(self) -> Iterator[Instr]:
        yield from self.head
        yield from self.body
        yield from self.close


@dataclass(frozen=True, slots=True)
class Tables:
    """The numbers that depend on P. Registers and words are modulo P x^(64 - degree).

    title: the usual name of the check. bits: of a checksum. ones: the first register and the final XOR, as a
    checksum. modulus: P without its highest term, as a register. instruction: the name of the check if some
    CPU has a crc32 instruction for it.
    folds: for each of DISTANCES, the constants of word 0 and of word 1. lanes: for each group of a line, the
    constants of both words, by which the sum of all products is the line times x^64. slices[i][v]: the
    register after a word that is 0 but for v in its nibble i. powers[i]: x^(8 2^i) modulo P, bit j the
    coefficient of x^j.
    reduction: with m the quotient of x^128 by P, in a reflected check the quotient of m by x, and the
    modulus; else the modulus, and m without its highest term.
    """

    title: str
    bits: int
    reflected: bool
    ones: int
    modulus: int
    instruction: str
    reduction: tuple[int, int]
    folds: tuple[tuple[int, int], ...]
    lanes: tuple[tuple[int, int], ...]
    slices: tuple[tuple[int, ...], ...]
    powers: tuple[int, ...]
