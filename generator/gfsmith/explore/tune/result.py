"""The results of a study as data: the one schema of `gfsmith tune --json`, of
bench/results/studies/ and of the report.

A study holds cells. A cell is one SPEC on one instruction set at one block length in one regime. All variants
of a cell were timed against the same reference, the kernel that gfsmith generates without tuning.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from gfsmith.explore.stats import Estimate
from gfsmith.explore.tune.regime import Regime as Regime

Interval = Estimate  #: a median and its confidence interval

FORMAT = 1


class StudyError(ValueError):
    """A file that is not a study. The message is one line."""


class Basis(Enum):
    """Source of the variants' ranking."""

    MEASURED = "measured"
    MODEL = "model"


class Phase(Enum):
    """SEARCH samples select the finalists; all claims rest on fresh FINAL samples."""

    SEARCH = "search"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class Cell:
    """target: SPEC with its instruction set, `cauchy:10x4@gfni_avx512`. length: bytes of a shard.

    path: the runtime's name of the path of such calls, `cached`, `nearby`, `distant` or `bulk`
    (path.h).
    """

    target: str
    shape: str
    isa: str
    regime: Regime
    path: str
    length: int
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One variant in one cell.

    symbols: its kernels, one per pass. parameters: technique, unroll, order, tables, prefetch, hint, store,
    outputs (per pass). speed: time of the reference / time of the variant, paired: > 1 is faster. rate: GB of
    source data per second. trials: timed pairs.
    """

    cell: Cell
    symbols: tuple[str, ...]
    parameters: dict[str, int | str]
    reference: bool
    phase: Phase
    trials: int
    speed: Interval
    rate: Interval

    @property
    def symbol(self) -> str:
        return "+".join(self.symbols)


@dataclass(frozen=True, slots=True)
class Winner:
    """The winner of a cell's final: the simplest of the variants whose intervals overlap the fastest one's.

    tied: symbols of all of these, the winner first. changed: whether it differs from the reference.
    """

    cell: Cell
    symbols: tuple[str, ...]
    parameters: dict[str, int | str]
    tied: tuple[str, ...]
    speed: Interval
    rate: Interval
    changed: bool

    @property
    def symbol(self) -> str:
        return "+".join(self.symbols)


@dataclass(frozen=True, slots=True)
class Choice:
    """The tuned file's kernel for one path of one target, which is nowhere slower than the reference.
    gains: block length -> speed in the final; empty if a model chose."""

    target: str
    path: str
    symbols: tuple[str, ...]
    parameters: dict[str, int | str]
    gains: dict[int, Interval]


@dataclass(frozen=True, slots=True)
class Prediction:
    """A model's prediction for a kernel on a CPU (LLVM's name): cycles per 64 bytes of every shard."""

    cpu: str
    target: str
    symbols: tuple[str, ...]
    parameters: dict[str, int | str]
    reference: bool
    cycles: float


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rank correlation between a model's cycles and the measured time of a cell's variants."""

    cpu: str
    cell: Cell
    variants: int
    rho: float


@dataclass(frozen=True, slots=True)
class Bound:
    """The machine's limits in a cell, in GB of source data per second; None if unknown.

    memory: rate of the fastest kernel that reads and writes the same bytes and only adds them. ports: rate
    that the busiest execution port permits the reference's main loop, according to a model, at the measured
    clock.
    """

    cell: Cell
    memory: float | None
    ports: float | None


@dataclass(frozen=True, slots=True)
class Study:
    """microarchitecture: LLVM's -mcpu name of the measured or modelled machine.

    complete: false if the study was interrupted; its measurements are valid. seconds: wall time of the study,
    including generation and proofs.
    """

    microarchitecture: str
    basis: Basis
    complete: bool
    confidence: float
    seconds: float
    measurements: tuple[Measurement, ...] = ()
    winners: tuple[Winner, ...] = ()
    choices: tuple[Choice, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    correlations: tuple[Correlation, ...] = ()
    bounds: tuple[Bound, ...] = ()


class _File(BaseModel):
    """A study with its format, as JSON."""

    model_config = ConfigDict(extra="forbid")

    format: int
    study: Study


def to_json(study: Study) -> dict[str, Any]:
    """Return plain data, the numbers with five digits."""
    data: dict[str, Any] = _rounded(_File(format=FORMAT, study=study).model_dump(mode="json"))
    return data


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.5g}")
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list():
            return [_rounded(item) for item in value]
    return value


def read(path: Path) -> Study:
    """Read a study from a JSON file. Raises StudyError."""
    try:
        found = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "(top level)"
        raise StudyError(f"{path}: not a study: {where}: {first['msg']}") from None
    if found.format != FORMAT:
        raise StudyError(f"{path}: format = {found.format}; allowed: {FORMAT}")
    return found.study
