"""Routines of gfsmith_checksum.h: of sets with a carry-less multiplication, with crc32 instructions, and of
words.

The messages of many shards side by side have a cache line each: the shards give the independent operations
that a single sequence takes from a longer message.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from gfsmith.field.checksum import CHECKSUMS
from gfsmith.ir.folding import (
    ENCODES,
    FIRSTS,
    GROUP,
    LEADS,
    LINE,
    NIBBLES,
    STEPS,
    WORD,
    WORDS,
    Act,
    Instr,
    Routine,
    Value,
)
from gfsmith.lower.checksum.code import WIDTHS, Code
from gfsmith.lower.checksum.loop import led, loop
from gfsmith.lower.checksum.reduction import divided
from gfsmith.lower.checksum.tables import INSTRUCTIONS, REGISTER
from gfsmith.lower.checksum.updates import updates

#: Sets with stores around the cache.
_STREAMING = ("vpclmulqdq_avx512", "vpclmulqdq_avx2", "pclmulqdq")

#: Sets with loads of any number of bytes, and moves of so many bytes to the end of a vector.
_MASKED = ("vpclmulqdq_avx512",)

#: Sets with products by a matrix of bits, which reflected checks have in the loop that folds.
_ENCODING = ("vpclmulqdq_avx512",)

#: The loops for one check, which advance some sources by its crc32 instruction: (operation, set) -> check.
#: With fewer destinations the multiplications do not bind.
_STEPPING = {("encode4", "vpclmulqdq_avx512"): "CRC32C"}

#: Lines of a shard in a step of such a loop: they share a load and a store of the message.
_LINES = 2

#: Sets that have vectors in general registers, too few for more than a line.
_GENERAL = ("zbc",)

#: Independent vectors: a fold takes 2 instructions of a unit that starts one a cycle, and 6 to 9 cycles.
_VECTORS = 8


def _fold_routine(operation: str, set_: str, reflected: bool) -> Routine:
    code = Code.of(set_, reflected)
    copied = operation == "fold_copy"
    offsets = range(0, LINE, code.width)
    head = code.section()
    constants = code.constants(LINE)
    before = [code.load("message", offset) for offset in offsets]
    body = code.section()
    if operation == "fold_line":
        body.append(Instr(Act.PREFETCH, None))
    pairs = zip(before, offsets, strict=True)
    after = [code.fold(value, constants, code.load("data", at, copied)) for value, at in pairs]
    close = code.section()
    for value, offset in zip(before, offsets, strict=True):
        code.store(value, offset)
    parts = tuple(head), tuple(body), tuple(close)
    return Routine(operation, set_, reflected, LINE, *parts, before=tuple(before), after=tuple(after))


def _encode_routine(operation: str, set_: str, check: str = "") -> Routine:
    code = Code.of(set_, reflected=True)
    head = code.section()
    constants = code.constants(LINE)
    value = before = code.load("message", 0)
    body = code.section()
    data = [code.load("data", LINE * n) for n in range(_LINES)]
    for line in data:
        value = code.fold(value, constants, line)
    close = code.section()
    code.store(before, 0)
    parts = tuple(head), tuple(body), tuple(close)
    words = _step_code(check, WORD) if check else ()
    block, carried = _LINES * LINE, ((before,), (value,))
    return Routine(operation, set_, True, block, *parts, *carried, check=check, words=words)


def _group_routine(set_: str, reflected: bool) -> Routine:
    code = Code(reflected, GROUP)
    head = code.section()
    words = ("low", "high") if reflected else ("high", "low")
    first, second = (
        code.add(Act.FIRST, text=word, offset=n)
        for word, n in zip(words, (0, 0 if reflected else 1), strict=True)
    )
    code.add(Act.RESULT, divided(code, first, second, 0))
    return Routine("group", set_, reflected, GROUP, tuple(head))


def _reduce_routine(operation: str, set_: str, reflected: bool, block: int) -> Routine:
    code = Code.of(set_, reflected)
    code.section()
    before = [code.load("message", offset) for offset in range(0, block, code.width)]
    before[0] = code.started(before[0], code.width)
    return loop(code, operation, set_, block, block, before)


def _padded(code: Code, groups: int, start: int, width: int) -> Value:
    """Return `width` bytes from byte `start` on of a line: zeros, then a number of groups of data, onto which
    the first group is folded, and to which the register is added."""
    data = start - (LINE - GROUP * groups)
    if data + width <= 0:
        return code.add(Act.ZERO, width=width)
    if data > 0:
        return code.load("message", data, width=width)
    if width == GROUP:
        return code.after_first(code.started(code.load("message", data, width=width), width))
    halves = [_padded(code, groups, at, width // 2) for at in (start, start + width // 2)]
    return code.add(Act.JOIN, *halves, width=width)


def _reduce_line_routine(operation: str, groups: int, set_: str, reflected: bool) -> Routine:
    code = Code.of(set_, reflected)
    code.section()
    lead = GROUP * groups or LINE
    before = [_padded(code, lead // GROUP, at, code.width) for at in range(0, LINE, code.width)]
    return loop(code, operation, set_, LINE, lead, before)


def _lead_routine(operation: str, set_: str, reflected: bool) -> Routine:
    code, count = Code(reflected, WIDTHS[set_]), LEADS[operation]
    code.section()
    value = led(code, count, code.add(Act.START, offset=0 if reflected else 1))
    return loop(code, operation, set_, LINE, count, [value])


def _sum(code: Code, values: list[Value]) -> Value:
    """Return the sum as a balanced tree."""
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=True)
        values = [code.add(Act.XOR, x, y) for x, y in pairs]
    return values[0]


def _word_routine(reflected: bool) -> Routine:
    code = Code(reflected)
    head = code.section()
    word = code.add(Act.XOR, code.add(Act.STATE), code.add(Act.WORD, width=WORD))
    looked = [code.add(Act.LOOKUP, word, text=str(n), offset=n) for n in range(NIBBLES)]
    code.add(Act.RESULT, _sum(code, looked))
    return Routine("word", WORDS, reflected, WORD, tuple(head))


def _byte_routine(reflected: bool) -> Routine:
    """The first byte of a register leaves it, and is looked up as the last byte of a word."""
    code = Code(reflected)
    head = code.section()
    state, byte = code.add(Act.STATE), code.add(Act.BYTE)
    first = state if reflected else code.add(Act.SHIFT, state, offset=8 - REGISTER)
    index = code.add(Act.XOR, first, byte)
    tables_ = (NIBBLES - 2, NIBBLES - 1) if reflected else (0, 1)
    looked = [code.add(Act.LOOKUP, index, text=str(table), offset=n) for n, table in enumerate(tables_)]
    rest = code.add(Act.SHIFT, state, offset=-8 if reflected else 8)
    code.add(Act.RESULT, code.add(Act.XOR, rest, *looked))
    return Routine("byte", WORDS, reflected, 1, tuple(head))


def _step_code(check: str, size: int) -> tuple[Instr, ...]:
    code = Code(True)
    head = code.section()
    data = code.add(Act.WORD, width=size)
    code.add(Act.RESULT, code.add(Act.CRC, code.add(Act.STATE), data, text=check, offset=size, width=WORD))
    return tuple(head)


def _step_routine(set_: str, check: str, size: int) -> Routine:
    return Routine(STEPS[size], set_, True, size, _step_code(check, size), check=check)


def routines() -> Iterator[Routine]:
    """Return the routines of every set and of words, in both orders that checks have."""
    for reflected in sorted({check.reflected for check in CHECKSUMS}):
        yield _word_routine(reflected)
        yield _byte_routine(reflected)
        for set_, width in WIDTHS.items():
            block = LINE if set_ in _GENERAL else _VECTORS * width
            yield _reduce_routine("reduce", set_, reflected, block)
            if block != LINE:
                yield _reduce_routine("reduce_lines", set_, reflected, LINE)
            for groups, operation in enumerate(FIRSTS):
                yield _reduce_line_routine(operation, groups, set_, reflected)
            if set_ in _MASKED:
                yield from (_lead_routine(operation, set_, reflected) for operation in LEADS)
            yield _fold_routine("fold_line", set_, reflected)
            if set_ in _STREAMING:
                yield _fold_routine("fold_copy", set_, reflected)
            yield _group_routine(set_, reflected)
    for set_ in _MASKED:
        yield from updates(set_)
    for set_ in _ENCODING:
        yield from (_encode_routine(operation, set_) for operation in ENCODES)
    yield from (_encode_routine(operation, set_, check) for (operation, set_), check in _STEPPING.items())
    for set_, checks in INSTRUCTIONS.items():
        for check, size in product(checks, STEPS):
            yield _step_routine(set_, check, size)
