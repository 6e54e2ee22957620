"""The remainder of consecutive vectors as a register.

In a vector of several groups all words are multiplied at once, each by its own constant x^(D+128) or
x^(D+64) mod P, and the products are added: the sum is A x^64 + B with the remainder of the vector times x^64.
A constant for each group of a vector is the method of ISA-L, which folds onto the last group.

The register after 16 bytes H x^64 + L is (H x^128 + L x^64) mod P. One multiplication folds H and leaves A
x^64 + B. With m the quotient of x^128 by P, the quotient of A x^64 by P is that of A m by x^64 (P.
Barrett's method, exact over GF(2)[x]), and the register is B plus the low word of quotient times P. The
product of two reflected words has a factor x: the quotient of m by x takes the place of m, and the product
with P is shifted by a bit.
"""

from __future__ import annotations

from gfsmith.ir.folding import GROUP, WORD, Act, Value
from gfsmith.lower.checksum.code import Code
from gfsmith.lower.checksum.tables import REGISTER


def joined(code: Code, values: list[Value]) -> Value:
    """Return one vector with the remainder of consecutive vectors."""
    while len(values) > 1:
        half = len(values) // 2
        constants = code.constants(half * code.width)
        pairs = zip(values[:half], values[half:], strict=True)
        values = [code.fold(first, constants, second) for first, second in pairs]
    return values[0]


def narrowed(code: Code, values: list[Value]) -> Value:
    """Return one group with the remainder of consecutive vectors."""
    value = joined(code, values)
    width = code.width
    while width > GROUP:
        width //= 2
        first, second = (code.add(Act.HALF, value, offset=half, width=width) for half in (0, 1))
        value = code.fold(first, code.constants(width, width), second, width)
    return value


def reduced(code: Code, values: list[Value]) -> Value:
    """Return the register after consecutive vectors."""
    value = joined(code, values)
    if code.width > GROUP:
        return _register(code, multiplied(code, value))
    first = 0 if code.reflected else 1  # the word of the higher coefficients
    return divided(code, value, code.add(Act.SLIDE, value, offset=first, width=GROUP), first)


def multiplied(code: Code, value: Value) -> Value:
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


def divided(code: Code, high: Value, low: Value, word: int) -> Value:
    """Return the register after a group. Its higher coefficients are word `word` of `high`. Its lower ones
    are where products have their higher ones in `low`, whose other word is 0."""
    first = 0 if code.reflected else 1
    fold = Act.CROSS if word == first else Act.CLMUL
    folded = code.add(fold, high, code.constants(GROUP, GROUP), offset=word, width=GROUP)
    return _register(code, code.add(Act.XOR, folded, low, width=GROUP))


def _register(code: Code, value: Value) -> Value:
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
        parts.append(code.shift(code.extract(multiple, first), 1 - REGISTER))
    return code.add(Act.XOR, *parts, width=WORD)
