"""Algebra routines on words of eight bytes, for every machine. They read no table, and no address depends on
data.

Products process the second factor bit by bit, from the highest bit (Horner's rule):

    T <- a T + b_j x,    a T = (T without top bits) << 1 ^ (top bits as 0 or 1) * p',    p' = p - a^8.
"""

from __future__ import annotations

from gfsmith.ir.algebra import WORD, Act, Instr, Routine, Step, Value
from gfsmith.lower.algebra import DEGREES, Code

SET = "words"

_ONES = bytes([0x01]) * WORD
_LOW7 = bytes([0x7F]) * WORD
_FULL = bytes([0xFF]) * WORD


def _routine(operation: str, preload: list[Instr], head: list[Instr], close: list[Instr]) -> Routine:
    return Routine(operation, SET, WORD, WORD, False, tuple(preload), tuple(head), tuple(close))


def _flags(code: Code, word: Value, bit: int, ones: Value) -> Value:
    """Return bit `bit` of every byte as 0 or 1."""
    shifted = code.add(Act.SHIFT, word, immediate=-bit) if bit else word
    return code.add(Act.AND, shifted, ones)


def _product() -> Routine:
    code = Code(WORD)
    preload = code.section()
    low = code.add(Act.ARGUMENT, text="low")
    ones, low7, full = (code.add(Act.CONST, data=data) for data in (_ONES, _LOW7, _FULL))
    head = code.section()
    (x,), (y,) = code.load("a", WORD), code.load("b", WORD)
    total = code.add(Act.AND, x, code.add(Act.SCALE, _flags(code, y, WORD - 1, ones), full))
    for bit in reversed(range(WORD - 1)):
        top = code.add(Act.SCALE, _flags(code, total, WORD - 1, ones), low)
        total = code.xor(code.add(Act.SHIFT, code.add(Act.AND, total, low7), immediate=1), top)
        chosen = code.add(Act.SCALE, _flags(code, y, bit, ones), full)
        total = code.xor(total, code.add(Act.AND, x, chosen))
    code.store([total])
    return _routine("product", preload, head, [])


def _multiply() -> Routine:
    code = Code(WORD)
    preload, head = code.section(), code.section()
    (a,), (b,) = code.load("a", WORD), code.load("b", WORD)
    code.store([code.add(Act.PRODUCT, a, b)])
    return _routine("multiply", preload, head, [])


def _invert() -> Routine:
    """Return x^254 = (x^15)^16 x^12 x^2 in eleven products."""
    code = Code(WORD)
    preload, head = code.section(), code.section()

    def multiply(x: Value, y: Value) -> Value:
        return code.add(Act.PRODUCT, x, y)

    def squared(x: Value, times: int) -> Value:
        for _ in range(times):
            x = multiply(x, x)
        return x

    (x1,) = code.load("a", WORD)
    x2 = squared(x1, 1)
    x3 = multiply(x2, x1)
    x12 = squared(x3, 2)
    x15 = multiply(x12, x3)
    code.store([multiply(multiply(squared(x15, 4), x12), x2)])
    return _routine("invert", preload, head, [])


def _polynomials(degree: int) -> Routine:
    """The method of lower/algebra.py, with a loop over the coefficients of A."""
    code, words = Code(WORD), range(degree // WORD)
    preload = code.section()
    modulus = code.load("modulus", degree)
    zero = [code.add(Act.ZERO) for _ in words]
    head = code.section()
    b = code.load("b", degree)
    section = code.section()
    before = [code.value() for _ in words]
    coefficient = code.add(Act.COEFFICIENT, text="a")
    top = code.permute("spread", before[-1], immediate=WORD - 1)
    after = []
    for n in words:
        total = code.permute("next_in_words", before[n], immediate=1)
        if n > 0:
            total = code.xor(total, code.permute("down_in_words", before[n - 1], immediate=WORD - 1))
        total = code.xor(total, code.add(Act.PRODUCT, modulus[n], top))
        after.append(code.xor(total, code.add(Act.PRODUCT, b[n], coefficient)))
    close = code.section()
    code.store(before)
    step = Step(tuple(section), tuple(before), tuple(after))
    parts = tuple(preload), tuple(head), tuple(close)
    name = f"polynomials{degree}"
    return Routine(name, SET, WORD, degree, False, *parts, (step,), degree, tuple(zero))


def _matrices8() -> Routine:
    """Compute C as the sum over k of (column k of A) (row k of B)."""
    code = Code(WORD)
    preload = code.section()
    ones, full = (code.add(Act.CONST, data=data) for data in (_ONES, _FULL))
    head = code.section()
    (a,), (b,) = code.load("a", WORD), code.load("b", WORD)
    total = None
    for k in range(WORD):
        rows = code.add(Act.SCALE, _flags(code, a, k, ones), full)
        term = code.add(Act.AND, rows, code.permute("spread", b, immediate=k))
        total = term if total is None else code.xor(total, term)
    assert total is not None
    code.store([total])
    return _routine("matrices8", preload, head, [])


def _matrices64() -> Routine:
    """Compute one row of C: the sum of the rows of B that the set bits of A's row select. A block is a row of
    A."""
    code = Code(WORD)
    preload = code.section()
    zero = code.add(Act.ZERO)
    head = code.section()
    (a,) = code.load("a", WORD)
    section = code.section()
    before = code.value()
    term = code.add(Act.AND, code.add(Act.BIT, a), code.add(Act.ROW, text="b"))
    after = code.xor(before, term)
    close = code.section()
    code.store([before])
    step = Step(tuple(section), (before,), (after,))
    parts = tuple(preload), tuple(head), tuple(close)
    return Routine("matrices64", SET, WORD, WORD, False, *parts, (step,), 8 * WORD, (zero,))


def lower_words() -> tuple[Routine, ...]:
    """Return all routines. The other routines call the first."""
    polynomials = (_polynomials(degree) for degree in DEGREES)
    return _product(), _multiply(), _invert(), *polynomials, _matrices8(), _matrices64()
