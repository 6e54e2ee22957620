"""Algebra routines for x86 sets with GFNI: products and inverses in any field, computed in the field of
0x11b.

Polynomials, C = A B mod P with P monic of degree d, by Horner's rule in A's coefficients:

    T <- x T + t P' + a_i B,    i = d-1 ... 0,    t the top coefficient of T,    P' = P - x^d,

which takes the 2d - 1 products of schoolbook multiplication and reduction (Drucker, Gueron, Krasnov: The
comeback of Reed Solomon codes, figure 2). No product of twice the length is stored, so a vector holds twice
as many polynomials. Coefficient n is byte n of the d bytes.

Bit matrices: gf2p8affineqb multiplies bytes by a matrix whose rows are stored from the last to the first. The
transpose T of B in that order is AFFINE of the bytes 0x80, 0x40, ..., 1 by B with its rows reversed; then
C = AFFINE of A's rows by T. A 64 x 64 matrix consists of 8 x 8 blocks of this kind, and each block of the
product is a sum of eight products of blocks (section III-B there).
"""

from __future__ import annotations

from gfsmith.ir import Op
from gfsmith.ir.algebra import GROUP, WORD, Act, Instr, Routine, Step, Value
from gfsmith.kernel.isa import ISAS

#: Name of each set with GFNI -> bytes of a vector, widest first.
WIDTHS = {isa.name: isa.vector_bytes for isa in ISAS if Op.MULB in isa.ops}
DEGREES = (8, 16, 32)

#: Independent vectors of polynomials: each step depends on a product and two shuffles of the previous step.
_VECTORS = 4

_ROWS = 64  #: bytes of eight rows of a 64 x 64 matrix


class Code:
    """Instructions under construction. `at` is the section that receives them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.at: list[Instr] = []
        self._next = 0

    def section(self) -> list[Instr]:
        """Begin a section and return it."""
        self.at = []
        return self.at

    def value(self) -> Value:
        self._next += 1
        return self._next

    def add(
        self, act: Act, *args: Value, text: str = "", offset: int = 0, immediate: int = 0, data: bytes = b""
    ) -> Value:
        result = self.value()
        self.at.append(Instr(act, result, args, text, offset, immediate, data))
        return result

    def load(self, array: str, size: int) -> list[Value]:
        return [self.add(Act.LOAD, text=array, offset=at) for at in range(0, size, self.width)]

    def store(self, values: list[Value], start: int = 0) -> None:
        for number, value in enumerate(values):
            offset = start + number * self.width
            self.at.append(Instr(Act.STORE, None, (value,), text="out", offset=offset))

    def permute(self, name: str, *args: Value, immediate: int = 0, data: bytes = b"") -> Value:
        return self.add(Act.PERMUTE, *args, text=name, immediate=immediate, data=data)

    def shuffle(self, value: Value, group: list[int]) -> Value:
        """Apply the same 16 indices to every group."""
        return self.permute("shuffle", value, data=bytes(group) * (self.width // GROUP))

    def xor(self, left: Value, right: Value) -> Value:
        return self.add(Act.XOR, left, right)


class _Maps:
    """Maps into the field of 0x11b and back; no maps if the routine's field is that field."""

    def __init__(self, code: Code, mapped: bool) -> None:
        self._code = code
        self._forth = code.add(Act.ARGUMENT, text="forth") if mapped else None
        self._back = code.add(Act.ARGUMENT, text="back") if mapped else None

    def into(self, values: list[Value]) -> list[Value]:
        if self._forth is None:
            return values
        return [self._code.add(Act.AFFINE, value, self._forth) for value in values]

    def out(self, values: list[Value]) -> list[Value]:
        if self._back is None:
            return values
        return [self._code.add(Act.AFFINE, value, self._back) for value in values]


def _multiply(set_: str, mapped: bool) -> Routine:
    code = Code(WIDTHS[set_])
    preload, maps = code.section(), _Maps(code, mapped)
    head = code.section()
    (a,), (b,) = (maps.into(code.load(array, code.width)) for array in "ab")
    code.store(maps.out([code.add(Act.MULB, a, b)]))
    return Routine("multiply", set_, code.width, code.width, mapped, tuple(preload), tuple(head), close=())


