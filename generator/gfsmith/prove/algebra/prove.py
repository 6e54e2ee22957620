"""Proof of the algebra routines that work on bits: matrices, and the product on words; and of isomorphisms.

A byte is eight polynomials over GF(2) in the bits of all data (polynomial.py). A product of bit matrices is
compared with its definition, a product of bytes with the field's bilinear form, for every field there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from gfsmith.field import DEGREE, ORDER, Field, FieldError, apply, irreducible_polynomials
from gfsmith.field.isomorphism import check_isomorphism
from gfsmith.ir import MEANING, Op, Undefined
from gfsmith.ir.algebra import WORD, Act, Instr, Isomorphism, Routine
from gfsmith.prove.algebra import blocks, symbolic
from gfsmith.prove.algebra.symbolic import Execution, Vector, check_order, parts, same
from gfsmith.prove.polynomial import ZERO, Polynomial, constant_byte, variable_byte
from gfsmith.prove.program import model
from gfsmith.prove.verdict import PROVED, Refutation, Status, Verdict

Byte = tuple[Polynomial, ...]
_AES = 0x11B


@lru_cache(maxsize=1 << 12)
def _data(array: str, index: int) -> Byte:
    return variable_byte((array, index))


class _Bits:
    """Bytes as eight bits each. low: the polynomial of the field without a^8; None without a field."""

    zero: Byte = constant_byte(0)

    def __init__(self, low: int | None = None) -> None:
        self.low = low

    def load(self, array: str, index: int) -> Byte:
        return _data(array, index)

    def xor(self, left: Byte, right: Byte) -> Byte:
        return model.add(left, right)

    def act(self, instr: Instr, args: list[Vector], width: int, index: int | None) -> Vector:
        match instr.act:
            case Act.CONST if len(instr.data) == width:
                return [constant_byte(byte) for byte in instr.data]
            case Act.ARGUMENT if instr.text == "low" and self.low is not None:
                return [constant_byte(self.low)] * width
            case Act.AFFINE:
                operands, matrices = args
                meaning = MEANING[Op.AFFINE].lane
                assert meaning is not None
                groups = [matrices[n // WORD * WORD : n // WORD * WORD + WORD] for n in range(width)]
                return [meaning(x, group) for x, group in zip(operands, groups, strict=True)]
            case Act.AND:
                rows = zip(*args, strict=True)
                return [tuple(x & y for x, y in zip(left, right, strict=True)) for left, right in rows]
            case Act.SCALE:
                if any(byte != args[1][0] for byte in args[1]):
                    raise Refutation("SCALE by bytes that differ")
                return [self._scaled(x, y) for x, y in zip(*args, strict=True)]
        if width != WORD:
            raise Refutation(f"{instr.act.name} is for words")
        return self._on_word(instr, args, index)

    def _on_word(self, instr: Instr, args: list[Vector], index: int | None) -> Vector:
        if instr.act is Act.ROW and index is not None:
            return [self.load(instr.text, WORD * index + n) for n in range(WORD)]
        bits = [bit for byte in args[0] for bit in byte] if args else []
        if instr.act is Act.BIT and index is not None:
            return [(bits[index],) * DEGREE] * WORD
        if instr.act is Act.SHIFT:
            count = instr.immediate
            places = range(-count, len(bits) - count)
            moved = [bits[n] if 0 <= n < len(bits) else ZERO for n in places]
            return [tuple(moved[n : n + DEGREE]) for n in range(0, len(moved), DEGREE)]
        raise Refutation(f"{instr.act.name} has no meaning for bits")

    @staticmethod
    def _scaled(flag: Byte, byte: Byte) -> Byte:
        """Return an integer product of 0 or 1; larger flags would carry into other bytes."""
        if any(flag[1:]):
            raise Refutation("SCALE of a byte that may be neither 0 nor 1")
        return tuple(flag[0] & bit for bit in byte)


def _execute(routine: Routine, arithmetic: _Bits) -> list[Byte]:
    execution = Execution(routine, arithmetic)
    execution.run((*routine.preload, *routine.head, *routine.close))
    return execution.results()


def _sum(terms: list[Polynomial]) -> Polynomial:
    """Return the sum of polynomials whose terms are all different."""
    return Polynomial(frozenset().union(*(term.terms for term in terms)))


def _matrices8(routine: Routine) -> None:
    """Check that C[r][c] is the sum over k of A[r][k] B[k][c], for every matrix of 8 x 8 bits in the
    block."""
    bits = _Bits()
    got = _execute(routine, bits)
    want = []
    for n in range(routine.block):
        row, rows = bits.load("a", n), [bits.load("b", n // WORD * WORD + k) for k in range(WORD)]
        want.append(
            tuple(_sum([x & line[c] for x, line in zip(row, rows, strict=True)]) for c in range(DEGREE))
        )
    same(got, want, "the product")


def _row_of_matrices64(routine: Routine) -> None:
    """Check row c of C for a row a of A: each step adds row i of B if bit i of a is set."""
    bits = _Bits()
    execution = Execution(routine, bits)
    execution.run((*routine.preload, *routine.head))
    check_order(routine, execution)
    if routine.count != DEGREE * WORD or routine.block != WORD or not routine.rolled:
        raise Refutation("a block is not one row of 64 bits")
    a = [bit for n in range(WORD) for bit in bits.load("a", n)]
    old = [bits.load("c", n) for n in range(WORD)]
    for part, index in parts(routine):
        rows = [bits.load("b", WORD * index + n) for n in range(WORD)]
        want = [
            tuple(c ^ (a[index] & b) for c, b in zip(*pair, strict=True))
            for pair in zip(old, rows, strict=True)
        ]
        same(symbolic.step(routine, execution, part, index, old), want, f"c + a[{index}] B[{index}]")
    execution.values[routine.steps[0].before[0]] = old
    execution.run(routine.close)
    same(execution.results(), old, "the row")


def _product(routine: Routine) -> None:
    for polynomial in irreducible_polynomials():
        bits = _Bits(polynomial & (ORDER - 1))
        got = _execute(routine, bits)
        pairs = [(bits.load("a", n), bits.load("b", n)) for n in range(routine.block)]
        want = [model.multiply(Field(polynomial), y, x) for x, y in pairs]
        same(got, want, f"the product modulo {polynomial:#x}")


def prove(routine: Routine) -> Verdict:
    """Return whether a routine, of any operation, computes the result that its operation defines."""
    try:
        match routine.operation, routine.set:
            case "product", _:
                _product(routine)
            case "matrices8", _:
                _matrices8(routine)
            case "matrices64", "words":
                _row_of_matrices64(routine)
            case "matrices64", _:
                blocks.prove(routine)
            case _:
                return symbolic.prove(routine)
    except (Refutation, Undefined) as found:
        return Verdict(Status.REFUTED, f"{routine.symbol}: {found}")
    return PROVED


def _matrix(operand: int) -> tuple[int, ...]:
    """Return the rows of an operand of gf2p8affineqb, in the order of the instruction's definition."""
    return tuple(operand >> DEGREE * (7 - row) & (ORDER - 1) for row in range(DEGREE))


