"""Circuits apply exactly their matrix, and the cost of factoring equals the theoretical one."""

from __future__ import annotations

import random

import pytest

from gfsmith.codes import parity_matrix
from gfsmith.field import Field
from gfsmith.field.cauchy import points
from gfsmith.field.matrix import Matrix
from gfsmith.lower.circuits.choice import Candidate, candidates
from gfsmith.lower.circuits.distribute import distributed
from gfsmith.lower.circuits.factored import Plan, Subspace, factored
from gfsmith.lower.circuits.network import Add, Network, Scale

FIELD = Field(0x11D)


def found(matrix: Matrix, field: Field = FIELD) -> dict[tuple[str, int], Candidate]:
    return {(c.method, c.dimension): c for c in candidates(field, matrix, 1.0, 0.5)}


@pytest.mark.parametrize(
    ("code", "k", "m"),
    [
        ("vandermonde", 10, 4), ("cauchy", 10, 4), ("cauchy", 8, 8), ("cauchy", 7, 3), ("backblaze", 9, 5),
        ("backblaze", 6, 2), ("lch", 10, 4), ("lch", 13, 6), ("lch", 17, 9), ("lch", 3, 1), ("lch", 250, 5),
    ],
)  # fmt: skip
def test_every_candidate_applies_the_matrix(code: str, k: int, m: int) -> None:
    matrix = parity_matrix(code, k, m)
    for candidate in found(matrix).values():
        assert candidate.circuit.matrix(FIELD, k) == matrix


@pytest.mark.parametrize("polynomial", [0x11D, 0x11B, 0x165])
def test_random_matrices_with_zeros_ones_and_equal_elements(polynomial: int) -> None:
    field, rng = Field(polynomial), random.Random(polynomial)
    for _ in range(20):
        k, m = rng.randrange(1, 9), rng.randrange(1, 6)
        matrix = tuple(
            (*(rng.choice((0, 1, 1, 7, rng.randrange(256))) for _ in range(k - 1)), 1) for _ in range(m)
        )
        for candidate in found(matrix, field).values():
            assert candidate.circuit.matrix(field, k) == matrix


@pytest.mark.parametrize(
    ("code", "k", "m", "dimension", "most"),
    [
        # Multiplications with additive Fourier transforms (Lin, Chung, Han, FOCS 2014); for the last shape,
        # fewer than an earlier search found.
        ("lch", 10, 4, 2, 12), ("cauchy", 8, 4, 2, 17), ("cauchy", 8, 8, 3, 25), ("cauchy", 10, 4, 1, 27),
        ("cauchy", 10, 4, 2, 22), ("backblaze", 8, 4, 2, 17),
    ],
)  # fmt: skip
def test_multiplications(code: str, k: int, m: int, dimension: int, most: int) -> None:
    circuit = found(parity_matrix(code, k, m))["factored", dimension].circuit
    assert circuit.multiplications <= most < k * m


def test_a_transform_over_64_points() -> None:
    """The search takes seconds for 64 parities, so this test builds the circuit of one plan: 192 products for
    each transform less those by 1, and none between them."""
    matrix = parity_matrix("lch", 64, 64)
    choice = next(p for p in points(FIELD, matrix) if p.y == tuple(range(64)))
    circuit = factored(FIELD, matrix, Plan(choice, (1, 2, 4, 8, 16, 32), frozenset()))
    assert circuit.matrix(FIELD, 64) == matrix
    assert circuit.multiplications <= 384 < 64 * 64


def test_128_parities_share_the_inverse_transform() -> None:
    """One circuit transforms the sources once and then twice forwards; two circuits transform them twice."""
    matrix = parity_matrix("lch", 64, 128)
    plans = [(p, (1, 2, 4, 8, 16, 32)) for p in points(FIELD, matrix) if p.y == tuple(range(128))]
    circuit = factored(FIELD, matrix, Plan(*plans[0], frozenset()))
    assert circuit.matrix(FIELD, 64) == matrix
    assert circuit.multiplications <= 3 * 192 + 2 * 64


