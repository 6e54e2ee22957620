"""The effect of a checksum routine on bits.

A bit is a linear form: an integer whose set bits name the unknowns that it is the sum of. Every value is a
list of bits from bit 0 of byte 0 on. All Acts are linear, given that the tables' look-ups are; so forms that
are equal are equal functions of all data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, cycle
from operator import xor

from gfsmith.field.checksum import BYTE, Checksum
from gfsmith.ir.folding import DISTANCES, GROUP, NIBBLE, WORD, Act, Instr, Tables
from gfsmith.prove.verdict import Refutation

Bits = list[int]

_WORD = BYTE * WORD
_GROUP = BYTE * GROUP


def unknowns(count: int, first: int = 0) -> Bits:
    return [1 << n for n in range(first, first + count)]


def number(value: int, count: int) -> Sequence[int]:
    """Return the positions of the set bits of a number, which must have `count` bits at most."""
    if value >> count:
        raise Refutation(f"the constant {value:#x} has more than {count} bits")
    return [i for i in range(count) if value >> i & 1]


def product(word: Sequence[int], constant: int) -> Bits:
    """Return a word times a constant word over GF(2)[x], 128 bits, bit i of each being the coefficient of
    x^i."""
    total = [0] * _GROUP
    for j in number(constant, _WORD):
        place = slice(j, j + len(word))
        total[place] = map(xor, total[place], word)
    return total


#: The polynomials of crc32 instructions with all terms: Intel SDM volume 2A, CRC32; Arm ARM, CRC32C, CRC32.
INSTRUCTIONS = {"CRC32C": 0x11EDC6F41, "CRC32": 0x104C11DB7}
_CRC = 32


def instruction(name: str, register: Sequence[int], data: Sequence[int]) -> Bits:
    """Return the effect of a crc32 instruction on a register of 64 bits, as the manuals have it: with the
    bits of register and data reversed, (data x^32 + register x^len) mod P, of 32 bits, reversed again."""
    polynomial = number(INSTRUCTIONS[name], _CRC + 1)
    coefficients = [0] * _CRC + list(reversed(data))
    for i, bit in enumerate(reversed(register[:_CRC])):
        coefficients[len(data) + i] ^= bit
    while len(coefficients) > _CRC:
        top = coefficients[-1]
        for i in polynomial:
            coefficients[len(coefficients) - 1 - _CRC + i] ^= top
        coefficients.pop()
    return coefficients[::-1] + [0] * (_WORD - _CRC)


def _bytes(bits: Sequence[int]) -> list[Sequence[int]]:
    return [bits[n : n + BYTE] for n in range(0, len(bits), BYTE)]


def _joined(parts: Iterable[Sequence[int]]) -> Bits:
    return [bit for part in parts for bit in part]


class Execution:
    """Values of a routine for one check. message, data, register: their bits before. first: the bits of two
    words. ones: the first register of a check, which may be unknown bits."""

    def __init__(
        self,
        check: Checksum,
        tables: Tables,
        message: Bits,
        data: Bits,
        register: Bits,
        first: Bits | None = None,
        ones: Bits | None = None,
    ) -> None:
        self.check, self.tables = check, tables
        self.arrays = {"message": list(message), "data": data, "copy": [0] * len(data)}
        self.register, self.first, self.ones = register, first or [], ones or []
        self.values: dict[int, Bits] = {}
        self.constants: dict[int, Sequence[tuple[int, int]]] = {}  # of each group in turn

    def run(self, code: Iterable[Instr]) -> None:
        for instr in code:
            self._step(instr)

    def _step(self, instr: Instr) -> None:
        if not all(arg in self.values or arg in self.constants for arg in instr.args):
            raise Refutation(f"{instr.act.name} of a value that is missing")
        args = [self.values[arg] for arg in instr.args if arg in self.values]
        size = BYTE * instr.width
        match instr.act:
            case Act.STORE | Act.STREAM:
                self._store(instr, args[0])
            case Act.PREFETCH:
                pass
            case Act.RESULT:
                self.register = args[0]
            case Act.CONSTANTS:
                assert instr.result is not None
                self.constants[instr.result] = [self.tables.folds[DISTANCES.index(instr.offset)]]
            case Act.LANES:
                assert instr.result is not None
                self.constants[instr.result] = self.tables.lanes[-instr.width // GROUP :]
            case Act.REDUCTION:
                assert instr.result is not None
                self.constants[instr.result] = [self.tables.reduction]
            case _:
                result = self._value(instr, args)
                if size and len(result) != size:
                    raise Refutation(f"{instr.act.name} has {len(result)} bits instead of {size}")
                assert instr.result is not None
                self.values[instr.result] = result

    def _store(self, instr: Instr, bits: Bits) -> None:
        if instr.text != ("copy" if instr.act is Act.STREAM else "message"):
            raise Refutation(f"{instr.act.name} is to {instr.text}")
        array, at = self.arrays[instr.text], BYTE * instr.offset
        if at + len(bits) > len(array):
            raise Refutation(f"a store at {instr.offset} is outside of the {instr.text}")
        array[at : at + len(bits)] = bits

    def _value(self, instr: Instr, args: list[Bits]) -> Bits:
        match instr.act:
            case Act.LOAD:
                bits = self.arrays[instr.text][BYTE * instr.offset : BYTE * (instr.offset + instr.width)]
                return list(bits)
            case Act.LEADING:
                size = BYTE * instr.offset
                return self.arrays[instr.text][:size] + [0] * (BYTE * instr.width - size)
            case Act.CLMUL:
                return _joined(self._products(args[0], instr.args[1])[instr.offset :: 2])
            case Act.CLMUL_SUM:
                products = self._products(args[0], instr.args[1])
                return _joined(_sum(products[n : n + 2]) for n in range(0, len(products), 2))
            case Act.XOR:
                return _sum(args)
            case Act.REVERSE:
                groups = [_bytes(args[0][n : n + _GROUP]) for n in range(0, len(args[0]), _GROUP)]
                return _joined(_joined(reversed(group)) for group in groups)
            case Act.CROSS:
                constant = self.constants[instr.args[1]][0][1 - instr.offset]
                return product(_word(args[0], instr.offset), constant)
            case Act.SLIDE:
                kept, zeros = _word(args[0], 1 - instr.offset), [0] * _WORD
                return zeros + kept if instr.offset else kept + zeros
            case Act.HALF:
                half = len(args[0]) // 2
                return args[0][half * instr.offset : half * (instr.offset + 1)]
            case Act.FIRST:
                place, word = _WORD * instr.offset, _word(self.first, int(instr.text == "high"))
                return [0] * place + word + [0] * (_GROUP - _WORD - place)
            case Act.ZERO:
                return [0] * (BYTE * instr.width)
            case Act.JOIN:
                return _joined(args)
        return self._on_register(instr, args)

    def _products(self, data: Bits, constants: int) -> list[Bits]:
        """Return the products of all words by the constants of their groups in turn."""
        factors = cycle(chain.from_iterable(self.constants[constants]))
        return [product(data[n : n + _WORD], next(factors)) for n in range(0, len(data), _WORD)]

    def _started(self, instr: Instr, args: Sequence[Bits]) -> Bits:
        bits = [0] * (BYTE * instr.width)
        place = slice(_WORD * instr.offset, _WORD * (instr.offset + 1))
        bits[place] = args[0] if args else self.register
        return bits

    def _on_register(self, instr: Instr, args: list[Bits]) -> Bits:
        match instr.act:
            case Act.START:
                return self._started(instr, args)
            case Act.BEHIND:
                size = BYTE * instr.offset
                return [0] * (len(args[0]) - size) + args[0][:size]
            case Act.AHEAD:
                size = BYTE * instr.offset
                return args[0][size:] + [0] * size
            case Act.STATE:
                return self.register
            case Act.ONES:
                return self.ones
            case Act.WORD:
                order = _bytes(self.arrays["data"][: BYTE * instr.width])
                return _joined(order if self.check.reflected else reversed(order))
            case Act.EXTRACT:
                return list(_word(args[0], instr.offset))
            case Act.CRC:
                if len(args[1]) != BYTE * instr.offset:
                    raise Refutation(f"CRC takes {len(args[1])} bits instead of {BYTE * instr.offset}")
                return instruction(instr.text, *args)
            case Act.BYTE:
                return self.arrays["data"] + [0] * (_WORD - BYTE)
            case Act.SHIFT:
                places = range(-instr.offset, _WORD - instr.offset)
                return [args[0][n] if 0 <= n < _WORD else 0 for n in places]
            case Act.LOOKUP:
                nibble = args[0][NIBBLE * instr.offset : NIBBLE * (instr.offset + 1)]
                return _looked_up(self.tables.slices[int(instr.text)], nibble)
        raise Refutation(f"{instr.act.name} is unknown")


def _word(group: Bits, n: int) -> Bits:
    return group[_WORD * n : _WORD * (n + 1)]


def _sum(args: list[Bits]) -> Bits:
    if len({len(arg) for arg in args}) != 1:
        raise Refutation("values of different sizes are added")
    total = [0] * len(args[0])
    for arg in args:
        total = [x ^ y for x, y in zip(total, arg, strict=True)]
    return total


def _looked_up(table: Sequence[int], nibble: Sequence[int]) -> Bits:
    """Return the entry for a nibble. The table must be linear: entry v is the sum of the entries for the bits
    of v."""
    if len(table) != 1 << NIBBLE or any(table[v] != _entry(table, v) for v in range(len(table))):
        raise Refutation("a table is not linear")
    total = [0] * _WORD
    for i, bit in enumerate(nibble):
        for position in number(table[1 << i], _WORD):
            total[position] ^= bit
    return total


def _entry(table: Sequence[int], value: int) -> int:
    total = 0
    for i in range(NIBBLE):
        if value >> i & 1:
            total ^= table[1 << i]
    return total


#: A routine's result as bits, from message, data and register.
Effect = Callable[[Bits, Bits, Bits], Bits]
