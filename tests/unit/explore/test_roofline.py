"""The limits of a cell: kernels that only touch its bytes, and the arithmetic of ports."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from gfsmith.build import generate, target
from gfsmith.explore.cost_model.loop import repeated
from gfsmith.explore.cost_model.mca import Prediction, Unmodelled
from gfsmith.explore.explain import program
from gfsmith.explore.tune import foresight, roofline
from gfsmith.explore.tune.result import Cell, Regime
from gfsmith.explore.tune.space import Plan
from gfsmith.kernel.isa import BY_NAME
from gfsmith.kernel.spec import Store
from gfsmith.prove.program.prove import prove
from tests.unit.explore.synthetic import study

TARGET = target.parse("cauchy:10x4@gfni_avx512", BY_NAME["gfni_avx512"])
CELL = Cell(TARGET.name, TARGET.shape, TARGET.isa.name, Regime.MEMORY, "distant", 4096, "cauchy")


def test_touching_reads_and_writes_everything_and_multiplies_nothing() -> None:
    (spec,) = roofline.touching(TARGET, Regime.CACHED)[0].specs
    made = generate.program(spec)
    counts = program.counts(repeated(made))
    assert not {"affine", "lookup", "mulb"} & set(counts)
    assert counts["store"] == 4
    refs = {i.ref.index for i in repeated(made) if i.ref and i.ref.space.name == "SOURCE"}
    assert refs == set(range(10))
    assert counts.get("xor", 0) + 2 * counts.get("xor3", 0) == 9
    assert prove(spec, made)


def test_stores_around_the_cache_and_prefetches_count_from_memory_only() -> None:
    def ways(regime: Regime) -> set[tuple[Store, bool]]:
        plans = roofline.touching(TARGET, regime)
        assert len({plan.symbol for plan in plans}) == len(plans)
        return {(p.specs[0].store, p.specs[0].prefetch > 0) for p in plans}

    assert ways(Regime.CACHED) == {(Store.TEMPORAL, False)}
    assert ways(Regime.MEMORY) == {(store, ahead) for store in Store for ahead in (False, True)}
    assert roofline.touching(target.parse("mad:4x2@avx2", TARGET.isa), Regime.MEMORY) == ()


class _Bench:
    """Touching with temporal stores takes half the reference's time, with streaming stores a quarter."""

    def __init__(self, *clocks: float) -> None:
        self.clocks = iter(clocks)

    def load(self, plans: Sequence[Plan]) -> dict[Plan, str]:
        return {plan: plan.symbol for plan in plans}

    def open(self, cell: Cell, reference: Plan) -> None:
        self.reference = reference

    def sample(self, plan: Plan, displacement: int) -> float:
        if plan == self.reference:
            return 8192.0
        return 2048.0 if plan.specs[0].store is Store.STREAMING else 4096.0

    def agree(self, plan: Plan, reference: Plan) -> bool:
        return True

    def clock(self) -> float:
        return next(self.clocks)


def test_memory_is_the_fastest_of_them() -> None:
    reference = Plan(target.kernels(TARGET, "gfs", {}))
    found = roofline.memory(_Bench(), TARGET, CELL, reference, 3, random.Random(1))
    assert found == pytest.approx(10 * 4096 / 2048)


def test_ports() -> None:
    first = Prediction("x", 12.0, 640, 64, 70.0, 6, {"P0": 10.0, "P1": 3.0})
    assert roofline.ports([first], 3.0) == pytest.approx(640 / 10 * 3)
    assert roofline.ports([first, first], 3.0) == pytest.approx(640 / 20 * 3)
    assert roofline.ports([first, Unmodelled("x", "why")], 3.0) is None


def test_a_bound_takes_the_fastest_clock_seen() -> None:
    reference = Plan(target.kernels(TARGET, "gfs", {}))
    said = {reference.specs[0]: Prediction("x", 12.0, 640, 64, 70.0, 6, {"P0": 10.0})}
    cells = [(replace(CELL, length=n), reference) for n in (1024, 4096)]
    found = roofline.bounds(_Bench(2.0, 3.0), TARGET, cells, said, 3, 1)
    assert [bound.cell.length for bound in found] == [1024, 4096]
    assert [bound.ports for bound in found] == pytest.approx([192.0, 192.0])
    assert [bound.memory for bound in found] == pytest.approx([5.0, 20.0])
    assert roofline.bounds(_Bench(2.0), TARGET, cells[:1], {}, 3, 1)[0].ports is None


@pytest.mark.needs("clang")
def test_predictions_are_for_64_bytes_of_every_source() -> None:
    """Four products for 64 bytes of each of ten sources take 40 cycles of the only
    port that computes them.
    """
    ten = target.parse("dot:10x4@gfni_avx512", TARGET.isa)
    once = Plan(target.kernels(ten, "gfs", {"unroll": 1}))
    twice = Plan(target.kernels(ten, "gfs", {"outputs": 2, "unroll": 1}))
    found = foresight.predictions(ten, [once, twice], once, "sapphirerapids", 1, None, lambda n: None)
    assert [p.reference for p in found] == [True, False]
    assert [p.symbols for p in found] == [once.symbols, twice.symbols]
    assert found[0].cycles == pytest.approx(40, rel=0.05)
    assert 40 <= found[1].cycles < 50  # two passes of two outputs
    assert foresight.predictions(ten, [once], once, "znver3", 1, None, lambda n: None) == ()


@pytest.mark.needs("tune")
def test_correlations_are_of_the_search_in_cache() -> None:
    made = study(shapes=((8, 4),), lengths=(1024, 4096))
    found = foresight.correlations(made.measurements, made.predictions)
    assert [(c.cell.length, c.cell.regime) for c in found] == [(1024, Regime.CACHED), (4096, Regime.CACHED)]
    assert all(c.variants == 11 for c in found)
    opposite = [replace(p, cycles=-p.cycles) for p in made.predictions]
    other = foresight.correlations(made.measurements, opposite)
    assert [c.rho for c in other] == pytest.approx([-c.rho for c in found])
    assert found[0].rho > 0.5
