"""Proof of the product of 64 x 64 bit matrices by blocks of 8 x 8, for all matrices.

Blocks are unknowns that do not commute. A byte of a matrix is a row of a block; instructions move rows, add
them and multiply them by blocks, and the result must be the rows of C[i][j] = sum over k of A[i][k] B[k][j].
That two AFFINE multiply a row by a block is shown bit by bit, once (check_lemma).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gfsmith.ir import MEANING, Op
from gfsmith.ir.algebra import WORD, Act, Instr, Routine
from gfsmith.prove.algebra.symbolic import Execution, Vector, same
from gfsmith.prove.polynomial import ZERO, constant_byte, variable_byte
from gfsmith.prove.verdict import Refutation

#: A product of blocks: array, row and column of each.
Product = tuple[tuple[str, int, int], ...]

#: The unit vectors, by which AFFINE transposes a block.
UNITS = tuple(1 << 7 - n for n in range(WORD))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a sum of products of blocks. number -1: a row of the zero matrix."""

    sum: frozenset[Product]
    number: int


@dataclass(frozen=True, slots=True)
class Operand:
    """Byte `place` of the operand with which AFFINE multiplies by a sum of blocks from the right."""

    sum: frozenset[Product]
    place: int


class _Blocks:
    zero = Row(frozenset(), -1)

    def load(self, array: str, index: int) -> Row:
        row, column = divmod(index, WORD)
        return Row(frozenset({((array, row // WORD, column),)}), row % WORD)

    def xor(self, left: object, right: object) -> Row:
        if not isinstance(left, Row) or not isinstance(right, Row) or left.number != right.number:
            raise Refutation("different rows are added")
        return Row(left.sum ^ right.sum, left.number)

    def act(self, instr: Instr, args: list[Vector], width: int, index: int | None) -> Vector:
        if instr.act is Act.CONST and len(instr.data) == width:
            return list(instr.data)
        if instr.act is not Act.AFFINE:
            raise Refutation(f"{instr.act.name} has no meaning for blocks")
        lanes: Vector = []
        for n in range(0, width, WORD):
            lanes += self._affine(*(arg[n : n + WORD] for arg in args))
        return lanes

    @staticmethod
    def _affine(operands: Vector, matrix: Vector) -> Vector:
        first = matrix[0]
        if tuple(operands) == UNITS and isinstance(first, Row):
            if matrix != [Row(first.sum, WORD - 1 - n) for n in range(WORD)]:
                raise Refutation("the transposed operand is not a block from its last row to its first")
            return [Operand(first.sum, n) for n in range(WORD)]
        if not isinstance(first, Operand) or matrix != [Operand(first.sum, n) for n in range(WORD)]:
            raise Refutation("the matrix of AFFINE is not a block")
        if not all(isinstance(lane, Row) for lane in operands):
            raise Refutation("an operand of AFFINE is not a row of a block")
        return [Row(_product(lane.sum, first.sum), lane.number) for lane in operands]


def _product(left: frozenset[Product], right: frozenset[Product]) -> frozenset[Product]:
    total: set[Product] = set()
    for x in left:
        for y in right:
            total ^= {x + y}
    return frozenset(total)


def check_lemma() -> None:
    """Check for all bits: AFFINE of a by AFFINE of UNITS by the reversed rows of B is the row a B."""
    affine = MEANING[Op.AFFINE].lane
    assert affine is not None
    a, rows = variable_byte("a"), [variable_byte(("b", n)) for n in range(WORD)]
    operand = [affine(constant_byte(unit), rows[::-1]) for unit in UNITS]
    want = []
    for column in range(WORD):
        total = ZERO
        for bit, row in zip(a, rows, strict=True):
            total = total ^ (bit & row[column])
        want.append(total)
    same([affine(a, operand)], [tuple(want)], "a row times a block")


def prove(routine: Routine) -> None:
    """Raises Refutation."""
    check_lemma()
    if routine.block != WORD * WORD * WORD:
        raise Refutation("a block is not one matrix of 64 x 64 bits")
    execution = Execution(routine, _Blocks())
    execution.run((*routine.preload, *routine.head, *routine.close))
    same(execution.results(), [_expected(*divmod(n, WORD)) for n in range(routine.block)], "the product")


def _expected(row: int, column: int) -> Row:
    i, number = divmod(row, WORD)
    terms: Sequence[Product] = [(("a", i, k), ("b", k, column)) for k in range(WORD)]
    return Row(frozenset(terms), number)