def _invert(set_: str, mapped: bool) -> Routine:
    code = Code(WIDTHS[set_])
    preload = code.section()
    forth = code.add(Act.ARGUMENT, text="forth") if mapped else None
    back = code.add(Act.ARGUMENT, text="back")
    head = code.section()
    (a,) = code.load("a", code.width)
    if forth is not None:
        a = code.add(Act.AFFINE, a, forth)
    code.store([code.add(Act.AFFINE_INVERSE, a, back)])
    return Routine("invert", set_, code.width, code.width, mapped, tuple(preload), tuple(head), close=())


class _Polynomials:
    """Operations on coefficients, in vectors that hold groups of `degree` bytes."""

    def __init__(self, code: Code, degree: int) -> None:
        self.code, self.degree = code, degree

    def spread(self, values: list[Value], index: int) -> list[Value]:
        """Broadcast coefficient `index` of every polynomial to all of its bytes."""
        code, degree = self.code, self.degree
        if degree <= GROUP:
            places = [n // degree * degree + index for n in range(GROUP)]
            return [code.shuffle(value, places) for value in values]
        half, places = index // GROUP, [index % GROUP] * GROUP
        if code.width == GROUP:
            return [value for v in values[half::2] for value in (code.shuffle(v, places),) * 2]
        if code.width == 2 * GROUP:
            chosen = [code.permute("two_groups", v, v, immediate=0x11 * half) for v in values]
        else:
            immediate = 0xFF00 | half * 0b01010101 | 0b10100000
            chosen = [code.permute("four_groups", v, v, immediate=immediate) for v in values]
        return [code.shuffle(value, places) for value in chosen]

    def next(self, values: list[Value]) -> list[Value]:
        """Return x T before the reduction: coefficients move up by one, and the lowest becomes 0."""
        code = self.code
        if self.degree == WORD:
            return [code.permute("next_in_words", value, immediate=1) for value in values]
        if self.degree == GROUP:
            return [code.permute("next_in_groups", value, immediate=1) for value in values]
        if code.width == GROUP:
            moved = []
            for low, high in zip(values[::2], values[1::2], strict=True):
                moved.append(code.permute("next_in_groups", low, immediate=1))
                moved.append(code.permute("align", high, low, immediate=GROUP - 1))
            return moved
        if code.width == 2 * GROUP:
            below = [code.permute("two_groups", v, v, immediate=0x08) for v in values]
        else:
            below = [code.permute("four_groups", v, v, immediate=0xCC00 | 0b10100000) for v in values]
        pairs = zip(values, below, strict=True)
        return [code.permute("align", v, b, immediate=GROUP - 1) for v, b in pairs]

    def products(self, left: list[Value], right: list[Value]) -> list[Value]:
        return [self.code.add(Act.MULB, x, y) for x, y in zip(left, right, strict=True)]

    def sums(self, left: list[Value], right: list[Value]) -> list[Value]:
        return [self.code.xor(x, y) for x, y in zip(left, right, strict=True)]


def _polynomials(set_: str, degree: int, mapped: bool) -> Routine:
    code = Code(WIDTHS[set_])
    unit, block = max(code.width, degree), _VECTORS * code.width
    preload, maps = code.section(), _Maps(code, mapped)
    modulus = maps.into(code.load("modulus", unit)) * (block // unit)
    head = code.section()
    a, b = (maps.into(code.load(array, block)) for array in "ab")
    polynomials, steps = _Polynomials(code, degree), []
    total: list[Value] = []
    for index in reversed(range(degree)):
        before, section = total, code.section()
        total = polynomials.products(polynomials.spread(a, index), b)
        if before:
            reduced = polynomials.products(polynomials.spread(before, degree - 1), modulus)
            total = polynomials.sums(total, polynomials.sums(reduced, polynomials.next(before)))
        steps.append(Step(tuple(section), tuple(before), tuple(total), index))
    close = code.section()
    code.store(maps.out(total))
    parts = tuple(preload), tuple(head), tuple(close)
    name = f"polynomials{degree}"
    return Routine(name, set_, code.width, block, mapped, *parts, steps=tuple(steps), count=degree)


_REVERSED = [n // WORD * WORD + WORD - 1 - n % WORD for n in range(GROUP)]
_UNITS = bytes(1 << 7 - n % WORD for n in range(64))


def _transposed(code: Code, units: Value, matrices: list[Value]) -> list[Value]:
    """Return the operands of AFFINE that multiply rows from the right by these matrices."""
    reversed_ = [code.shuffle(value, _REVERSED) for value in matrices]
    return [code.add(Act.AFFINE, units, value) for value in reversed_]


def _matrices8(set_: str) -> Routine:
    code = Code(WIDTHS[set_])
    preload = code.section()
    units = code.add(Act.CONST, data=_UNITS[: code.width])
    head = code.section()
    a, b = (code.load(array, code.width) for array in "ab")
    (operand,) = _transposed(code, units, b)
    code.store([code.add(Act.AFFINE, a[0], operand)])
    return Routine("matrices8", set_, code.width, code.width, False, tuple(preload), tuple(head), close=())


def _byte_transpose(code: Code, values: list[Value]) -> list[Value]:
    """Transpose 64 bytes as 8 x 8 bytes: eight rows of 64 bits become eight blocks of 8 x 8, and back."""
    pairs = [n // 2 + n % 2 * WORD for n in range(GROUP)]
    values = [code.shuffle(value, pairs) for value in values]
    match code.width:
        case 64:
            words = bytes(n % 4 * WORD + n // 4 for n in range(32))
            return [code.permute("units", values[0], immediate=2, data=words)]
        case 32:
            low, high = (code.permute("two_groups", *values, immediate=imm) for imm in (0x20, 0x31))
            halves = [code.permute("unpack", low, high, immediate=unit) for unit in (2, -2)]
            order = bytes([0, 4, 1, 5, 2, 6, 3, 7])
            return [code.permute("units", half, immediate=4, data=order) for half in halves]
    rows = [
        [code.permute("unpack", *pair, immediate=unit) for unit in (2, -2)]
        for pair in (values[:2], values[2:])
    ]
    return [
        code.permute("unpack", rows[0][half], rows[1][half], immediate=unit)
        for half in (0, 1)
        for unit in (4, -4)
    ]


def _spread_word(code: Code, values: list[Value], number: int) -> Value:
    """Broadcast word `number` of 64 bytes to all words of a vector."""
    words = code.width // WORD
    value, place = values[number // words], number % words
    if words == 2:
        return code.permute("unpack", value, value, immediate=WORD if place == 0 else -WORD)
    return code.permute("units", value, immediate=WORD, data=bytes([place] * words))


def _matrices64(set_: str) -> Routine:
    code = Code(WIDTHS[set_])
    preload = code.section()
    units = code.add(Act.CONST, data=_UNITS[: code.width])
    head = code.section()
    b = code.load("b", WORD * _ROWS)
    per_row = _ROWS // code.width
    operands = [
        _transposed(code, units, _byte_transpose(code, b[k * per_row : (k + 1) * per_row]))
        for k in range(WORD)
    ]
    for row in range(WORD):
        offsets = range(row * _ROWS, (row + 1) * _ROWS, code.width)
        a = _byte_transpose(code, [code.add(Act.LOAD, text="a", offset=at) for at in offsets])
        blocks = [_spread_word(code, a, k) for k in range(WORD)]
        sums = [code.add(Act.AFFINE, blocks[0], operand) for operand in operands[0]]
        for block, columns in zip(blocks[1:], operands[1:], strict=True):
            products = [code.add(Act.AFFINE, block, operand) for operand in columns]
            sums = [code.xor(x, y) for x, y in zip(sums, products, strict=True)]
        code.store(_byte_transpose(code, sums), row * _ROWS)
    return Routine("matrices64", set_, code.width, WORD * _ROWS, False, tuple(preload), tuple(head), close=())


def lower(set_: str) -> tuple[Routine, ...]:
    """Return all routines for one set of WIDTHS."""
    routines = [part(set_, mapped) for part in (_multiply, _invert) for mapped in (False, True)]
    routines += [_polynomials(set_, degree, mapped) for degree in DEGREES for mapped in (False, True)]
    return (*routines, _matrices8(set_), _matrices64(set_))
