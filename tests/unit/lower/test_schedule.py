"""Schedules of additions: exactly their matrix, never more additions than without sharing."""

from __future__ import annotations

import random

import pytest

from gfsmith.codes import parity_matrix
from gfsmith.field import Field
from gfsmith.field.matrix import Matrix, bit_matrix
from gfsmith.lower.circuits.choice import derivations, schedules
from gfsmith.lower.circuits.schedule import derived_circuit, derived_sums, shared_sums, summed

FIELD = Field(0x11D)


def plain(matrix: Matrix) -> int:
    """Return the number of additions with each row computed separately."""
    return sum(sum(row) - 1 for row in matrix)


@pytest.mark.parametrize(("polynomial", "element"), [(0x11D, 0x8E), (0x11B, 0xE5), (0x165, 1), (0x11D, 0)])
def test_the_bit_matrix_multiplies(polynomial: int, element: int) -> None:
    field = Field(polynomial)
    matrix = bit_matrix(field, ((element,),))
    for x in range(256):
        bits = [sum(b & x >> n for n, b in enumerate(row)) & 1 for row in matrix]
        assert sum(bit << n for n, bit in enumerate(bits)) == field.multiply(element, x)


@pytest.mark.parametrize(
    ("code", "k", "m", "unshared", "most"),
    [
        ("vandermonde", 10, 4, 755, 396), ("cauchy_good", 4, 2, 60, 55), ("cauchy_good", 6, 3, 338, 179),
        ("cauchy_good", 10, 4, 856, 422), ("cauchy_good", 12, 4, 1055, 510), ("cauchy", 10, 4, 1234, 532),
    ],
)  # fmt: skip
def test_additions(code: str, k: int, m: int, unshared: int, most: int) -> None:
    matrix = bit_matrix(FIELD, parity_matrix(code, k, m))
    assert plain(matrix) == unshared
    found = schedules(FIELD, matrix)
    assert found[0].circuit.additions <= most
    for candidate in found:
        assert candidate.circuit.matrix(FIELD, 8 * k) == matrix
        assert candidate.circuit.multiplications == 0
        assert candidate.circuit.additions <= unshared
    assert [c.circuit.additions for c in found] == sorted(c.circuit.additions for c in found)
    assert len(found) > 2


@pytest.mark.parametrize(
    ("code", "k", "m", "derived", "matched"),
    [
        ("cauchy_good", 10, 4, 776, 432), ("zerasure", 6, 3, 208, 148), ("zerasure", 10, 4, 609, 364),
        ("cerasure", 6, 3, 189, 136), ("cerasure", 10, 4, 615, 374), ("cerasure", 16, 4, 1128, 612),
    ],
)  # fmt: skip
def test_additions_of_other_libraries(code: str, k: int, m: int, derived: int, matched: int) -> None:
    matrix = bit_matrix(FIELD, parity_matrix(code, k, m))
    found = {candidate.label: candidate.circuit for candidate in derivations(FIELD, matrix)}
    assert all(circuit.matrix(FIELD, 8 * k) == matrix for circuit in found.values())
    assert {label: circuit.additions for label, circuit in found.items()} == {
        "derived": derived, "matched": matched
    }  # fmt: skip


def test_a_sum_with_another_parent_is_another_matrix() -> None:
    """The comparison of matrices above can fail: one exchanged parent suffices."""
    matrix = bit_matrix(FIELD, parity_matrix("cerasure", 6, 3))
    sums, outputs = derived_sums(matrix, True)
    number = next(n for n, operands in enumerate(sums) if set(operands) & set(outputs))
    sums[number] = [value for value in sums[number] if value not in outputs]
    totals: list[int] = [1 << n for n in range(48)]
    for operands in sums:
        totals.append(0)
        for value in operands:
            totals[-1] ^= totals[value]
    rows = [sum(bit << n for n, bit in enumerate(row)) for row in matrix]
    wrong = [i for i, output in enumerate(outputs) if totals[output] != rows[i]]
    assert outputs.index(48 + number) in wrong


def test_random_matrices() -> None:
    rng = random.Random(5)
    for _ in range(60):
        inputs, outputs, density = rng.randrange(1, 20), rng.randrange(1, 12), rng.random()
        rows = [[int(rng.random() < density) for _ in range(inputs)] for _ in range(outputs)]
        for row in rows:
            row[rng.randrange(inputs)] = 1
        rows.append(rows[0])
        matrix = tuple(map(tuple, rows))
        for least in (2, 3, 100):
            circuit = summed(FIELD, matrix, least)
            assert circuit.matrix(FIELD, inputs) == matrix
            assert circuit.additions <= plain(matrix)
        for matched in (False, True):
            circuit = derived_circuit(FIELD, matrix, matched)
            assert circuit.matrix(FIELD, inputs) == matrix
            assert circuit.additions <= plain(matrix)


def test_shared_sums_are_used_more_than_once_and_computed_before() -> None:
    matrix = bit_matrix(FIELD, parity_matrix("cauchy_good", 6, 3))
    inputs = len(matrix[0])
    sums = shared_sums(matrix, 2)
    used = [value for operands in sums for value in operands]
    for number, operands in enumerate(sums, inputs):
        assert all(value < number for value in operands)
        assert len(set(operands)) == len(operands)
    for value in range(inputs, inputs + len(sums) - len(matrix)):
        assert used.count(value) >= 2


def test_the_order_keeps_few_sums_open() -> None:
    """One parity at a time: its eight sums and some shared ones; with sources in
    any order far more are open.
    """
    matrix = bit_matrix(FIELD, parity_matrix("cauchy_good", 10, 4))
    for first in range(0, 32, 8):
        assert _open(summed(FIELD, matrix[first : first + 8], 2).nodes) <= 24


def _open(nodes: tuple[object, ...]) -> int:
    """Return the maximum number of nodes that are computed and still needed later."""
    last = {}
    for number, node in enumerate(nodes):
        for operand in (getattr(node, "left", None), getattr(node, "right", None)):
            if operand is not None:
                last[operand] = number
    return max(sum(made <= now < end for made, end in last.items()) for now in range(len(nodes)))
