"""Routines of gfsmith_checksum.h, and their constants from the polynomial (sympy).

Folding: a message (H x^64 + L) x^D + rest, with H and L of 64 bits, has modulo P the remainder of

    H (x^(D+64) mod P) + L (x^D mod P) + rest,

two carry-less multiplications by constants (V. Gopal et al., "Fast CRC computation for generic polynomials
using PCLMULQDQ instruction", Intel, 2009). So the first of two parts of a message disappears into the second.
A loop folds `block` bytes at a time over that distance; then halves are folded until 16 bytes are left.
The messages of many shards side by side have a cache line each: the shards give the independent operations
that a single sequence takes from a longer message.

In a reflected check, bit i of a word is the coefficient of x^(63-i), and the carry-less product of two such
words is the reflected product times x: the constants are those of D - 1.

Every P is taken times x^(64 - degree), so that registers of all checks have 64 bits.

In a vector of several groups all words are multiplied at once, each by its own constant x^(D+128) or
x^(D+64) mod P, and the products are added: the sum is A x^64 + B with the remainder of the vector times x^64.
A constant for each group of a vector is the method of ISA-L, which folds onto the last group.

Reduction: the register after 16 bytes H x^64 + L is (H x^128 + L x^64) mod P. One multiplication folds H and
leaves A x^64 + B. With m the quotient of x^128 by P, the quotient of A x^64 by P is that of A m by x^64 (P.
Barrett's method, exact over GF(2)[x]), and the register is B plus the low word of quotient times P. The
product of two reflected words has a factor x: the quotient of m by x takes the place of m, and the product
with P is shifted by a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice, product

from gfsmith.field.checksum import CHECKSUMS, Checksum
from gfsmith.ir.folding import (
    DISTANCES,
    FIRSTS,
    GROUP,
    LEADS,
    LINE,
    NIBBLE,
    NIBBLES,
    STEPS,
    UPDATED,
    UPDATES_OF_BLOCKS,
    WIDE,
    WORD,
    WORDS,
    Act,
    Instr,
    Routine,
    Tables,
    Value,
)

#: Sets with stores around the cache.
_STREAMING = ("vpclmulqdq_avx512", "vpclmulqdq_avx2", "pclmulqdq")

#: Sets with loads of any number of bytes, and moves of so many bytes to the end of a vector.
_MASKED = ("vpclmulqdq_avx512",)

#: The checks that have updates of their own there, by a crc32 instruction or normal; "": all reflected ones.
_UPDATED = ("", "CRC32C", "CRC16_T10")

#: Sets with a carry-less multiplication -> bytes of a vector, widest first.
WIDTHS = {
    "vpclmulqdq_avx512": 64,
    "vpclmulqdq_avx2": 32,
    "pclmulqdq": 16,
    "pmull": 16,
    "vpmsumd": 16,
    "zbc": 16,
}

#: Sets whose multiplication adds the products of both words of a group.
_SUMMED = ("vpmsumd",)

#: Sets that have vectors in general registers, too few for more than a line.
_GENERAL = ("zbc",)

#: Sets with crc32 instructions -> the checks that have one.
INSTRUCTIONS = {"sse42": ("CRC32C",), "crc": ("CRC32C", "CRC32")}

#: Independent vectors: a fold takes 2 instructions of a unit that starts one a cycle, and 6 to 9 cycles.
_VECTORS = 8
_REGISTER = 64
_LENGTHS = 64  #: bits of a length in bytes


class _Powers:
    """Polynomials modulo P x^shift, as coefficients from the highest on."""

    def __init__(self, check: Checksum, shift: int) -> None:
        from sympy import ZZ
        from sympy.polys import galoistools

        self._ring, self._tools = ZZ, galoistools
        self._modulus = self._dense(check.modulus << shift)

    def _dense(self, polynomial: int) -> list[int]:
        return [self._ring(int(digit)) for digit in f"{polynomial:b}"]

    def product(self, left: int, right: int) -> int:
        """Return a product of polynomials as numbers whose bit i is the coefficient of x^i."""
        whole = self._tools.gf_mul(self._dense(left), self._dense(right), 2, self._ring)
        rest = self._tools.gf_rem(whole, self._modulus, 2, self._ring)
        return sum(int(c) << i for i, c in enumerate(reversed(rest)))

    def quotient(self) -> int:
        """Return the quotient of x^128 by P."""
        power = [self._ring(1), *[self._ring(0)] * 2 * _REGISTER]
        whole = self._tools.gf_quo(power, self._modulus, 2, self._ring)
        return sum(int(c) << i for i, c in enumerate(reversed(whole)))

    def multiples(self, first: int, factor: int, count: int) -> list[int]:
        """Return first, first factor, first factor^2, ..."""
        values = [first]
        for _ in range(count - 1):
            values.append(self.product(values[-1], factor))
        return values

    def squares(self, first: int, count: int) -> list[int]:
        """Return first, first^2, first^4, ..."""
        values = [first]
        for _ in range(count - 1):
            values.append(self.product(values[-1], values[-1]))
        return values


_X = 2  #: the polynomial x


def _number(check: Checksum, polynomial: int) -> int:
    """Return a polynomial of degree below 64 as a word in the order of the check."""
    return int(f"{polynomial:064b}"[::-1], 2) if check.reflected else polynomial


def _folds(check: Checksum, powers: _Powers) -> tuple[tuple[int, int], ...]:
    """Return the constants of both words of a group for every distance D in bits: x^D and x^(D+64), or in a
    reflected check x^(D+63) and x^(D-1). The distances are 128, 256, ..."""
    half = 1 << _REGISTER - 1  # x^63
    top = powers.product(half, _X)
    low = powers.product(top, half if check.reflected else top)
    folds = []
    for _ in DISTANCES:
        pair = _number(check, low), _number(check, powers.product(low, top))
        folds.append(pair[::-1] if check.reflected else pair)
        low = powers.product(low, low)
        if check.reflected:
            low = powers.product(low, _X)  # x^(2D-1)
    return tuple(folds)


def _lanes(check: Checksum, powers: _Powers) -> tuple[tuple[int, int], ...]:
    """Return the constants of both words of each group of a line. With D bits behind it they are x^(D+64) and
    x^(D+128), or in a reflected check x^(D+127) and x^(D+63)."""
    half = 1 << _REGISTER - 1  # x^63
    top = powers.product(half, _X)
    lows = powers.multiples(half if check.reflected else top, powers.product(top, top), LINE // GROUP)
    pairs = [(_number(check, low), _number(check, powers.product(low, top))) for low in reversed(lows)]
    return tuple(pair[::-1] if check.reflected else pair for pair in pairs)


def _slices(check: Checksum, powers: _Powers) -> tuple[tuple[int, ...], ...]:
    """Return the tables of all nibbles. The coefficient of x^i of a word contributes x^(64+i)."""
    terms = powers.multiples(powers.product(1 << _REGISTER - 1, _X), _X, _REGISTER)
    bits = [_number(check, term) for term in (reversed(terms) if check.reflected else terms)]
    slices = []
    for nibble in range(NIBBLES):
        entries = [0]
        for bit in bits[nibble * NIBBLE : (nibble + 1) * NIBBLE]:
            entries += [entry ^ bit for entry in entries]
        slices.append(tuple(entries))
    return tuple(slices)


def _reduction(check: Checksum, powers: _Powers, modulus: int) -> tuple[int, int]:
    """Return the constants of the reduction of a group."""
    quotient = powers.quotient()
    if check.reflected:
        return _number(check, quotient >> 1), modulus
    return modulus, quotient ^ 1 << _REGISTER


@cache
def tables(check: Checksum) -> Tables:
    aligned = _Powers(check, _REGISTER - check.degree)
    modulus = _number(check, check.polynomial << _REGISTER - check.degree)
    instructed = any(check.name in checks for checks in INSTRUCTIONS.values())
    lengths = tuple(_Powers(check, 0).squares(1 << WORD, _LENGTHS))
    return Tables(
        title=check.title,
        bits=check.degree,
        reflected=check.reflected,
        ones=check.ones,
        modulus=modulus,
        instruction=check.name if instructed else "",
        reduction=_reduction(check, aligned, modulus),
        folds=_folds(check, aligned),
        lanes=_lanes(check, aligned),
        slices=_slices(check, aligned),
        powers=lengths,
    )


class _Code:
    """Instructions under construction. `at` is the section that receives them."""

    def __init__(self, reflected: bool, width: int = 0, summed: bool = False) -> None:
        self.reflected, self.width, self.summed = reflected, width, summed
        self.at: list[Instr] = []
        self._next = 0

    @classmethod
    def of(cls, set_: str, reflected: bool) -> _Code:
        """Return the code of a set on whole vectors."""
        return cls(reflected, WIDTHS[set_], set_ in _SUMMED)

    def section(self) -> list[Instr]:
        self.at = []
        return self.at

    def add(self, act: Act, *args: Value, text: str = "", offset: int = 0, width: int = 0) -> Value:
        self._next += 1
        self.at.append(Instr(act, self._next, args, text, offset, width or self.width))
        return self._next

    def load(self, array: str, offset: int, copied: bool = False, width: int = 0) -> Value:
        """Return bytes with the bits of each group in the order of carry-less multiplications."""
        value = self.add(Act.LOAD, text=array, offset=offset, width=width)
        if copied:
            self.at.append(Instr(Act.STREAM, None, (value,), "copy", offset, self.width))
        return value if self.reflected else self.add(Act.REVERSE, value, width=width)

    def store(self, value: Value, offset: int, width: int = 0) -> None:
        if not self.reflected:
            value = self.add(Act.REVERSE, value, width=width)
        self.at.append(Instr(Act.STORE, None, (value,), "message", offset, width or self.width))

    def started(self, value: Value, width: int) -> Value:
        """Return a vector with the register before added to its first bytes."""
        start = self.add(Act.START, offset=0 if self.reflected else 1, width=width)
        return self.add(Act.XOR, value, start, width=width)

    def constants(self, distance: int, width: int = 0) -> Value:
        return self.add(Act.CONSTANTS, offset=distance, width=width)

    def extract(self, value: Value, word: int) -> Value:
        return self.add(Act.EXTRACT, value, offset=word, width=WORD)

    def shift(self, register: Value, bits: int) -> Value:
        return self.add(Act.SHIFT, register, offset=bits, width=WORD)

    def fold(self, value: Value, constants: Value, onto: Value, width: int = 0) -> Value:
        if self.summed:
            products = [self.add(Act.CLMUL_SUM, value, constants, width=width)]
        else:
            products = [self.add(Act.CLMUL, value, constants, offset=word, width=width) for word in (0, 1)]
        return self.add(Act.XOR, onto, *products, width=width)

    def after_first(self, group: Value) -> Value:
        """Return a group onto which the first group is folded."""
        constants = self.constants(GROUP, GROUP)
        if self.summed:
            words = [
                self.add(Act.FIRST, text=word, offset=n, width=GROUP)
                for n, word in enumerate(("low", "high"))
            ]
            return self.fold(self.add(Act.XOR, *words, width=GROUP), constants, group, GROUP)
        low, high = (self.add(Act.FIRST, text=word, width=GROUP) for word in ("low", "high"))
        products = [
            self.add(act, word, constants, width=GROUP) for act, word in ((Act.CLMUL, low), (Act.CROSS, high))
        ]
        return self.add(Act.XOR, group, *products, width=GROUP)


def _fold_routine(operation: str, set_: str, reflected: bool) -> Routine:
    code = _Code.of(set_, reflected)
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


def _joined(code: _Code, values: list[Value]) -> Value:
    """Return one vector with the remainder of consecutive vectors."""
    while len(values) > 1:
        half = len(values) // 2
        constants = code.constants(half * code.width)
        pairs = zip(values[:half], values[half:], strict=True)
        values = [code.fold(first, constants, second) for first, second in pairs]
    return values[0]


def _narrowed(code: _Code, values: list[Value]) -> Value:
    """Return one group with the remainder of consecutive vectors."""
    value = _joined(code, values)
    width = code.width
    while width > GROUP:
        width //= 2
        first, second = (code.add(Act.HALF, value, offset=half, width=width) for half in (0, 1))
        value = code.fold(first, code.constants(width, width), second, width)
    return value


def _narrow_routine(set_: str, reflected: bool) -> Routine:
    code = _Code.of(set_, reflected)
    head = code.section()
    values = [code.load("message", offset) for offset in range(0, LINE, code.width)]
    code.store(_narrowed(code, values), 0, GROUP)
    return Routine("narrow_line", set_, reflected, LINE, tuple(head))


def _reduced(code: _Code, values: list[Value]) -> Value:
    """Return the register after consecutive vectors."""
    value = _joined(code, values)
    if code.width > GROUP:
        return _register(code, _multiplied(code, value))
    first = 0 if code.reflected else 1  # the word of the higher coefficients
    return _divided(code, value, code.add(Act.SLIDE, value, offset=first, width=GROUP), first)


def _multiplied(code: _Code, value: Value) -> Value:
    """Return a group with the remainder of a vector times x^64."""
    constants = code.add(Act.LANES)
    products = [code.add(Act.CLMUL, value, constants, offset=word) for word in (0, 1)]
    value = code.add(Act.XOR, *products)
    width = code.width
    while width > GROUP:
        width //= 2
        halves = [code.add(Act.HALF, value, offset=half, width=width) for half in (0, 1)]
        value = code.add(Act.XOR, *halves, width=width)
    return value


def _divided(code: _Code, high: Value, low: Value, word: int) -> Value:
    """Return the register after a group. Its higher coefficients are word `word` of `high`. Its lower ones
    are where products have their higher ones in `low`, whose other word is 0."""
    first = 0 if code.reflected else 1
    fold = Act.CROSS if word == first else Act.CLMUL
    folded = code.add(fold, high, code.constants(GROUP, GROUP), offset=word, width=GROUP)
    return _register(code, code.add(Act.XOR, folded, low, width=GROUP))


def _register(code: _Code, value: Value) -> Value:
    """Return the remainder of a group as a register."""
    first = 0 if code.reflected else 1
    constants = code.add(Act.REDUCTION, width=GROUP)
    quotient = code.add(Act.CLMUL, value, constants, offset=first, width=GROUP)
    if not code.reflected:
        quotient = code.add(Act.XOR, quotient, value, width=GROUP)
    multiple = code.add(Act.CROSS, quotient, constants, offset=first, width=GROUP)
    parts = [code.extract(value, 1 - first), code.extract(multiple, 1 - first)]
    if code.reflected:
        parts[1] = code.shift(parts[1], 1)
        parts.append(code.shift(code.extract(multiple, first), 1 - _REGISTER))
    return code.add(Act.XOR, *parts, width=WORD)


def _group_routine(set_: str, reflected: bool) -> Routine:
    code = _Code(reflected, GROUP)
    head = code.section()
    words = ("low", "high") if reflected else ("high", "low")
    first, second = (
        code.add(Act.FIRST, text=word, offset=n)
        for word, n in zip(words, (0, 0 if reflected else 1), strict=True)
    )
    code.add(Act.RESULT, _divided(code, first, second, 0))
    return Routine("group", set_, reflected, GROUP, tuple(head))


def _loop(
    code: _Code,
    operation: str,
    set_: str,
    block: int,
    lead: int,
    before: list[Value],
    finish: Callable[[_Code, list[Value]], Value] = _reduced,
    constants: Value | None = None,
) -> Routine:
    """Return the routine whose head ends with the values `before`: a loop over blocks and the reduction.
    constants: those for the distance of a block, if the head has them."""
    head = code.at
    constants = constants or code.constants(block)
    body = code.section()
    pairs = zip(before, range(0, block, code.width), strict=True)
    after = [code.fold(value, constants, code.load("data", at)) for value, at in pairs]
    close = code.section()
    code.add(Act.RESULT, finish(code, before))
    parts = tuple(head), tuple(body), tuple(close)
    values = tuple(before), tuple(after)
    return Routine(operation, set_, code.reflected, block, *parts, *values, lead=lead)


def _reduce_routine(operation: str, set_: str, reflected: bool, block: int) -> Routine:
    code = _Code.of(set_, reflected)
    code.section()
    before = [code.load("message", offset) for offset in range(0, block, code.width)]
    before[0] = code.started(before[0], code.width)
    return _loop(code, operation, set_, block, block, before)


def _padded(code: _Code, groups: int, start: int, width: int) -> Value:
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
    code = _Code.of(set_, reflected)
    code.section()
    lead = GROUP * groups or LINE
    before = [_padded(code, lead // GROUP, at, code.width) for at in range(0, LINE, code.width)]
    return _loop(code, operation, set_, LINE, lead, before)


def _lead_routine(operation: str, set_: str, reflected: bool) -> Routine:
    code, count = _Code(reflected, WIDTHS[set_]), LEADS[operation]
    code.section()
    value = _led(code, count, code.add(Act.START, offset=0 if reflected else 1))
    return _loop(code, operation, set_, LINE, count, [value])


def _led(code: _Code, count: int, start: Value) -> Value:
    """Return a vector with the first bytes, to which the register is added, behind zeros."""
    leading = code.add(Act.LEADING, text="message", offset=count)
    if code.reflected:
        return code.add(Act.BEHIND, code.add(Act.XOR, leading, start), offset=count)
    start = code.add(Act.REVERSE, start)
    value = code.add(Act.BEHIND, code.add(Act.XOR, leading, start), offset=count)
    return code.add(Act.REVERSE, value)


def _behind(code: _Code, count: int, start: Value) -> Value:
    """Return the line behind the first bytes, to which the rest of a longer register is added."""
    if not code.reflected:
        start = code.add(Act.REVERSE, start)
    rest = code.add(Act.AHEAD, start, offset=count)
    line = code.add(Act.XOR, code.add(Act.LOAD, text="message", offset=count), rest)
    return line if code.reflected else code.add(Act.REVERSE, line)


class _Update:
    """An update of the checksum at an address. check: the only check that has it; None: all reflected ones.
    Normal registers are shifted by the check's number of bits."""

    def __init__(self, set_: str, check: Checksum | None) -> None:
        self._set, self._check = set_, check
        self._reflected = check is None or check.reflected

    def of_bytes(self, name: str, lead: int) -> Routine:
        """Return the routine of a function for so many bytes before its loop."""
        operation = f"update_{name}{lead}"
        match name:
            case "few":
                return self._from_few(operation, lead)
            case "wide":
                return self._from_wide(operation, lead)
            case "bytes":
                code = self._code(LINE)
                value = _led(code, lead, self._start(code))
                return self._looped(code, operation, LINE, lead, [value])
        code = self._code(GROUP if name == "group" else LINE // 2)
        head, value = code.at, _led(code, lead, self._start(code))
        close = code.section()
        code.add(Act.RESULT, self._finish(code, [value]))
        parts = tuple(head), (), tuple(close)
        return self._named(Routine(operation, self._set, self._reflected, LINE, *parts, lead=lead))

    def _from_few(self, operation: str, lead: int) -> Routine:
        """Return the routine that begins with less than a word and a line."""
        code, count = self._code(LINE), lead - LINE
        start = self._start(code)
        value, line = _led(code, count, start), _behind(code, count, start)
        value = code.fold(value, code.constants(LINE), line)
        return self._looped(code, operation, LINE, lead, [value])

    def _from_wide(self, operation: str, lead: int) -> Routine:
        """Return the routine that begins with the first bytes of a line, three lines, and up to three
        more."""
        code, count = self._code(LINE), (lead - 1) % LINE + 1
        start = self._start(code)
        before = [_led(code, count, start), _behind(code, count, start)]
        places = iter(range(count + LINE, lead, LINE))
        before += (code.load("message", place) for place in islice(places, WIDE - len(before)))
        constants = code.constants(WIDE * LINE)
        window, between = tuple(before), len(code.at)
        for place in places:
            before.append(code.fold(before.pop(0), constants, code.load("message", place)))
        routine = self._looped(code, operation, WIDE * LINE, lead, before, constants)
        return replace(routine, window=window, between=between)

    def _looped(
        self,
        code: _Code,
        operation: str,
        block: int,
        lead: int,
        before: list[Value],
        constants: Value | None = None,
    ) -> Routine:
        return self._named(_loop(code, operation, self._set, block, lead, before, self._finish, constants))

    def of_blocks(self, operation: str, block: int) -> Routine:
        """Return the routine that begins with a block."""
        code = self._code(LINE)
        before = [code.load("message", offset) for offset in range(0, block, LINE)]
        before[0] = code.add(Act.XOR, before[0], self._start(code))
        return self._looped(code, operation, block, block, before)

    def _named(self, routine: Routine) -> Routine:
        return replace(routine, check=self._check.name if self._check else "")

    def _code(self, width: int) -> _Code:
        code = _Code(self._reflected, width)
        code.section()
        return code

    def _shifted(self, code: _Code, register: Value, sign: int) -> Value:
        if self._check is None or self._reflected:
            return register
        return code.shift(register, sign * (_REGISTER - self._check.degree))

    def _start(self, code: _Code) -> Value:
        """Return a vector with the register before."""
        state, ones = code.add(Act.STATE, width=WORD), code.add(Act.ONES, width=WORD)
        register = self._shifted(code, code.add(Act.XOR, state, ones, width=WORD), 1)
        return code.add(Act.START, register, offset=0 if self._reflected else 1)

    def _finish(self, code: _Code, before: list[Value]) -> Value:
        """Return the checksum after consecutive vectors."""
        if self._check is not None and self._reflected:
            register = _stepped(code, _multiplied(code, _joined(code, before)), self._check.name)
        else:
            register = _reduced(code, before)
        ones = code.add(Act.ONES, width=WORD)
        return code.add(Act.XOR, self._shifted(code, register, -1), ones, width=WORD)


def _stepped(code: _Code, value: Value, check: str) -> Value:
    """Return the remainder of a group as a register, by a crc32 instruction. All constants are multiples of
    x^32, so the sum of products is x^32 times 96 bits: the instruction has the remainder of the upper 64
    times x^32."""
    upper, lower = code.extract(value, 0), code.extract(value, 1)
    zero = code.add(Act.ZERO, width=WORD)
    after = code.add(Act.CRC, zero, upper, text=check, offset=WORD, width=WORD)
    return code.add(Act.XOR, after, lower, width=WORD)


def _updates(set_: str) -> Iterator[Routine]:
    by_name = {check.name: check for check in CHECKSUMS}
    for name in _UPDATED:
        update = _Update(set_, by_name.get(name))
        for function, leads in UPDATED.items():
            yield from (update.of_bytes(function, lead) for lead in leads)
        yield from (update.of_blocks(operation, block) for operation, block in UPDATES_OF_BLOCKS.items())


def _sum(code: _Code, values: list[Value]) -> Value:
    """Return the sum as a balanced tree."""
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=True)
        values = [code.add(Act.XOR, x, y) for x, y in pairs]
    return values[0]