def test_scaled_and_permuted_cauchy_matrices_are_recognised() -> None:
    rng = random.Random(3)
    y, x = [40, 41, 42, 43], rng.sample(range(64, 256), 9)
    rows, columns = [rng.randrange(1, 256) for _ in y], [rng.randrange(1, 256) for _ in x]
    multiply, inverse = FIELD.multiply, FIELD.inverse
    matrix = tuple(
        tuple(multiply(multiply(r, c), inverse(a ^ b)) for b, c in zip(x, columns, strict=True))
        for a, r in zip(y, rows, strict=True)
    )
    choices = list(points(FIELD, matrix))
    assert len(choices) > 200
    for choice in choices[::40]:
        for i, row in enumerate(matrix):
            for j, element in enumerate(row):
                scale = multiply(choice.rows[i], choice.columns[j])
                assert multiply(scale, inverse(choice.y[i] ^ choice.x[j])) == element
    assert ("factored", 2) in found(matrix)


def test_one_wrong_element_is_no_cauchy_matrix() -> None:
    rows = [list(row) for row in parity_matrix("cauchy", 10, 4)]
    rows[3][9] ^= 1
    assert list(points(FIELD, tuple(map(tuple, rows)))) == []
    assert set(found(tuple(map(tuple, rows)))) == {("dense", 0)}
    assert set(found(parity_matrix("vandermonde", 10, 4))) == {("dense", 0)}


def test_any_plan_is_right_at_a_higher_cost() -> None:
    """An unsuitable subspace, and cosets multiplied element by element, change only the cost."""
    matrix = parity_matrix("cauchy", 10, 4)
    choice = next(points(FIELD, matrix))
    for basis in ((1,), (3, 8), (5, 64, 2)):
        for dense in (frozenset[int](), frozenset({Subspace(FIELD, basis).coset(choice.x[0])})):
            circuit = factored(FIELD, matrix, Plan(choice, basis, dense))
            assert circuit.matrix(FIELD, 10) == matrix


def test_transforms_are_inverse_to_each_other() -> None:
    space = Subspace(FIELD, (1, 6, 32))
    for coset in (0, 64, 200):
        network = Network(FIELD)
        coefficients = space.interpolate(network, [network.input(j) for j in range(8)], coset)
        values = space.evaluate(network, coefficients, coset)
        matrix = network.finish(values).matrix(FIELD, 8)
        assert matrix == tuple(tuple(int(i == j) for j in range(8)) for i in range(8))


def test_sums_that_vanish_and_equal_products() -> None:
    network = Network(FIELD)
    a, b = network.input(0), network.input(1)
    assert network.add(a, a) is None
    assert network.scale(0, a) is None
    total = network.add(network.scale(3, a), network.scale(3, b))
    assert network.finish([total]).multiplications == 1
    with pytest.raises(ValueError, match="does not depend on any source"):
        network.finish([None])


def test_a_divided_product_is_a_chain_with_the_total() -> None:
    network = Network(FIELD)
    a, b, total = (network.input(j) for j in range(3))
    product = network.scale(5, network.add(a, network.scale(3, b)))
    circuit = distributed(FIELD, network.finish([network.add(product, total)]))
    assert circuit.matrix(FIELD, 3) == ((5, FIELD.multiply(5, 3), 1),)
    assert (circuit.multiplications, circuit.additions) == (2, 2)
    last = circuit.nodes[circuit.outputs[0]]
    assert isinstance(last, Add) and isinstance(circuit.nodes[last.right], Scale)


def test_a_sum_that_two_products_read_is_not_divided() -> None:
    network = Network(FIELD)
    a, b = network.input(0), network.input(1)
    both = network.add(a, network.scale(3, b))
    circuit = network.finish([network.add(network.scale(c, both), a) for c in (5, 7)])
    assert distributed(FIELD, circuit) == circuit
