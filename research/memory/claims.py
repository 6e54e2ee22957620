"""A claim of the paper: the paper's figure, the model's, and whether they agree.

A claim that is a number agrees if the model's result has the same direction (above or below 1) and lies
within a factor of the paper's range. The factor was fixed before any prediction: 1.5 for ratios of speed, 2
for excess reads. A claim without a number is written as a condition, and its text states it. `calibrated`
claims are those that numbers of model.toml were fitted to. The others are predictions, made without changing
these numbers.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

SPEED, AMPLIFICATION = 1.5, 2.0


@dataclass(frozen=True, slots=True)
class Claim:
    """low, high: the paper's range, none for a claim without a number; text: the claim."""

    source: str
    text: str
    calibrated: bool
    low: float | None
    high: float | None
    model: float
    agrees: bool

    def record(self) -> dict[str, object]:
        return {**asdict(self), "model": round(self.model, 3)}


def ratio(source: str, text: str, low: float, high: float, model: float, calibrated: bool = False) -> Claim:
    """Return a claim about a ratio of speeds, which must have the same direction and lie within a factor of
    1.5."""
    same = (model > 1) == (low > 1)
    near = low / SPEED <= model <= high * SPEED
    return Claim(source, text, calibrated, low, high, model, same and near)


def excess(source: str, text: str, low: float, high: float, model: float, calibrated: bool = False) -> Claim:
    """Return a claim about excess reads in percent, which must lie within a factor of 2."""
    near = low / AMPLIFICATION <= model <= high * AMPLIFICATION
    return Claim(source, text, calibrated, low, high, model, near)


def condition(source: str, text: str, model: float, holds: bool, calibrated: bool = False) -> Claim:
    return Claim(source, text, calibrated, None, None, model, holds)