def _word_routine(reflected: bool) -> Routine:
    code = _Code(reflected)
    head = code.section()
    word = code.add(Act.XOR, code.add(Act.STATE), code.add(Act.WORD, width=WORD))
    looked = [code.add(Act.LOOKUP, word, text=str(n), offset=n) for n in range(NIBBLES)]
    code.add(Act.RESULT, _sum(code, looked))
    return Routine("word", WORDS, reflected, WORD, tuple(head))


def _byte_routine(reflected: bool) -> Routine:
    """The first byte of a register leaves it, and is looked up as the last byte of a word."""
    code = _Code(reflected)
    head = code.section()
    state, byte = code.add(Act.STATE), code.add(Act.BYTE)
    first = state if reflected else code.add(Act.SHIFT, state, offset=8 - _REGISTER)
    index = code.add(Act.XOR, first, byte)
    tables_ = (NIBBLES - 2, NIBBLES - 1) if reflected else (0, 1)
    looked = [code.add(Act.LOOKUP, index, text=str(table), offset=n) for n, table in enumerate(tables_)]
    rest = code.add(Act.SHIFT, state, offset=-8 if reflected else 8)
    code.add(Act.RESULT, code.add(Act.XOR, rest, *looked))
    return Routine("byte", WORDS, reflected, 1, tuple(head))


def _step_routine(set_: str, check: str, size: int) -> Routine:
    code = _Code(True)
    head = code.section()
    data = code.add(Act.WORD, width=size)
    code.add(Act.RESULT, code.add(Act.CRC, code.add(Act.STATE), data, text=check, offset=size, width=WORD))
    return Routine(STEPS[size], set_, True, size, tuple(head), check=check)


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
            yield _narrow_routine(set_, reflected)
            yield _group_routine(set_, reflected)
    for set_ in _MASKED:
        yield from _updates(set_)
    for set_, checks in INSTRUCTIONS.items():
        for check, size in product(checks, STEPS):
            yield _step_routine(set_, check, size)