def _check_product(field: Field) -> None:
    """Check that the definition of gf2p8mulb is the product of the field."""
    x, y = variable_byte("x"), variable_byte("y")
    meaning = MEANING[Op.MULB].lane
    assert meaning is not None
    if meaning(x, (y,)) != model.multiply(field, y, x):
        raise FieldError(f"gf2p8mulb is not the product modulo {field.polynomial:#x}")


def prove_isomorphisms(entries: Sequence[Isomorphism]) -> Verdict:
    """Return whether the table has every field once with a correct pair of maps. `forth` and `back` must be
    ring isomorphisms between the field and that of 0x11b, each the inverse of the other. gf2p8mulb must
    multiply in that field, and gf2p8affineinvqb between the maps must invert all 256 elements, by the
    definitions of the instructions (Intel SDM)."""
    aes = Field(_AES)
    try:
        _check_product(aes)
        if [entry.polynomial for entry in entries] != list(irreducible_polynomials()):
            raise FieldError("the table has not every irreducible polynomial of degree 8 once, ascending")
        for entry in entries:
            field, forth, back = Field(entry.polynomial), _matrix(entry.forth), _matrix(entry.back)
            check_isomorphism(field, aes, forth)
            check_isomorphism(aes, field, back)
            if any(apply(back, apply(forth, x)) != x for x in range(ORDER)):
                raise FieldError(f"{entry.polynomial:#x}: one map is not the inverse of the other")
            for x in range(ORDER):
                image = apply(forth, x)
                got = apply(back, aes.inverse(image) if image else 0)
                if (apply(field.matrix(x), got) != 1) if x else got:
                    raise FieldError(f"{entry.polynomial:#x}: the inverse of {x:#04x} is not {got:#04x}")
    except FieldError as found:
        return Verdict(Status.REFUTED, f"isomorphisms: {found}")
    return PROVED
