"""The values of "auto"."""

from __future__ import annotations

import pytest

from gfsmith.kernel.defaults import default_baked_unroll, default_order, default_unroll
from gfsmith.kernel.isa import BY_NAME
from gfsmith.kernel.operation import Operation
from gfsmith.kernel.tuning_parameters import Order, Store, fits


@pytest.mark.parametrize(
    ("isa", "unrolls"),
    [
        ("avx2", [4, 2, 2, 2, 1, 1, 1, 1]),
        ("gfni_avx2", [4, 2, 1, 1, 1, 1, 1, 1]),
        ("sse", [4, 2, 1, 1, 1, 1, 1, 1]),
        ("avx512", [4, 4, 2, 2, 1, 1, 1, 1]),
    ],
)
def test_vectors_of_an_iteration(isa: str, unrolls: list[int]) -> None:
    chosen = BY_NAME[isa]
    assert [default_unroll(chosen, outputs) for outputs in range(1, 9)] == unrolls
    assert all(fits(chosen, unroll, outputs) for outputs, unroll in enumerate(unrolls, 1) if unroll > 1)


@pytest.mark.parametrize(
    ("isa", "operation", "outputs", "unroll", "order"),
    [
        ("avx2", Operation.DOT, 4, 2, Order.STEPS),
        ("avx2", Operation.DOT, 1, 4, Order.STEPS),
        ("avx2", Operation.DOT, 1, 8, Order.SUMS),
        ("avx2", Operation.HORNER, 2, 4, Order.SUMS),
        ("gfni_avx512", Operation.DOT, 4, 2, Order.STEPS),
        ("gfni_avx2", Operation.DOT, 4, 2, Order.SUMS),
    ],
)
def test_order_of_the_vectors(
    isa: str, operation: Operation, outputs: int, unroll: int, order: Order
) -> None:
    def found(baked: bool, store: Store) -> Order:
        return default_order(BY_NAME[isa], operation, outputs, unroll, baked, store)

    assert found(False, Store.TEMPORAL) is order
    assert found(False, Store.STREAMING) is found(True, Store.STREAMING) is Order.SUMS
    assert found(True, Store.TEMPORAL) is (Order.STEPS if isa == "avx2" else Order.SUMS)


@pytest.mark.parametrize(
    ("isa", "two"),
    [("avx2", [1, 2, 5, 6, 7, 8]), ("gfni_avx2", [1, 2]), ("gfni_avx512", [1, 2]), ("sse", [])],
)
def test_vectors_of_a_known_matrix(isa: str, two: list[int]) -> None:
    assert [n for n in range(1, 33) if default_baked_unroll(BY_NAME[isa], n) == 2] == two
