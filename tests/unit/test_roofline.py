"""What bounds a cell: the kernels that only touch its bytes, and the arithmetic of ports."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from gfsmith import generate
from gfsmith.explain import program
from gfsmith.isa import BY_NAME
from gfsmith.model.mca import Prediction, Unmodelled
from gfsmith.prove.program import prove
from gfsmith.spec import Store
from gfsmith.tune import roofline, target
from gfsmith.tune.result import Cell, Regime
from gfsmith.tune.space import Plan

TARGET = target.parse("cauchy:10x4@gfni_avx512", BY_NAME["gfni_avx512"])
CELL = Cell(TARGET.name, TARGET.shape, TARGET.isa.name, Regime.MEMORY, "distant", 4096, "cauchy")


def test_touching_reads_and_writes_everything_and_multiplies_nothing() -> None:
    (plan,) = roofline.touching(TARGET, Regime.CACHED)
    (spec,) = plan.specs
    made = generate.program(spec)
    counts = program.counts(program.repeated(made))
    assert not {"affine", "lookup", "mulb"} & set(counts)
    assert counts["store"] == 4
    refs = {i.ref.index for i in program.repeated(made) if i.ref and i.ref.space.name == "SOURCE"}
    assert refs == set(range(10))
    assert counts.get("xor", 0) + 2 * counts.get("xor3", 0) == 9
    assert prove(spec, made)


def test_stores_around_the_cache_count_from_memory_only() -> None:
    def stores(regime: Regime) -> list[Store]:
        return [p.specs[0].store for p in roofline.touching(TARGET, regime)]

    assert stores(Regime.CACHED) == [Store.TEMPORAL]
    assert stores(Regime.MEMORY) == [Store.TEMPORAL, Store.STREAMING]
    assert roofline.touching(target.parse("mad:4x2@avx2", TARGET.isa), Regime.MEMORY) == ()


class _Bench:
    """Temporal touching takes half the reference's time, streaming a quarter."""

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


def test_memory_is_the_fastest_of_them() -> None:
    reference = Plan(target.kernels(TARGET, "gfs", {}))
    found = roofline.memory(_Bench(), TARGET, CELL, reference, 3, random.Random(1))
    assert found == pytest.approx(10 * 4096 / 2048)


def test_ports() -> None:
    first = Prediction("x", 12.0, 640, 64, 70.0, 6, {"P0": 10.0, "P1": 3.0})
    assert roofline.ports([first], 3.0) == pytest.approx(640 / 10 * 3)
    assert roofline.ports([first, first], 3.0) == pytest.approx(640 / 20 * 3)
    assert roofline.ports([first, Unmodelled("x", "why")], 3.0) is None
