"""A bench without a clock: the times of variants are given; drift and noise are added."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from gfsmith.explore.tune.result import Cell
from gfsmith.explore.tune.space import Plan

Cost = Callable[[Plan], float]


class FakeBench:
    """cost: true nanoseconds of a plan, infinite if it is impossible. drift: factor of the n-th sample.
    noise: standard deviation of the logarithm. stop: the sample at which Ctrl-C occurs.
    """

    def __init__(
        self,
        cost: Cost,
        drift: Callable[[int], float] = lambda n: 1.0,
        noise: float = 0.0,
        stop: int | None = None,
        digest: Callable[[Plan], str] = lambda plan: plan.symbol,
    ) -> None:
        self.cost, self.drift, self.noise, self.stop, self.digest = cost, drift, noise, stop, digest
        self.samples = 0
        self.loaded: list[Plan] = []
        self.cells: list[Cell] = []
        self.log: list[tuple[str, int, float]] = []
        self._random = random.Random(11)

    def load(self, plans: Sequence[Plan]) -> dict[Plan, str]:
        self.loaded += plans
        return {plan: self.digest(plan) for plan in plans if math.isfinite(self.cost(plan))}

    def open(self, cell: Cell, reference: Plan) -> None:
        self.cells.append(cell)

    def sample(self, plan: Plan, displacement: int) -> float:
        assert displacement % 64 == 0 and 0 <= displacement < 4096
        self.samples += 1
        if self.samples == self.stop:
            raise KeyboardInterrupt
        taken = self.cost(plan) * self.drift(self.samples) * self._random.lognormvariate(0, self.noise)
        self.log.append((plan.symbol, displacement, taken))
        return taken

    def agree(self, plan: Plan, reference: Plan) -> bool:
        return True

    def clock(self) -> float:
        return 3.0

    def close(self) -> None:
        pass
