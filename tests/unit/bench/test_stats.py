"""The benchmark's statistics and matrices. No test measures time."""

from __future__ import annotations

import math
import random

import pytest

from bench import cells, matrices
from gfsmith.codes import parity_matrix
from gfsmith.explore import stats


def test_interval_rank_is_the_largest_that_covers() -> None:
    for count in range(6, 80):
        rank = stats.interval_rank(count)

        def missed(r: int, n: int = count) -> float:
            return 2 * sum(math.comb(n, b) for b in range(r)) / 2**n

        assert missed(rank) <= 0.05 < missed(rank + 1)


def test_interval_rank_known_values() -> None:
    # The textbook table of the sign test at 5 %: n = 6, 9, 15, 20, 25.
    assert [stats.interval_rank(n) for n in (6, 9, 15, 20, 25)] == [1, 2, 4, 6, 8]
    assert [stats.interval_rank(n) for n in (1, 2, 5)] == [1, 1, 1]


def test_interval_covers_the_median_as_often_as_it_says() -> None:
    source = random.Random(7)
    covered = 0
    for _ in range(2000):
        found = stats.estimate([source.expovariate(1.0) for _ in range(21)])
        covered += found.low <= math.log(2) <= found.high
    assert covered / 2000 > 0.94


def test_estimate_is_ordered_and_does_not_depend_on_the_order() -> None:
    values = [random.Random(3).random() for _ in range(30)]
    found = stats.estimate(values)
    assert found.low <= found.median <= found.high
    assert stats.estimate(sorted(values)) == found


def test_paired_ratio_cancels_slow_rounds() -> None:
    slow = [random.Random(5).choice((1.0, 2.0, 9.0)) for _ in range(41)]
    ours, theirs = [2.0 * s for s in slow], [3.0 * s for s in slow]
    assert stats.paired_ratio(theirs, ours) == stats.Estimate(1.5, 1.5, 1.5)


def test_no_samples_and_unequal_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        stats.estimate([])
    with pytest.raises(ValueError):
        stats.paired_ratio([1.0], [1.0, 2.0])


@pytest.mark.parametrize("code", ["vandermonde", "cauchy", "cauchy_good"])
@pytest.mark.parametrize(("k", "m"), [(6, 3), (10, 4), (17, 3)])
def test_matrices_are_those_of_the_generator(code: str, k: int, m: int) -> None:
    assert matrices.CODES[code](k, m) == parity_matrix(code, k, m)


def test_backblaze_agrees_with_the_identity_on_top() -> None:
    # For k = 1 the code repeats the data; for k = 2 it is the line through the points 0 and 1.
    assert matrices.backblaze(1, 3) == ((1,), (1,), (1,))
    assert matrices.backblaze(2, 2) == ((3, 2), (2, 3))


def test_decode_undoes_the_loss_of_the_first_shards() -> None:
    k, m = 10, 4
    parity = matrices.cauchy(k, m)
    kept = [[int(i == j) for j in range(k)] for i in range(m, k)]
    assert matrices.product(matrices.decode(k, m), [*kept, *parity]) == tuple(
        tuple(int(i == j) for j in range(k)) for i in range(m)
    )


def test_cells_have_different_names_and_a_plan() -> None:
    everything = cells.full()
    assert len({cell.id for cell in everything}) == len(everything)
    for cell in everything:
        line = cells.plan_line(cell, cells.FULL, ("isal", "klauspost"))
        assert " gfsmith:" in line and "\n" not in line
        assert "rust" not in line and "isal:" in line
        assert (cell.packet is not None) == (f"+packet{cell.packet}" in line)


@pytest.mark.needs("tune")
def test_rank_correlation() -> None:
    assert stats.rank_correlation([1, 2, 3, 4], [10, 20, 30, 400]) == pytest.approx(1)
    assert stats.rank_correlation([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert stats.rank_correlation([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
    assert stats.rank_correlation([1, 2], [1, 2]) is None
    assert stats.rank_correlation([1, 1, 1], [1, 2, 3]) is None
    with pytest.raises(ValueError, match="3 predicted figures and 2 measured ones"):
        stats.rank_correlation([1, 2, 3], [1, 2])
