"""bench/compose: percentiles, the alpha-beta model and the projection, on artificial times. No test reads a
clock.

A model that fits any data proves nothing: half of the tests use times that it must refuse.
"""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Callable, Sequence

import pytest

from bench.compose import model, plan, quantiles, work
from bench.compose.fleet import roles
from tests.support.bench_graphs import record

# ---- percentiles ----


def test_percentiles_are_operations_that_were_measured() -> None:
    assert list(quantiles.percentiles([list(range(100, 0, -1))])) == [50, 95, 99]
    assert list(quantiles.percentiles([[7.0]])) == [7.0] * 3
    assert quantiles.percentiles([[1.0, 9.0], [3.0]])[0] == 3.0
    with pytest.raises(ValueError, match="no operations"):
        quantiles.percentiles([[], []])


@pytest.mark.parametrize(("count", "told"), [(1, [50]), (59, [50]), (60, [50, 95]), (300, [50, 95, 99])])
def test_percentiles_need_operations_beyond_them(count: int, told: list[int]) -> None:
    assert [p for p in quantiles.PERCENTILES if quantiles.enough(count, p)] == told


def _rounds(
    chance: random.Random, median: float, weather: Sequence[float], count: int = 40
) -> list[list[float]]:
    """Return rounds of which some are slow for all contenders."""
    return [[median * slow * chance.lognormvariate(0, 0.2) for _ in range(count)] for slow in weather]


def test_intervals_of_a_ratio_cover_the_truth_about_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(60):
        chance = random.Random(seed)
        weather = [chance.choice((1.0, 1.0, 1.3, 2.5)) for _ in range(9)]
        above, below = _rounds(chance, 1.2, weather), _rounds(chance, 1.0, weather)
        both = quantiles.compare(above, below)
        found = both.ratio[50]
        assert found.median == both.above[50].median / both.below[50].median
        assert found.low <= found.median <= found.high
        covered += found.low <= 1.2 <= found.high
    assert covered >= 48


@pytest.mark.parametrize(("slower", "sign"), [(1.3, 1), (1 / 1.3, -1), (1.0, 0)])
def test_the_faster_contender(slower: float, sign: int) -> None:
    chance = random.Random(3)
    weather = [chance.choice((1.0, 3.0)) for _ in range(9)]
    found = quantiles.compare(_rounds(chance, slower, weather), _rounds(chance, 1.0, weather))
    assert quantiles.verdict(found.ratio[50]) == sign


def test_rounds_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="2 rounds of one"):
        quantiles.compare([[1.0], [1.0]], [[1.0]])


# ---- T = alpha c + beta ----


def _points(
    time: Callable[[int], float], noise: float = 0.03, lengths: Sequence[int] = plan.LENGTHS
) -> list[model.Point]:
    chance = random.Random(5)
    return [model.Point(n, [time(n) * (1 + abs(chance.gauss(0, noise))) for _ in range(9)]) for n in lengths]


def test_the_line_is_found_again() -> None:
    found = model.fit(_points(lambda n: 2e-9 * n + 300e-6))
    assert found.fits and found.worst < 0.05 and found.reach == plan.LENGTHS[-1]
    assert found.alpha.median == pytest.approx(2e-9, rel=0.04)
    assert found.beta.median == pytest.approx(300e-6, rel=0.04)
    assert found.alpha.low <= found.alpha.median <= found.alpha.high < 1.05 * found.alpha.low
    assert found.at(plan.MIB) == pytest.approx(2e-9 * plan.MIB + 300e-6, rel=0.04)


def test_small_and_large_chunks_count_alike() -> None:
    """With absolute errors 16 MiB alone would decide, and beta would be arbitrary."""
    found = model.fit(_points(lambda n: 2e-9 * n + 50e-6, noise=0.1))
    assert found.beta.median == pytest.approx(50e-6, rel=0.15)


@pytest.mark.parametrize(
    ("what", "time"),
    [
        ("a cache that ends", lambda n: 100e-6 + 1e-9 * n + 4e-9 * max(n - plan.MIB, 0)),
        ("a quadratic", lambda n: 100e-6 + 1e-9 * n + 1e-15 * n * n),
        ("a root", lambda n: 1e-6 * n**0.5),
        ("a window's edge", lambda n: 100e-6 + 1e-9 * n + (400e-6 if n == 32 * plan.KIB else 0)),
        ("the larger the faster", lambda n: 1e-3 - 5e-11 * n),
    ],
)
def test_times_that_are_no_line_are_refused(what: str, time: Callable[[int], float]) -> None:
    found = model.fit(_points(time))
    assert not found.fits, what
    assert found.worst > model.TOLERANCE
    assert set(found.missed) == {n for n, error in found.errors.items() if abs(error) > model.TOLERANCE}


def test_how_far_a_line_goes() -> None:
    """Bytes cost five times as much from 1 MiB on: up to 2 MiB no fit detects it, at 8 MiB every fit does."""
    found = model.fit(_points(lambda n: 100e-6 + 1e-9 * n + 4e-9 * max(n - plan.MIB, 0), noise=0.01))
    assert not found.fits and found.reach in (512 * plan.KIB, 2 * plan.MIB)
    chaos = model.fit(_points(lambda n: 1e-3 if n.bit_length() % 4 else 1e-4))
    assert chaos.reach is None


def test_sizes_may_have_unequal_numbers_of_rounds() -> None:
    points = _points(lambda n: 2e-9 * n + 300e-6)
    fewer = [*points[:-2], *(model.Point(p.length, p.seconds[:5]) for p in points[-2:])]
    assert model.fit(fewer).alpha.median == pytest.approx(2e-9, rel=0.04)


def test_neither_figure_is_negative() -> None:
    found = model.fit(_points(lambda n: 1e-9 * n))
    assert 0 <= found.beta.median < 1e-9 * plan.LENGTHS[0]
    falling = model.fit(_points(lambda n: 1e-3 - 5e-11 * n))
    assert falling.alpha.median == 0


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (_points(lambda n: 1e-4, lengths=(128, 256, 512)), "too few chunk sizes; allowed: 4 or more"),
        ([model.Point(64, [0.0] * 9), *_points(lambda n: 1e-4)], "above 0"),
        (_points(lambda n: 1e-4)[::-1], "in order"),
    ],
)
def test_times_without_a_line(points: list[model.Point], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        model.fit(points)


# ---- the work of a graph ----


def _work(scheme: str, task: str, shape: tuple[int, ...]) -> work.Work:
    k, *rest = shape
    groups, r = rest if len(rest) == 2 else (0, 0)
    cell = plan.Cell(scheme, task, k, sum(rest), 1, groups, r)
    return work.work_of(record(cell))


def test_every_cell_has_a_graph_in_which_its_last_rank_has_a_part() -> None:
    graphs = {cell.graph: cell for cell in plan.cells(quick=False)}
    assert len(graphs) == 24
    for cell in graphs.values():
        graph = record(cell)
        who = roles(graph)
        assert cell.ranks - 1 in who.part
        assert who.leaf and who.sink and who.leaf | who.sink <= who.part
        if cell.task == plan.REPAIR:
            assert who.sink == {cell.ranks - 1} and who.sink.isdisjoint(who.leaf)
        else:
            assert who.leaf == {cell.ranks - 1} and who.sink == set(range(cell.ranks - 1))
        assert work.work_from(work.work_json(work.work_of(graph))) == work.work_of(graph)


def test_counts_of_the_paper() -> None:
    """Table I and figure 1: RS encodes at one node, TriEC sends k + k m chunks, ECPipe is a chain."""
    rs, triec = _work("rs", "encode", (6, 3)), _work("triec", "encode", (6, 3))
    assert (rs.transfers, rs.products, rs.hops) == (9, 18, 1)
    assert (triec.transfers, triec.hops) == (6 + 6 * 3, 2)
    assert [_work("rs", "repair", s).transfers for s in plan.PLAIN] == [3, 6, 12]
    assert [_work("ppr", "repair", s).hops for s in plan.PLAIN] == [2, 2, 3]  # a binomial tree's depth
    assert [_work("ecpipe", "repair", s).hops for s in plan.PLAIN] == [3, 6, 12]
    assert [_work("lrc", "repair", s).transfers for s in plan.LOCAL] == [2, 3, 6]


def test_a_cycle_is_no_work() -> None:
    graph = record(plan.Cell("ecpipe", plan.REPAIR, 3, 2, 1))
    first, second = graph["vertices"][0], graph["vertices"][1]
    back = len(graph["edges"])
    graph["edges"].append({"from": second["rank"], "to": first["rank"]})
    first["receives"] = [back]
    with pytest.raises(ValueError, match="cycle"):
        work.work_of(graph)


def test_slopes_are_explained_by_their_causes() -> None:
    works = [_work(*one) for one in _EVERY]
    alphas = [3e-10 * w.transfers + 5e-11 * w.products for w in works]
    found = work.shared(works, alphas)
    assert found.transfer == pytest.approx(3e-10, rel=1e-6)
    assert found.product == pytest.approx(5e-11, rel=1e-6)
    assert max(map(abs, found.errors)) < 1e-6


def test_slopes_of_the_longest_way_are_not_explained_by_the_sum() -> None:
    """On a network alpha depends on the longest path: two coefficients for sums must then fit badly."""
    works = [_work(*one) for one in _EVERY]
    found = work.shared(works, [1e-10 * w.hops for w in works])
    assert max(map(abs, found.errors)) > 0.5
    with pytest.raises(ValueError, match="2 graphs; allowed: 3 or more"):
        work.shared(works[:2], [1.0, 1.0])


_EVERY = [
    (scheme, task, shape)
    for scheme, tasks in plan.TASKS.items()
    for task, shape in itertools.product(tasks, plan.LOCAL if scheme == "lrc" else plan.PLAIN)
]

# ---- projection ----


def _seconds(
    scheme: str, shape: tuple[int, ...], slices: int = 1, hop: float = 0.0, product: float = 0.0
) -> float:
    """Return the time for a chunk of one second's bytes."""
    return work.projected(_work(scheme, "repair", shape), 1, slices, work.Network(1.0, hop, product))


@pytest.mark.parametrize("shape", plan.PLAIN)
def test_projection_of_repairs_is_that_of_their_papers(shape: tuple[int, int]) -> None:
    k, steps = shape[0], shape[0].bit_length()
    assert _seconds("rs", shape) == pytest.approx(k)  # the sink's link carries everything
    assert _seconds("ppr", shape) == pytest.approx(steps)  # ceil(log2(k + 1)) steps
    assert _seconds("ecpipe", shape) == pytest.approx(k)  # unsliced, one after the other
    slices = 1000
    assert _seconds("ecpipe", shape, slices) == pytest.approx((k - 1 + slices) / slices)  # 1 + (k - 1) / s


def test_projection_counts_hops_and_products() -> None:
    assert _seconds("rs", (6, 3), hop=0.5) == pytest.approx(6.5)
    assert _seconds("ecpipe", (6, 3), hop=0.5) == pytest.approx(6 + 6 * 0.5)
    assert _seconds("rs", (6, 3), product=0.1) == pytest.approx(6 + 6 * 0.1)
    assert statistics.fmean(_seconds("lrc", s) for s in plan.LOCAL) == pytest.approx((2 + 3 + 6) / 3)
